"""Outputs: the answers of the batch, as dm-clrs learns them.

    sum over outputs f of  mean over samples and places of  loss_f(logits, truth)

loss_f is the squared error of scalars and the cross-entropy of every other kind (`networks.kinds`).
"""

from algoscope.networks.objective import output_losses
from algoscope.training.objectives.base import Objective

OUTPUTS = Objective("outputs", lambda it: output_losses(it.network, it.run, it.batch))
