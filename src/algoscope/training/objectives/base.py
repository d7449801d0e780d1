"""What an objective is: a loss with a weight, of which a training minimises the sum.

    loss(step) = sum over objectives of weight(step) · (sum of the objective's terms)

An objective says what it needs of the program that teaches, prepares that on the host together
with the batches, and computes its terms on the device from a run of the network.
"""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float

from algoscope.networks import Network, NetworkConfig, Path
from algoscope.networks.network import Trajectory
from algoscope.tasks import Batch, Recipe
from algoscope.training.teacher import Demonstration

Target = Any
"""A tree of arrays of one batch: what an objective compares a run with, beyond the batch."""


class Lecture(NamedTuple):
    """What an objective prepares its target from."""

    demonstration: Demonstration
    time: int
    """The length of time to which the batch is padded."""
    random: np.random.Generator


class Attempt(NamedTuple):
    """What an objective judges, all of it on the device."""

    network: Network
    batch: Batch
    run: Trajectory
    """The network's run on the batch."""
    target: Target
    """None where nothing was prepared."""
    path: Path | None
    """How the network is computed, for an objective that runs it further."""


@dataclasses.dataclass(frozen=True)
class Objective:
    name: str
    terms: Callable[[Attempt], Iterable[Float[Array, ""]]]
    """What is added to the loss, one after the other."""
    prepare: Callable[[Lecture], Target] | None = None
    """What the teacher's demonstration gives it; None where the batch alone says everything."""
    paired: bool = False
    """Whether the second half of a batch are the partners of the first: other graphs with the same
    source and positions."""
    faults: Callable[[NetworkConfig, Recipe], list[str]] = lambda network, recipe: []
    """Why networks and batches of these forms cannot have it."""
