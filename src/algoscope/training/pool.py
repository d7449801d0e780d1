"""The pool: problems that lie on the device, from which all networks learn.

A pool serves a *generation* of `pool_steps` steps and is then drawn anew. Batches are padded to one
of a few lengths of time (*buckets*), and at each step all networks take one of the same bucket.
Everything here is a function of the configuration and the number of the generation.
"""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.tasks import Batch, Feature, Kind, Stage
from algoscope.tasks.streams import training_sizes
from algoscope.training.config import TrainingConfig

_PROBED = 5_000
"""Samples of each size that are drawn to know how long traces get; a longer one is given room when
it comes."""
_PROBED_IN_PYTHON = 200
_WORTHWHILE = 0.1
"""The part of the work that a further bucket has to save."""
_LONG_RUN = 2_000
"""Steps from which on it pays to compile more than one bucket."""
_SMALL = 127
VALIDATION_SAMPLES = 64
"""Times the task's `evaluation_multiplier`, as in dm-clrs."""
_PROBE, _VALIDATION, _FRESH, _GENERATION = range(4)
"""What a random stream is for; the numbers of generations count up from the last."""


@dataclasses.dataclass(frozen=True)
class TaskPlan:
    """How batches of one task look."""

    task: str
    features: tuple[Feature, ...]
    buckets: tuple[tuple[int, ...], ...]
    """Of each size, the lengths of time to which its batches are padded, ascending."""

    @property
    def branches(self) -> tuple[tuple[int, int], ...]:
        """All pairs of the index of a size and a length of time: the shapes that are compiled."""
        return tuple((s, time) for s, times in enumerate(self.buckets) for time in times)


class Schedule(NamedTuple):
    """What to learn from at each step of a generation."""

    branch: np.ndarray
    """Which shape, the same for all networks: int32 [steps]."""
    batch: np.ndarray
    """Which batch of that size's pool: int32 [seeds, steps]."""


class Generation(NamedTuple):
    """The data of a generation."""

    plans: tuple[TaskPlan, ...]
    pools: tuple[tuple[Batch, ...], ...]
    """By task and size, compact arrays [batch, sample, …]."""
    schedules: tuple[Schedule, ...]
    """By task."""


def steps_per_generation(config: TrainingConfig) -> int:
    """A whole number of cycles through the sizes of every task."""
    cycle = math.lcm(*(len(_sizes(config, task)) for task in config.tasks))
    return math.ceil(min(config.pool_steps, config.steps) / cycle) * cycle


def draw_generation(
    config: TrainingConfig, plans: Sequence[TaskPlan], number: int, seeds: Sequence[int]
) -> Generation:
    fitted, pools, schedules = [], [], []
    for plan in plans:
        by_size = _draw(config, plan.task, number)
        plan = _fit(plan, by_size)
        fitted.append(plan)
        pools.append(
            tuple(
                Batch.stack([compact(b, times[-1]) for b in batches])
                for batches, times in zip(by_size, plan.buckets, strict=True)
            )
        )
        schedules.append(_schedule(config, plan, by_size, number, seeds))
    return Generation(tuple(fitted), tuple(pools), tuple(schedules))


def validation_batch(config: TrainingConfig, task: str, purpose: int = _VALIDATION) -> Batch:
    """Batch as in training, of the largest size."""
    recipe = dataclasses.replace(
        config.recipe,
        sizes=(max(config.recipe.sizes),),
        count=VALIDATION_SAMPLES * tasks.get(task).evaluation_multiplier,
        burn_in=0,
    )
    return next(tasks.stream(task, recipe, _random(config, task, purpose)))


