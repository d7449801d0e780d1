"""The pool: problems that lie on the device, from which all networks learn.

A pool serves a *generation* of `pool_steps` steps and is then drawn anew. Batches are padded to one
of a few lengths of time (*buckets*), and at each step all networks take one of the same bucket.
Everything here is a function of the configuration and the number of the generation.
"""

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from algoscope import tasks
from algoscope.measures.interchange import partners
from algoscope.tasks import Batch, Feature, Recipe
from algoscope.tasks.sampling import check_memory
from algoscope.tasks.streams import as_in_training, training_sizes
from algoscope.training.compact import compact
from algoscope.training.config import TrainingConfig
from algoscope.training.objectives import Lecture, Target
from algoscope.training.teacher import demonstrate, named_teacher, teacher_for

_PROBED = 5_000
"""Samples of each size that are drawn to know how long traces get; a longer one is given room when
it comes."""
_PROBED_IN_PYTHON = 200
_WORTHWHILE = 0.1
"""The part of the work that a further bucket has to save."""
_LONG_RUN = 2_000
"""Steps from which on it pays to compile more than one bucket."""
VALIDATION_SAMPLES = 64
"""Times the task's `evaluation_multiplier`, as in dm-clrs."""
_PROBE, _VALIDATION, _FRESH, _GENERATION = range(4)
"""What a random stream is for; the numbers of generations count up from the last."""
_DEMONSTRATED = 512
"""Problems on which a program is interpreted at once."""
_TARGETS = 1
"""Marks the stream that objectives draw from."""


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


class Material(NamedTuple):
    """What is learnt from: compact arrays, [batch, sample, …] in a pool."""

    batch: Batch
    targets: dict[str, Target]
    """What the teacher gives to each objective that needs more than the batch, by name."""


class Generation(NamedTuple):
    """The data of a generation."""

    plans: tuple[TaskPlan, ...]
    pools: tuple[tuple[Material, ...], ...]
    """By task and size."""
    schedules: tuple[Schedule, ...]
    """By task."""


def steps_per_generation(config: TrainingConfig) -> int:
    """A whole number of cycles through the kinds of graphs and sizes of every task."""
    graphs = len(config.recipe.graphs)
    cycle = math.lcm(*(graphs * len(_sizes(config, task)) for task in config.tasks))
    return math.ceil(min(config.pool_steps, config.steps) / cycle) * cycle


def draw_generation(
    config: TrainingConfig, plans: Sequence[TaskPlan], number: int, seeds: Sequence[int]
) -> Generation:
    drawn = [draw_batches(config, plan.task, number) for plan in plans]
    return make_generation(config, plans, drawn, number, seeds)


def make_generation(
    config: TrainingConfig,
    plans: Sequence[TaskPlan],
    drawn: Sequence[list[list[Batch]]],
    number: int,
    seeds: Sequence[int],
) -> Generation:
    """The generation of these batches, by task and size."""
    fitted, pools, schedules = [], [], []
    for plan, by_size in zip(plans, drawn, strict=True):
        plan = _fit(plan, by_size)
        fitted.append(plan)
        words = [config.data_seed, tasks.seed_word(plan.task), number, _GENERATION, _TARGETS]
        random = np.random.default_rng(words)
        pools.append(
            tuple(
                _pool(config, plan.task, batches, times[-1], random)
                for batches, times in zip(by_size, plan.buckets, strict=True)
            )
        )
        schedules.append(_schedule(config, plan, by_size, number, seeds))
    return Generation(tuple(fitted), tuple(pools), tuple(schedules))


def validation_batch(config: TrainingConfig, task: str, purpose: int = _VALIDATION) -> Batch:
    """Batch as in training, of the largest size and the first kind of graphs."""
    recipe = dataclasses.replace(
        config.recipe,
        sizes=(max(config.recipe.sizes),),
        count=VALIDATION_SAMPLES * tasks.get(task).evaluation_multiplier,
        burn_in=0,
    )
    return _taught(config, task, next(tasks.stream(task, recipe, _random(config, task, purpose))))


