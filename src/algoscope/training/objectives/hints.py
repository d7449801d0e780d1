"""Hints: the trace of the batch, as dm-clrs learns it.

    sum over hints f of  mean over samples, valid steps and places of  loss_f(logits, truth)

loss_f is the squared error of scalars and the cross-entropy of every other kind (`networks.kinds`).
A network that predicts no hints (hint mode none) has no such terms.
"""

from collections.abc import Iterator

from jaxtyping import Array, Float

from algoscope.networks.objective import hint_losses
from algoscope.training.objectives.base import Attempt, Objective


def trace(attempt: Attempt) -> Iterator[Float[Array, ""]]:
    return hint_losses(attempt.network, attempt.run, attempt.batch)


HINTS = Objective("hints", trace)