def memory_problems(config: TrainingConfig, task: str) -> dict[str, Batch]:
    """Problems of the largest size: `seen` ones of the first generation, which all networks learnt
    from, and `fresh` ones, which decided nothing; as many as in validation, or as the first
    generation has."""
    batches = _draw(config, task, 0)[int(np.argmax(_sizes(config, task)))]
    fresh = validation_batch(config, task, _FRESH)
    batches = batches[: max(1, len(fresh) // config.recipe.count)]
    time = max(batch.time for batch in [*batches, fresh])
    seen = Batch.join([compact(batch, time) for batch in batches])
    return {"seen": seen, "fresh": compact(fresh, time).take(slice(len(seen)))}


def compact(batch: Batch, time: int | None = None) -> Batch:
    """The batch in small types, padded to a length of time."""
    pointer = np.int8 if batch.nodes <= _SMALL else np.int16
    types = {Kind.SCALAR: np.float32, Kind.POINTER: pointer, Kind.PERMUTATION: pointer}
    inputs, hints, outputs = (
        {
            f.name: np.asarray(batch.values(stage)[f.name], types.get(f.kind, np.int8))
            for f in batch.at(stage)
        }
        for stage in Stage
    )
    lengths = np.asarray(batch.lengths, np.int32)
    small = Batch(batch.task, inputs, hints, outputs, lengths, batch.features)
    return small if time is None else small.padded(time)


def _sizes(config: TrainingConfig, task: str) -> tuple[int, ...]:
    return training_sizes(tasks.get(task), config.recipe)


def _random(config: TrainingConfig, task: str, purpose: int) -> np.random.RandomState:
    words = [config.data_seed, tasks.seed_word(task), purpose]
    return np.random.RandomState(int(np.random.SeedSequence(words).generate_state(1)[0]))


def _draw(config: TrainingConfig, task: str, number: int) -> list[list[Batch]]:
    """A generation's batches, by size."""
    count = len(_sizes(config, task))
    recipe = dataclasses.replace(config.recipe, burn_in=0)
    stream = tasks.stream(task, recipe, _random(config, task, _GENERATION + number))
    batches = list(itertools.islice(stream, steps_per_generation(config)))
    return [batches[size::count] for size in range(count)]


def make_plan(config: TrainingConfig, task: str) -> TaskPlan:
    """The plan of a task, from the first generation and a further probe."""
    probed = _PROBED_IN_PYTHON if tasks.get(task).plain else _PROBED
    recipe = dataclasses.replace(config.recipe, count=1, burn_in=probed)
    probes = tasks.stream(task, recipe, _random(config, task, _PROBE))
    count = config.time_buckets if config.steps >= _LONG_RUN else 1
    buckets = []
    by_size = _draw(config, task, 0)
    for batches, probe in zip(by_size, probes, strict=False):
        lengths = [longest(batch) for batch in batches]
        most = max(*lengths, probe.time, 2)
        buckets.append(_choose_buckets(lengths, most, count))
    return TaskPlan(task, by_size[0][0].features, tuple(buckets))


def longest(batch: Batch) -> int:
    """Steps of the longest trace; a network takes at least two."""
    return max(2, int(batch.lengths.max()))


def _choose_buckets(lengths: Sequence[int], most: int, count: int) -> tuple[int, ...]:
    """The lengths that save the most work, one after the other, as long as they save enough."""

    def work(times: Sequence[int]) -> int:
        return sum(min(t for t in times if t >= length) - 1 for length in lengths)

    times = [most]
    while len(times) < count:
        best = min(set(lengths) | {most}, key=lambda t: (work([*times, t]), t))
        if work([*times, best]) > (1 - _WORTHWHILE) * work(times):
            break
        times.append(best)
    return tuple(sorted(times))


def _fit(plan: TaskPlan, by_size: list[list[Batch]]) -> TaskPlan:
    """The plan with room for a trace that is longer than any before."""
    buckets = tuple(
        (*times[:-1], max(times[-1], *(longest(batch) for batch in batches)))
        for times, batches in zip(plan.buckets, by_size, strict=True)
    )
    return dataclasses.replace(plan, buckets=buckets)


def _schedule(
    config: TrainingConfig,
    plan: TaskPlan,
    by_size: list[list[Batch]],
    number: int,
    seeds: Sequence[int],
) -> Schedule:
    sizes = len(by_size)
    steps = sizes * len(by_size[0])
    branch = np.zeros(steps, np.int32)
    batch = np.zeros((len(seeds), steps), np.int32)
    members = []
    for size, (batches, times) in enumerate(zip(by_size, plan.buckets, strict=True)):
        first = sum(len(t) for t in plan.buckets[:size])
        bucket = np.searchsorted(times, [longest(b) for b in batches])
        branch[size::sizes] = first + bucket
        members += [(size, np.flatnonzero(bucket == b)) for b in range(len(times))]
    for row, seed in enumerate(seeds):
        random = np.random.default_rng([config.data_seed, tasks.seed_word(plan.task), number, seed])
        for size, batches_in_bucket in members:
            batch[row, size + sizes * batches_in_bucket] = random.permutation(batches_in_bucket)
    return Schedule(branch, batch)
