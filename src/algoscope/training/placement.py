"""Placement: on how many devices an ensemble is spread, and how many of its networks run at once.

Networks side by side share the costs of starting kernels, but their activations have to fit: about
`_ARRAYS` arrays of samples × steps × nodes × width are kept for the backward pass. A CPU has no
such costs, and its caches serve one network at a time better.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from algoscope.networks import ConfigError
from algoscope.training.config import TrainingConfig
from algoscope.training.pool import TaskPlan

_ARRAYS = 24
_PART_OF_MEMORY = 0.5
_NUMBER_BYTES = 4


class Placement(NamedTuple):
    mesh: Mesh
    """The devices, along one axis of seeds."""
    at_once: int
    """Networks side by side on each device; divides the number of those that it has."""


def choose_placement(
    config: TrainingConfig, plans: Sequence[TaskPlan], at_once: int | None = None
) -> Placement:
    devices = jax.local_devices()
    count = _largest_divisor(config.seeds, len(devices))
    mesh = Mesh(np.array(devices[:count]), ("seeds",))
    of_device = config.seeds // count
    if at_once is not None and (at_once < 1 or of_device % at_once):
        raise ConfigError(
            f"at_once: got {at_once}, needed a divisor of {of_device}, the number of networks on "
            "each device"
        )
    if at_once is None:
        at_once = _largest_divisor(of_device, _that_fit(config, plans, devices[0]))
    return Placement(mesh, at_once)


def _that_fit(config: TrainingConfig, plans: Sequence[TaskPlan], device: Any) -> int:
    if device.platform == "cpu":
        return 1
    steps = max(times[-1] for plan in plans for times in plan.buckets)
    nodes = max(config.recipe.sizes) * 5 // 4
    state = nodes * max(config.network.width, nodes)
    of_one = _ARRAYS * _NUMBER_BYTES * config.recipe.count * steps * state
    memory = (device.memory_stats() or {}).get("bytes_limit", 2**33)
    return max(1, int(_PART_OF_MEMORY * memory / of_one))


def _largest_divisor(number: int, at_most: int) -> int:
    return max(d for d in range(1, max(1, min(number, at_most)) + 1) if number % d == 0)
