"""The plan of a training: all that follows from its configuration before the first step.

Networks side by side share the costs of starting kernels, but their activations have to fit: about
`_ARRAYS` arrays of samples × steps × nodes × width are kept for the backward pass. A CPU has no
such costs, and its caches serve one network at a time better.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from algoscope import capacity, tasks
from algoscope.errors import ConfigError
from algoscope.tasks.batch_size import batch_octets
from algoscope.training.config import TrainingConfig, check
from algoscope.training.model import Layout, name_faults
from algoscope.training.pool import (
    TaskPlan,
    check_pool,
    features_of,
    make_plan,
    steps_per_generation,
)

_ARRAYS = 24
_PART_OF_MEMORY = 0.5
_NUMBER_BYTES = 4
_COPIES = 4
"""Of the weights: themselves, Adam's two moments, and the best so far."""
_COMPACT = 1 / 8
"""At least so much of a batch's memory is left in the small types of the pool."""


class Placement(NamedTuple):
    mesh: Mesh
    """The devices, along one axis of seeds."""
    at_once: int
    """Networks side by side on each device; divides the number of those that it has."""

    def spread(self, tree: Any) -> Any:
        """Arrays with a seed axis, each device with its part."""
        return jax.device_put(tree, NamedSharding(self.mesh, PartitionSpec(*self.mesh.axis_names)))

    def everywhere(self, tree: Any) -> Any:
        """Arrays that all networks share."""
        return jax.device_put(tree, NamedSharding(self.mesh, PartitionSpec()))


@dataclasses.dataclass(frozen=True)
class TrainingPlan:
    config: TrainingConfig
    tasks: tuple[TaskPlan, ...]
    layout: Layout
    """Where each weight lies in the vectors that are trained."""
    placement: Placement


def plan_training(
    config: TrainingConfig,
    at_once: int | None = None,
    plans: tuple[TaskPlan, ...] | None = None,
    *,
    devices: int | None = None,
    before: int | None = None,
) -> TrainingPlan:
    """Refuses a configuration that does not fit. `at_once` is chosen to fit if None, or like
    `before`, when the run was begun; `plans` of tasks are made of first batches; at most so many
    `devices` are used, all there are if None."""
    check(config)
    if plans is None:
        for task in config.tasks:
            check_pool(config, task)
        features = {task: features_of(config, task) for task in config.tasks}
    else:
        features = {plan.task: plan.features for plan in plans}
    layout = Layout(tuple(features.items()), config.network)
    faults = name_faults("weights to freeze", config.freeze, layout.shapes.names())
    if faults:
        raise ConfigError("\n".join(faults))
    capacity.check(
        f"{config.seeds:,} networks of {_weights(layout):,} weights",
        learner_octets(config, layout),
        "take fewer seeds or a smaller network",
    )
    if plans is None:
        plans = tuple(make_plan(config, task) for task in config.tasks)
    return TrainingPlan(config, plans, layout, _placement(config, plans, at_once, devices, before))


def _weights(layout: Layout) -> int:
    """Of one network."""
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(layout.shapes))


def learner_octets(config: TrainingConfig, layout: Layout) -> int:
    """Bytes of all networks with what their optimiser keeps."""
    return config.seeds * _NUMBER_BYTES * _COPIES * _weights(layout)


def pool_octets(config: TrainingConfig, task: str, steps: int) -> float:
    """Bytes that the pool of a task takes at least, whose longest trace has so many steps."""
    nodes, problems = max(config.recipe.sizes), steps_per_generation(config) * config.recipe.count
    octets = batch_octets(tasks.get(task), nodes, problems, steps)
    return _COMPACT * octets / len(config.recipe.sizes)


def network_octets(config: TrainingConfig, steps: int) -> int:
    """Bytes that one network keeps for its backward pass, over so many steps."""
    nodes = max(config.recipe.sizes) * 5 // 4
    state = nodes * max(config.network.width, nodes)
    return _ARRAYS * _NUMBER_BYTES * config.recipe.count * steps * state


def _placement(
    config: TrainingConfig,
    plans: Sequence[TaskPlan],
    at_once: int | None,
    most: int | None,
    before: int | None,
) -> Placement:
    devices = jax.local_devices()
    if most is not None and not 1 <= most <= len(devices):
        raise ConfigError(
            f"devices: got {most}, needed 1 to {len(devices)}, which is what JAX has here; of a "
            f"CPU it makes {most} where XLA_FLAGS=--xla_force_host_platform_device_count={most} "
            "is set before it starts"
        )
    count = _largest_divisor(config.seeds, most or len(devices))
    mesh = Mesh(np.array(devices[:count]), ("seeds",))
    per_device = config.seeds // count
    if at_once is None:
        at_once = _largest_divisor(per_device, before or _that_fit(config, plans, devices[0]))
    elif at_once < 1 or per_device % at_once:
        raise ConfigError(
            f"at_once: got {at_once}, needed a divisor of {per_device}, the number of networks on "
            "each device"
        )
    return Placement(mesh, at_once)


def _that_fit(config: TrainingConfig, plans: Sequence[TaskPlan], device: Any) -> int:
    if device.platform == "cpu":
        return 1
    steps = max(times[-1] for plan in plans for times in plan.buckets)
    memory = (device.memory_stats() or {}).get("bytes_limit", 2**33)
    return max(1, int(_PART_OF_MEMORY * memory / network_octets(config, steps)))


def _largest_divisor(number: int, at_most: int) -> int:
    return max(d for d in range(1, max(1, min(number, at_most)) + 1) if number % d == 0)
