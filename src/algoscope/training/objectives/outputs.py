"""Outputs: the answers of the batch, as dm-clrs learns them.

    sum over outputs f of  mean over samples and places of  loss_f(logits, truth)

loss_f is the squared error of scalars and the cross-entropy of every other kind (`networks.kinds`).
"""

from collections.abc import Iterator

from jaxtyping import Array, Float

from algoscope.networks.objective import output_losses
from algoscope.training.objectives.base import Attempt, Objective


def answers(attempt: Attempt) -> Iterator[Float[Array, ""]]:
    return output_losses(attempt.network, attempt.run, attempt.batch)


OUTPUTS = Objective("outputs", answers)
