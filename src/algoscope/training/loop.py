"""The loop: an objective and a run folder, from the last checkpoint to the last step.

All randomness is a function of the seed and the number of the step, so a run that was killed goes
on from its last checkpoint as if nothing had happened.
"""

import contextlib
import dataclasses
import datetime
import math
import pathlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from algoscope import progress
from algoscope.errors import ConfigError, short, together, unknown_name
from algoscope.networks.weights import leaf_name
from algoscope.runs import RunError, checkpoints, folder, live
from algoscope.runs.environment import environment
from algoscope.runs.folder import Metrics, Run
from algoscope.stopping import asked_to_stop
from algoscope.training.optimiser import Learner

_STRETCH = 250
"""Most steps that the device takes on its own."""
CHECKPOINT_SECONDS = 60.0
"""How much of its work a run may lose when it is killed, unless told otherwise."""
_STRETCH_SECONDS = 2.0
"""How long a stretch should take at most, so that progress is seen and Ctrl-C heard."""
RECENT = 20
"""Steps over which a reported loss is averaged."""
_SECONDS = "seconds"
"""In a checkpoint."""


class Report(NamedTuple):
    """How far a run is."""

    step: int
    steps: int
    loss: float
    """Mean over seeds, tasks and the last few steps."""
    score: float
    """Mean over seeds and tasks at the last validation."""
    steps_per_second: float
    seconds_left: float

    def __str__(self) -> str:
        parts = [f"loss {self.loss:.4f}"]
        if not math.isnan(self.score):
            parts.append(f"validation {self.score:.4f}")
        if math.isnan(self.steps_per_second):
            parts.append("compiled")
        else:
            left = round(self.seconds_left) if math.isfinite(self.seconds_left) else 0
            parts.append(f"{self.steps_per_second:.3g} steps/s")
            parts.append(f"{datetime.timedelta(seconds=left)} left")
        return "  ".join(parts)


@runtime_checkable
class Objective(Protocol):
    """What a training learns, from which data, by which programs: all that differs between
    trainings."""

    steps: int
    """Of the whole training."""
    resume_command: str
    """What to type to go on with its run."""
    memory_advice: str
    """What to do if the device's memory does not suffice."""

    def place(self, learner: Learner) -> Any:
        """The learner, or learners, on the devices."""
        ...

    def gather(self, placed: Any) -> Learner:
        """The same on the host."""
        ...

    def until(self, step: int) -> int:
        """The first step after this one that has to wait for other data."""
        ...

    def prepare(self, placed: Any, step: int) -> None:
        """Waits for what the steps from this one need, and compiles it; touches nothing that is
        placed, and may be left at any moment."""
        ...

    def take(self, placed: Any, start: int, stop: int) -> tuple[Any, Metrics]:
        """What is placed after these steps, whose memory it reuses, and what was measured."""
        ...


class Evaluations(NamedTuple):
    """Evaluations of a model on its way, each after a checkpoint."""

    steps: tuple[int, ...] = ()
    """After which steps."""
    evaluate: Callable[[int, Any], None] = lambda step, placed: None


@dataclasses.dataclass(frozen=True)
class Pacing:
    """How a run is watched."""

    report: Callable[[Report], None] | None = None
    """Told how far the run is; if nobody is, a line of progress shows it."""
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    evaluations: Evaluations = dataclasses.field(default_factory=Evaluations)

    def __post_init__(self):
        seconds = self.checkpoint_seconds
        # NaN would never be reached.
        if not isinstance(seconds, int | float) or not seconds >= 0:
            raise ConfigError(f"checkpoint_seconds: got {short(seconds)}, needed 0 or more seconds")


class Trained(NamedTuple):
    step: int
    """Steps taken so far."""
    learner: Learner
    metrics: Metrics
    seconds: float = 0.0
    """In which they were taken, by all processes that took them: without pauses, and without what
    was lost."""


class Clock:
    """How far a run is and how many steps its next stretch may have, measured from the end of the
    first stretch, which compiles."""

    def __init__(self, steps: int, seconds: float):
        self._steps, self._seconds = steps, min(_STRETCH_SECONDS, seconds)
        self._from: tuple[int, float] | None = None
        self.stretch = 1

    def took(self, steps: int, seconds: float, step: int, metrics: Metrics) -> Report:
        """After a stretch of so many steps and seconds, at this step of the run."""
        now = time.monotonic()
        rate = float("nan")
        if self._from is None:
            self._from = (step, now)
        else:
            rate = (step - self._from[0]) / max(now - self._from[1], 1e-9)
            wanted = int(self._seconds * steps / max(seconds, 1e-9))
            self.stretch = max(1, min(_STRETCH, self._steps, wanted, 8 * self.stretch))
        return Report(
            step,
            self._steps,
            float(metrics.loss[-RECENT:].mean()),
            float(metrics.validation[-1].mean()) if len(metrics.validation) else float("nan"),
            rate,
            (self._steps - step) / rate if rate > 0 else float("nan"),
        )


def by_name(tree: Any) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {leaf_name(path): np.asarray(leaf) for path, leaf in leaves}


