"""What a run will take, before it is begun: time and memory, to within a factor of two or three.

Time is counted from measured steps (docs/explanation/performance.md). A step's work is taken to
grow as its matrix products and pairs do, relative to the step that was measured:

    work = (samples · hint steps · n · width · (width + n)) / (32 · 5 · 16 · 128 · 144)

Runs of the sweep that are finished correct the rest: the median of how much longer they took than
was estimated is a factor for trainings to come. What comes after training is counted from verdicts
that were timed (benchmarks/judging_time.json), network by network, on a CPU.
"""

import functools
import heapq
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import jax
import numpy as np

from algoscope import programs, tasks
from algoscope.networks import NetworkConfig
from algoscope.programs import Role
from algoscope.runs.folder import open_run
from algoscope.sweeps.plan import Planned, Settings
from algoscope.sweeps.work import is_done
from algoscope.training.config import TrainingConfig
from algoscope.training.model import Layout
from algoscope.training.plan import learner_octets, network_octets, pool_octets

Platform = Literal["cpu", "gpu"]
_PROBLEMS = 8
"""Drawn to know how many steps a trace has."""
_SCORED = 0.05
"""Of the training's time, for validation and scores."""
_PROCESS = 6e8
"""Bytes of a process with JAX before it has any data."""


JUDGED, _OF_PROBLEMS = 16.0, 4_000
"""Seconds of a verdict on a network of BFS, with about so many problems."""
COMPILED = 27.0
"""More for the first network of a run, in which programs are compiled."""
_PAGE = 20.0
"""Seconds of a run's page, besides verdicts."""
_JUDGING = 2e9
"""Bytes of a process that judges."""


class Pace(NamedTuple):
    """What a kind of device takes for the step that was measured: BFS with 16 nodes and 5 hint
    steps, GATv2 of width 128, 32 samples."""

    seed_step: float
    """Seconds of one network's step, among as many networks as the device takes."""
    least: float
    """Seconds of the smallest step, however small the networks."""
    compiling: float
    """Seconds for each shape of batches."""


PACES: dict[Platform, Pace] = {
    "cpu": Pace(0.0704, 0.0008, 4.0),
    "gpu": Pace(0.009565 / 128, 0.0008, 26.3 / 6),
}
_MEASURED = (32, 5, 16, 128)
_SCORE_ALONE = Settings()


class Estimate(NamedTuple):
    training: float
    """Seconds."""
    after: float
    """Seconds of verdicts and page."""
    octets: float

    @property
    def seconds(self) -> float:
        return self.training + self.after

    def times(self, factor: float) -> "Estimate":
        """With a training that takes so many times as long."""
        return self._replace(training=self.training * factor)


def estimate(
    config: TrainingConfig, platform: Platform, settings: Settings = _SCORE_ALONE
) -> Estimate:
    """Of a whole run, on one device."""
    pace = PACES[platform]
    sizes = config.recipe.sizes
    shapes = len(config.tasks) * (len(sizes) * config.time_buckets + 1)
    seconds = pace.compiling * shapes
    for task in config.tasks:
        work = statistics.fmean(_work(config, task, size) for size in sizes)
        step = max(pace.least, config.seeds * pace.seed_step * work)
        seconds += (1 + _SCORED) * config.steps * step
    octets = _octets(config, platform)
    if settings.after != "score":
        octets = max(octets, _JUDGING)
    return Estimate(seconds, _after(config, settings), octets)


def _after(config: TrainingConfig, settings: Settings) -> float:
    if settings.after == "score":
        return 0.0
    judged = [task for task in config.tasks if programs.of_task(task, Role.REFERENCE)]
    each = JUDGED * settings.problems / _OF_PROBLEMS
    seconds = len(judged) * (COMPILED + config.seeds * each)
    return seconds + (_PAGE if settings.after == "report" else 0.0)


def side_by_side(seconds: Iterable[float], workers: int) -> float:
    """Until the last run is done, when each worker takes the next one as soon as it can."""
    free = [0.0] * workers
    for one in seconds:
        heapq.heapreplace(free, free[0] + one)
    return max(free)


def correction(planned: Sequence[Planned], estimates: Sequence[Estimate]) -> float:
    """How much longer finished runs took than was estimated; 1 if there is none."""
    ratios = []
    for one, estimated in zip(planned, estimates, strict=True):
        if is_done(one.item):
            ratios.append(open_run(one.item.path).computed_seconds / estimated.training)
    return statistics.median(ratios) if ratios else 1.0


@functools.cache
def _hint_steps(task: str, size: int) -> float:
    """The mean length of a trace."""
    lengths = tasks.sample(task, size, _PROBLEMS, seed=0).lengths
    return float(np.maximum(2, np.asarray(lengths)).mean())


def _work(config: TrainingConfig, task: str, size: int) -> float:
    def amount(samples: float, steps: float, nodes: float, width: float) -> float:
        return samples * steps * nodes * width * (width + nodes)

    width = config.network.width * math.sqrt(config.network.rounds)
    steps = _hint_steps(task, size)
    return amount(config.recipe.count, steps, size, width) / amount(*_MEASURED)


def _octets(config: TrainingConfig, platform: Platform) -> float:
    largest = max(config.recipe.sizes)
    longest = math.ceil(2 * max(_hint_steps(task, largest) for task in config.tasks))
    at_once = config.seeds if platform == "gpu" else 1
    layout = _layout(config.tasks, config.network)
    pools = sum(pool_octets(config, task, longest) for task in config.tasks)
    learners = learner_octets(config, layout)
    return _PROCESS + learners + pools + at_once * network_octets(config, longest)


@functools.cache
def _layout(names: tuple[str, ...], network: NetworkConfig) -> Layout:
    return Layout(tuple((name, tasks.get(name).features) for name in names), network)


def platform_here() -> Platform:
    return "cpu" if jax.default_backend() == "cpu" else "gpu"
