"""Hints: the trace of the batch, as dm-clrs learns it.

    sum over hints f of  mean over samples, valid steps and places of  loss_f(logits, truth)

loss_f is the squared error of scalars and the cross-entropy of every other kind (`networks.kinds`).
A network that predicts no hints (hint mode none) has no such terms.
"""

from algoscope.networks.objective import hint_losses
from algoscope.training.objectives.base import Objective

HINTS = Objective("hints", lambda it: hint_losses(it.network, it.run, it.batch))
