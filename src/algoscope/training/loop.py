"""The loop: an objective and a run folder, from the last checkpoint to the last step.

All randomness is a function of the seed and the number of the step, so a run that was killed goes
on from its last checkpoint as if nothing had happened.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np

from algoscope.errors import Stopped
from algoscope.runs import RunError, checkpoints, folder
from algoscope.runs.folder import Metrics, Run
from algoscope.training.named_arrays import by_name, filled
from algoscope.training.optimiser import Learner
from algoscope.training.progress import Clock, Pace, Report, asked_to_stop

_STRETCH = 250
"""Most steps that the device takes on its own."""
CHECKPOINT_SECONDS = 60.0
"""How much of its work a run may lose when it is killed, unless told otherwise."""


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

    def take(self, placed: Any, start: int, stop: int) -> tuple[Any, Metrics]:
        """What is placed after these steps, whose memory it reuses, and what was measured."""
        ...


class Evaluations(NamedTuple):
    """Evaluations of a model on its way, each after a checkpoint."""

    steps: tuple[int, ...] = ()
    """After which steps."""
    evaluate: Callable[[int, Any], None] = lambda step, placed: None


class Pacing(NamedTuple):
    """How a run is watched."""

    report: Callable[[Report], None] = lambda _: None
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    evaluations: Evaluations = Evaluations()


class Trained(NamedTuple):
    step: int
    """Steps taken so far."""
    learner: Learner
    metrics: Metrics


def save(run: Run, trained: Trained) -> None:
    named = by_name({"learners": trained.learner, "metrics": trained.metrics})
    checkpoints.write(run.path, trained.step, named)


def no_metrics(seeds: int, tasks: int) -> Metrics:
    empty = np.zeros((0, seeds, tasks), np.float32)
    return Metrics(empty, np.zeros(0, np.int32), empty)


def go_on(run: Run, objective: Objective, shapes: Learner, pacing: Pacing) -> tuple[Run, Trained]:
    """From the last checkpoint, of a learner of these shapes, to the end."""
    checkpoint = checkpoints.read(run.path)
    run = folder.note(run, *checkpoint.notes, *_moved(run))
    start = "learners."
    named = {n.removeprefix(start): a for n, a in checkpoint.arrays.items() if n.startswith(start)}
    metrics = Metrics(*(checkpoint.arrays[f"metrics.{name}"] for name in Metrics._fields))
    learner = filled(shapes, named, run.path)
    trained = _train(run, objective, Trained(checkpoint.step, learner, metrics), pacing)
    save(run, trained)
    return run, trained


def _train(run: Run, objective: Objective, trained: Trained, pacing: Pacing) -> Trained:
    step, learner, metrics = trained
    clock = Clock(objective.steps)
    pace = Pace(min(_STRETCH, objective.steps), pacing.checkpoint_seconds)
    evaluations = pacing.evaluations
    placed = objective.place(learner)
    saved = time.monotonic()
    with asked_to_stop() as asked:
        while step < objective.steps:
            pauses = (objective.steps, objective.until(step), *evaluations.steps)
            stop = min(step + pace.steps, *(pause for pause in pauses if pause > step))
            begun = time.monotonic()
            with _memory_explained(objective):
                placed, measured = objective.take(placed, step, stop)
            pace.took(stop - step, time.monotonic() - begun)
            metrics = Metrics(*map(np.concatenate, zip(metrics, measured, strict=True)))
            step = stop
            pacing.report(clock.report(step, metrics))
            evaluating = step in evaluations.steps
            late = time.monotonic() - saved >= pacing.checkpoint_seconds
            if asked.is_set() or evaluating or late:
                save(run, Trained(step, objective.gather(placed), metrics))
                saved = time.monotonic()
            if evaluating:
                evaluations.evaluate(step, placed)
            if asked.is_set() and step < objective.steps:
                raise Stopped(
                    f"stopped at step {step} of {objective.steps}; go on with "
                    f"`{objective.resume_command}`"
                )
    return Trained(step, objective.gather(placed), metrics)


@contextlib.contextmanager
def _memory_explained(objective: Objective) -> Iterator[None]:
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        raise RunError(f"the device's memory does not suffice; {objective.memory_advice}") from None


def _moved(run: Run) -> tuple[str, ...]:
    """A note if the run goes on elsewhere than it was begun."""
    begun, devices = run.description["environment"], jax.local_devices()
    here = {"device": devices[0].device_kind, "devices": len(devices)}
    if all(begun[name] == value for name, value in here.items()):
        return ()
    return (
        f"begun on {begun['devices']} × {begun['device']}, went on from step {run.step} on "
        f"{here['devices']} × {here['device']}: bits may differ from an uninterrupted run",
    )
