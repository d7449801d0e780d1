"""Attention: every node is taught whom the program reads.

With α the network's attention [step, head, receiver, sender], H its number of heads (of all rounds)
and c_s(t, i) the node that node i selects at step t in the program's selection s,

    - mean over samples, valid steps t, nodes i and selections s of  log α[t, s mod H, i, c_s(t, i)]

A network with fewer heads than the program has selections shares a head among some of them; with
more, the others are free. A choice that the network cannot attend to (a node that is no neighbour,
in a program for fully connected graphs) has α = 0 and does not count: the `_full` processors can.
"""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Integer

from algoscope.networks import PROCESSORS, NetworkConfig
from algoscope.tasks import Recipe
from algoscope.training.compact import index_type
from algoscope.training.objectives.base import Attempt, Lecture, Objective

_LEAST = 1e-30
"""Attention below this counts as none: the gradient of its logarithm would overflow."""


def choices(lecture: Lecture) -> np.ndarray:
    """Whom each node selects, padded with 0: int [sample, step, selection, receiver]."""
    chosen = lecture.demonstration.choices
    more = max(1, lecture.time - 1) - chosen.shape[1]
    padded = np.pad(chosen, [(0, 0), (0, more), (0, 0), (0, 0)])
    return padded.astype(index_type(chosen.shape[-1]))


def cross_entropy(attempt: Attempt) -> Iterator[Float[Array, ""]]:
    yield mean_cross_entropy(attempt.run.attention, attempt.target, attempt.batch.valid)


def mean_cross_entropy(
    attention: Float[Array, "batch step head n n"],
    chosen: Integer[Array, "batch time selection n"],
    valid: Array,
) -> Float[Array, ""]:
    """`valid` is bool [batch, step]."""
    steps, heads = attention.shape[1:3]
    chosen = chosen[:, :steps].astype(int)
    taught = attention[:, :, np.arange(chosen.shape[2]) % heads]
    read = jnp.take_along_axis(taught, chosen[..., None], -1)[..., 0]
    counted = valid[:, :, None, None] & (read > _LEAST)
    logarithms = jnp.where(counted, jnp.log(jnp.where(counted, read, 1.0)), 0.0)
    return -logarithms.sum() / jnp.maximum(counted.sum(), 1)


def faults(network: NetworkConfig, recipe: Recipe) -> list[str]:
    del recipe
    if PROCESSORS[network.processor].attends:
        return []
    able = ", ".join(name for name, processor in PROCESSORS.items() if processor.attends)
    return [
        f"objective attention: got the processor {network.processor}, which has no attention, "
        f"needed {able}: give --network processor=gatv2, or leave the objective out"
    ]


ATTENTION = Objective("attention", cross_entropy, choices, faults=faults)
