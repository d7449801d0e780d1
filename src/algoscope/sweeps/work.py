"""Work: one run from wherever it is to its end. Every engine calls `do`, so that a run ends with
the same bits whichever engine made it, and however often it was begun.

    RUN/           the run folder
    RUN.log        what was done, attempt after attempt
    RUN.error      why the last attempt failed
"""

import contextlib
import enum
import functools
import os
import pathlib
import platform
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TextIO

from algoscope import progress, tasks, training
from algoscope.errors import Stopped
from algoscope.files import RunError, explained, write_bytes
from algoscope.measures.basis import basis
from algoscope.progress import ProgressLine
from algoscope.runs import Run, folder, lock, parquet, trackers
from algoscope.runs.environment import device_name, keep_compiled_programs, use_devices
from algoscope.runs.words import Words
from algoscope.sweeps.plan import Item

_POLL = 0.5
"""Seconds between looks at a run that another process is training."""


class End(enum.StrEnum):
    """How an attempt ended."""

    FINISHED = "finished"
    STOPPED = "stopped"
    """It was asked to; the work is in a checkpoint."""
    FAILED = "failed"


class Outcome(NamedTuple):
    name: str
    """Of the run."""
    end: End
    error: str = ""
    """The last line of it."""


def do(item: Item) -> Outcome:
    """Trains the run, or goes on with it, and does what comes after."""
    keep_compiled_programs()
    use_devices(item.settings.devices)
    with _log(item.log) as (file, line), progress.shown_on(line):
        try:
            _wait_until_ours(file, line)
            item.error.unlink(missing_ok=True)
            _after(item, _trained(item, line), line.report)
        except (Stopped, KeyboardInterrupt) as stopped:
            line.report(str(stopped) or "interrupted")
            return Outcome(item.name, End.STOPPED)
        except Exception as error:
            line.report(traceback.format_exc().rstrip())
            told = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            write_bytes(item.error, f"{told}\n".encode())
            return Outcome(item.name, End.FAILED, told)
    return Outcome(item.name, End.FINISHED)


def is_done(item: Item) -> bool:
    """Whether nothing is left to do, by the files that are there. A run that is damaged is left to
    `do`, which fails with the reason, so that the other runs go on."""
    path = pathlib.Path(item.path)
    try:
        if item.error.is_file():  # Also where somebody has finished the run since.
            return False
        if not (path / "results.json").is_file() or not folder.open_run(path).finished:
            return False
        words = Words.read(path)
    except RunError:
        return False
    if words is None:
        return has_all(item, None, ())
    return has_all(item, words.problems, [words.basis.get(t, "") for t in item.config.tasks])


def has_all(item: Item, judged_on: int | None, judged_by: Sequence[str]) -> bool:
    """Whether a finished run that was judged on so many problems, by what has these digests, has
    all that comes after training. Verdicts of another version of Algoscope, or of the task, are
    none."""
    after = item.settings.after
    needed = ("results.parquet", "report.html")[: 2 if after == "report" else 1]
    if not all(os.path.isfile(os.path.join(item.path, name)) for name in needed):
        return False
    if not all(os.path.isdir(os.path.join(item.path, name)) for name in item.settings.track):
        return False
    if after == "score":
        return True
    if judged_on != item.settings.problems:
        return False
    try:
        return list(judged_by) == [_basis(tasks.get(task)) for task in item.config.tasks]
    except ValueError:  # A task of one's own, which is not defined here.
        return True


@functools.cache
def _basis(task: tasks.Task) -> str:
    """For thousands of runs."""
    return basis(task.name)


def _trained(item: Item, line: ProgressLine) -> Run:
    path, settings = pathlib.Path(item.path), item.settings
    if lock.is_held(path):
        line.report("another process is training this run; waiting for it")
        while lock.is_held(path):
            time.sleep(_POLL)

    def step(reached: training.Report) -> None:
        line.step(reached.step, reached.steps, str(reached))

    line.report(f"training on {device_name()} into {path}")
    if folder.has_begun(path):
        run = training.resume(
            path,
            at_once=settings.at_once,
            devices=settings.devices,
            checkpoint_seconds=settings.checkpoint_seconds,
            report=step,
        )
    else:
        run = training.train(
            item.config,
            path,
            at_once=settings.at_once,
            devices=settings.devices,
            checkpoint_seconds=settings.checkpoint_seconds,
            report=step,
            sweep=item.sweep,
        )
    if not (path / "results.parquet").is_file():
        parquet.write(run)
    return run


def _after(item: Item, run: Run, say: Callable[[str], None]) -> None:
    # Here, since lists of runs need not wait for measures and figures.
    from algoscope import report
    from algoscope.report import kept

    settings = item.settings
    for tracker in settings.track:
        if not (run.path / tracker).is_dir():
            say(f"{tracker}: {trackers.write(run, tracker)}")
    if settings.after == "report":
        say(f"report: {report.report([run], problems=settings.problems, report=say)}")
    if settings.after != "score":
        problems = settings.problems
        words = {t: kept.judge_run(run, t, problems=problems, report=say) for t in run.tasks}
        Words(problems, words, {task: basis(task) for task in run.tasks}).write(run.path)
    say("finished")


def _wait_until_ours(file: TextIO, line: ProgressLine) -> None:
    """One attempt at a time, by the lock of the log, by which others see, too, that the run is in
    somebody's hands. There are two where an engine took one for lost that was not."""
    if not lock.take(file):
        line.report("another process is making this run; waiting for it")
        while not lock.take(file):
            pass  # It is patient itself.


@contextlib.contextmanager
def _log(path: pathlib.Path) -> Iterator[tuple[TextIO, ProgressLine]]:
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file: TextIO = path.open("a", buffering=1)
    with file:
        file.write(f"--- {folder.now()} on {platform.node()}, process {os.getpid()}\n")
        line = ProgressLine(file)
        yield file, line
        line.close()