def memory_problems(config: TrainingConfig, task: str) -> dict[str, Batch]:
    """Problems of the largest size and the first kind of graphs: `seen` ones of the first
    generation, which all networks learnt from, and `fresh` ones, which decided nothing; as many as
    in validation, or as the first generation has."""
    batches = draw_batches(config, task, 0)[int(np.argmax(_sizes(config, task)))]
    batches = [_taught(config, task, b) for b in batches[:: len(config.recipe.graphs)]]
    fresh = validation_batch(config, task, _FRESH)
    batches = batches[: max(1, len(fresh) // config.recipe.count)]
    time = max(batch.time for batch in [*batches, fresh])
    seen = Batch.join([compact(batch, time) for batch in batches])
    return {"seen": seen, "fresh": compact(fresh, time).take(slice(len(seen)))}


def _taught(config: TrainingConfig, task: str, batch: Batch) -> Batch:
    """The batch with the trace of the teacher that the configuration names, if any."""
    teacher = named_teacher(config.teacher, task)
    return batch if teacher is None else demonstrate(teacher, batch, replaces=True).batch


def _pool(
    config: TrainingConfig,
    task: str,
    batches: Sequence[Batch],
    time: int,
    random: np.random.Generator,
) -> Material:
    """The batches, padded to a length of time, with all that their objectives need."""
    asking = {o.name: o.prepare for o, _ in config.objectives if o.prepare is not None}
    named = named_teacher(config.teacher, task) is not None
    if not (asking or named):
        return Material(Batch.stack([compact(batch, time) for batch in batches]), {})
    program, count = teacher_for(config.teacher, task), len(batches[0])
    at_once = max(1, _DEMONSTRATED // count)
    materials = []
    for start in range(0, len(batches), at_once):
        problems = Batch.join(batches[start : start + at_once])
        shown = demonstrate(program, problems, count=count, replaces=named)
        lecture = Lecture(shown, time, random)
        targets = {name: prepare(lecture) for name, prepare in asking.items()}
        materials.append(Material(compact(shown.batch, time), targets))
    return jax.tree.map(
        lambda *parts: np.concatenate(parts).reshape(-1, count, *parts[0].shape[1:]), *materials
    )


def _sizes(config: TrainingConfig, task: str) -> tuple[int, ...]:
    return training_sizes(tasks.get(task), config.recipe)


def _random(config: TrainingConfig, task: str, purpose: int) -> np.random.RandomState:
    words = [config.data_seed, tasks.seed_word(task), purpose]
    return np.random.RandomState(int(np.random.SeedSequence(words).generate_state(1)[0]))


def check_pool(config: TrainingConfig, task: str, free: float | None = None) -> None:
    """Refuses a pool that does not fit into so many free bytes, those here if it is not said,
    before any of it is drawn."""
    sizes = _sizes(config, task)
    batches = steps_per_generation(config) // len(sizes)
    counts: Counter[int] = Counter()
    for size in sizes:
        counts[size] += batches * config.recipe.count
    advice = "take smaller problems, a smaller batch, or draw them anew more often (pool_steps)"
    check_memory(tasks.get(task), counts, advice, free)


def draw_batches(config: TrainingConfig, task: str, number: int) -> list[list[Batch]]:
    """A generation's batches, by size."""
    sizes, recipe = len(_sizes(config, task)), config.recipe
    drawn = recipe.count // 2 if config.paired else recipe.count
    recipe = dataclasses.replace(recipe, burn_in=0, count=drawn)
    stream = tasks.stream(task, recipe, _random(config, task, _GENERATION + number))
    batches = list(itertools.islice(stream, steps_per_generation(config)))
    if config.paired:
        batches = [_with_partners(batch, recipe) for batch in batches]
    return [batches[size::sizes] for size in range(sizes)]


def _with_partners(batch: Batch, recipe: Recipe) -> Batch:
    """The batch, and after it each problem's partner at the same positions."""
    others = as_in_training(partners(batch), recipe)
    inputs = others.inputs | {"pos": batch.inputs["pos"]}
    return Batch.join([batch, dataclasses.replace(others, inputs=inputs)])


def make_plan(config: TrainingConfig, task: str) -> TaskPlan:
    """The plan of a task, from the first generation and a further probe."""
    probed = _PROBED_IN_PYTHON if tasks.get(task).plain else _PROBED
    recipe = dataclasses.replace(config.recipe, count=1, burn_in=probed)
    probes = tasks.stream(task, recipe, _random(config, task, _PROBE))
    count = config.time_buckets if config.steps >= _LONG_RUN else 1
    buckets = []
    by_size = draw_batches(config, task, 0)
    times = [batch.time for batch in itertools.islice(probes, len(by_size) * len(recipe.graphs))]
    for size, batches in enumerate(by_size):
        lengths = [longest(batch) for batch in batches]
        most = max(*lengths, *times[size :: len(by_size)], 2)
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
