"""The plan of a training: all that follows from its configuration before the first step.

Networks side by side share the costs of starting kernels, but their activations have to fit: about
`_ARRAYS` arrays of samples × steps × nodes × width are kept for the backward pass. A CPU has no
such costs, and its caches serve one network at a time better.
"""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from algoscope import capacity, progress, tasks
from algoscope.errors import ConfigError, Faults
from algoscope.networks import skeleton
from algoscope.tasks import Task
from algoscope.tasks.batch_size import batch_octets
from algoscope.tasks.sampling import check_memory
from algoscope.tasks.streams import features_in_training, training_sizes
from algoscope.training.config import TrainingConfig, config_faults
from algoscope.training.model import Layout
from algoscope.training.pool import (
    VALIDATION_SAMPLES,
    TaskPlan,
    check_pool,
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
_WEIGHTS = 1_000
"""Of a network at most, times the square of its largest width, for each round."""
_NARROW = 64


class Room(NamedTuple):
    """What a training finds where it is made."""

    devices: int | None
    """None where there are as many as are asked for, as of a CPU."""
    octets: float
    """Of free memory."""


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
    refused = training_faults(config, at_once, devices)
    if refused:
        raise ConfigError("\n".join(refused))
    if plans is None:
        plans = tuple(make_plan(config, task) for task in config.tasks)
    layout = Layout(tuple((plan.task, plan.features) for plan in plans), config.network)
    return TrainingPlan(config, plans, layout, _placement(config, plans, at_once, devices, before))


def training_faults(
    config: TrainingConfig,
    at_once: int | None = None,
    devices: int | None = None,
    room: Room | None = None,
) -> list[str]:
    """Everything for which `plan_training` refuses to begin, without a problem drawn: what is wrong
    with the configuration, and what does not fit into the room, which is here if it is not said.
    A batch whose traces are longer than was to be expected may still be refused."""
    room = room or Room(len(jax.local_devices()), float(capacity.available()))
    faults = config_faults(config)
    sound = not faults
    if isinstance(config.seeds, int) and config.seeds >= 1:
        faults += _spread_faults(config.seeds, at_once, devices, room.devices)
        faults += _memory_faults(config, room.octets, sound=sound)
    return faults


def _spread_faults(
    seeds: int, at_once: int | None, most: int | None, there: int | None
) -> Iterator[str]:
    """What is wrong with how seeds are to be spread over the devices that are there."""
    if most is not None and most < 1:
        yield f"devices: got {most}, needed at least 1"
        return
    if most is not None and there is not None and most > there:
        yield (
            f"devices: got {most}, needed 1 to {there}, which is what JAX has there; of a CPU it "
            f"makes {most} where XLA_FLAGS=--xla_force_host_platform_device_count={most} is set "
            "before it starts"
        )
        return
    per_device = seeds // _largest_divisor(seeds, most or there or 1)
    if at_once is not None and (at_once < 1 or per_device % at_once):
        yield (
            f"at_once: got {at_once}, needed a divisor of {per_device}, the number of networks on "
            "each device"
        )


def _memory_faults(config: TrainingConfig, free: float, *, sound: bool) -> list[str]:
    """What surely does not fit into so many bytes, as far as the parts of the configuration that
    say so are sound: what is wrong with others hides nothing."""
    faults, seeds, named = Faults(), config.seeds, config.tasks
    if sound or not config_faults(TrainingConfig(named, seeds=seeds, network=config.network)):
        with faults.listed():
            _check_weights(config, free)
    drawn = config if sound else TrainingConfig(named, seeds=seeds, recipe=config.recipe)
    if sound or not config_faults(drawn):
        for name in named:
            with faults.listed():
                check_pool(drawn, name, free)
                _check_validation(drawn, tasks.get(name), free)
    if sound:
        # Here, since what is scored is known of plans.
        from algoscope.training.evaluation import check_test

        with faults.listed():
            check_test(config, free)
    return faults.lines


def _check_weights(config: TrainingConfig, free: float) -> None:
    network, copies = config.network, config.seeds * _NUMBER_BYTES * _COPIES
    widths = (network.width, network.attention_width, network.triplet_width, network.attention_bias)
    largest = max(_NARROW, *(width or 0 for width in widths))
    if copies * _WEIGHTS * network.rounds * largest**2 < free:
        return
    parts = [
        skeleton(features_in_training(tasks.get(task), config.recipe), network)
        for task in config.tasks
    ]
    weights = sum(map(_size, parts)) - (len(parts) - 1) * _size(parts[0].processor)
    capacity.check(
        f"{config.seeds:,} networks of {weights:,} weights (network.width {network.width:,})",
        copies * weights,
        "take fewer seeds or a smaller network",
        free,
    )


def _check_validation(config: TrainingConfig, task: Task, free: float) -> None:
    count = VALIDATION_SAMPLES * task.evaluation_multiplier
    largest = max(training_sizes(task, config.recipe))
    check_memory(task, {largest: count}, "take smaller problems", free)


def _size(model: Any) -> int:
    """Its weights."""
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(model))


def learner_octets(config: TrainingConfig, layout: Layout) -> int:
    """Bytes of all networks with what their optimiser keeps."""
    return config.seeds * _NUMBER_BYTES * _COPIES * _size(layout.shapes)


def pool_octets(config: TrainingConfig, task: str, steps: int | float) -> float:
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
    count = _largest_divisor(config.seeds, most or len(devices))
    if most is not None and count < most:
        progress.note(
            f"devices: got {most}, of which {count} {'is' if count == 1 else 'are'} used: "
            f"{config.seeds} networks are spread in equal parts"
        )
    mesh = Mesh(np.array(devices[:count]), ("seeds",))
    per_device = config.seeds // count
    if at_once is None:
        at_once = _largest_divisor(per_device, before or _that_fit(config, plans, devices[0]))
    return Placement(mesh, at_once)


def _that_fit(config: TrainingConfig, plans: Sequence[TaskPlan], device: Any) -> int:
    if device.platform == "cpu":
        return 1
    steps = max(times[-1] for plan in plans for times in plan.buckets)
    memory = (device.memory_stats() or {}).get("bytes_limit", 2**33)
    return max(1, int(_PART_OF_MEMORY * memory / network_octets(config, steps)))


def _largest_divisor(number: int, at_most: int) -> int:
    return max(d for d in range(1, max(1, min(number, at_most)) + 1) if number % d == 0)