def filled(shapes: Any, named: Mapping[str, np.ndarray], where: object) -> Any:
    """The tree of these shapes with the named arrays; lists every fault at once if they do not
    fit."""
    paths, structure = jax.tree_util.tree_flatten_with_path(shapes)
    needed = {leaf_name(path): leaf for path, leaf in paths}
    faults = [f"missing: {name}" for name in needed if name not in named]
    faults += [
        f"{name}: got {array.dtype} {list(array.shape)}, needed {needed[name].dtype} "
        f"{list(needed[name].shape)}"
        if name in needed
        else unknown_name("array", name, needed)
        for name, array in named.items()
        if name not in needed or (array.shape, array.dtype) != _form(needed[name])
    ]
    if faults:
        raise RunError(together(f"{where}: its arrays do not fit the model:", faults))
    return jax.tree.unflatten(structure, [jnp.asarray(named[name]) for name in needed])


def _form(leaf: Any) -> tuple[tuple[int, ...], Any]:
    return leaf.shape, leaf.dtype


def save(path: pathlib.Path, trained: Trained) -> None:
    """Writes a checkpoint into a run folder."""
    named = by_name({"learners": trained.learner, "metrics": trained.metrics})
    named[_SECONDS] = np.array([trained.seconds])
    checkpoints.write(path, trained.step, named)


def no_metrics(seeds: int, tasks: int) -> Metrics:
    empty = np.zeros((0, seeds, tasks), np.float32)
    return Metrics(empty, np.zeros(0, np.int32), empty)


def go_on(run: Run, objective: Objective, shapes: Learner, pacing: Pacing) -> tuple[Run, Trained]:
    """From the last checkpoint, of a learner of these shapes, to the end."""
    checkpoint = checkpoints.read(run.path)
    run = folder.note(run, *checkpoint.notes, *_moved(run))
    learner = filled(shapes, checkpoint.below("learners"), run.path)
    metrics = folder.metrics_from(run.path, checkpoint.metrics)
    seconds = float(checkpoint.arrays.get(_SECONDS, np.zeros(1))[0])  # Earlier versions say none.
    trained = _train(run, objective, Trained(checkpoint.step, learner, metrics, seconds), pacing)
    save(run.path, trained)
    return run, trained


def _train(run: Run, objective: Objective, trained: Trained, pacing: Pacing) -> Trained:
    step, learner, metrics, before = trained
    started = time.monotonic()
    clock = Clock(objective.steps, pacing.checkpoint_seconds)
    evaluations = pacing.evaluations
    placed = objective.place(learner)
    publisher = live.Publisher(run.path)
    saved = time.monotonic()

    def taken_so_far() -> Trained:
        seconds = before + time.monotonic() - started
        return Trained(step, objective.gather(placed), metrics, seconds)

    with asked_to_stop() as asked, _told(pacing, objective.steps) as report:
        while step < objective.steps:
            asked.or_leave(objective.prepare, placed, step)
            if asked.is_set():
                save(run.path, taken_so_far())
                raise asked.stopped(
                    f"stopped at step {step} of {objective.steps}; go on with "
                    f"`{objective.resume_command}`"
                )
            pauses = (objective.steps, objective.until(step), *evaluations.steps)
            stop = min(step + clock.stretch, *(pause for pause in pauses if pause > step))
            begun = time.monotonic()
            try:
                placed, measured = objective.take(placed, step, stop)
            except jax.errors.JaxRuntimeError as error:
                if "RESOURCE_EXHAUSTED" not in str(error):
                    raise
                advice = objective.memory_advice
                raise RunError(f"the device's memory does not suffice; {advice}") from None
            taken, seconds, step = stop - step, time.monotonic() - begun, stop
            metrics = Metrics(*map(np.concatenate, zip(metrics, measured, strict=True)))
            so_far = clock.took(taken, seconds, step, metrics)
            report(so_far)
            if publisher.is_due(step, objective.steps):
                publisher.publish(_live(so_far, metrics))
            evaluating = step in evaluations.steps
            if evaluating or time.monotonic() - saved >= pacing.checkpoint_seconds:
                save(run.path, taken_so_far())
                saved = time.monotonic()
            if evaluating:
                evaluations.evaluate(step, placed)
    return taken_so_far()


def _live(report: Report, metrics: Metrics) -> live.Live:
    curves = live.curves(*map(np.asarray, metrics))
    return live.Live(
        report.step, report.steps, report.steps_per_second, report.seconds_left, curves
    )


@contextlib.contextmanager
def _told(pacing: Pacing, steps: int) -> Iterator[Callable[[Report], None]]:
    """Whom to tell how far the run is."""
    if pacing.report is not None:
        yield pacing.report
        return
    with progress.job("training") as job:
        yield lambda report: job.reach(report.step, f"step {report.step:,} of {steps:,}  {report}")


def _moved(run: Run) -> tuple[str, ...]:
    """A note if the run goes on elsewhere than it was begun."""
    here, begun = environment(), run.description["environment"]
    told = "vectors" in begun and here["platform"] == "cpu"
    places = [
        f"{place['devices']} × {place['device']}" + told * f" ({place.get('vectors')})"
        for place in (begun, here)
    ]
    if places[0] == places[1]:
        return ()
    return (
        f"begun on {places[0]}, went on from step {run.step} on {places[1]}: bits may differ from "
        "an uninterrupted run",
    )
