"""Reservations: the folder of a new run, which belongs to one process from the first moment.

    with reserved(path, force=False) as reservation:
        ...                                            # what may take long, or fail
        folder = reservation.emptied()                 # now a run that is replaced is gone
        ...                                            # files that a run begins with
        run = reservation.begin(config)                # and last of all its description

A folder that has a description therefore has all that a run begins with.
"""

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from algoscope import __version__
from algoscope.errors import Stopped
from algoscope.files import RunError, beside, clear_unfinished, explained
from algoscope.runs import live, lock
from algoscope.runs.description import FORMAT, State
from algoscope.runs.environment import environment
from algoscope.runs.folder import (
    DESCRIPTION,
    Run,
    check_name,
    has_begun,
    now,
    open_run,
    write_description,
)

_FILES = (
    DESCRIPTION, "results.json", "metrics.*", "validation.parquet", "results.parquet",
    "weights", "weights-*", "weights.safetensors", "reasoner", "teacher",
    "checkpoint-*.safetensors", "findings", "verdicts.json", "abilities.json", "report.html",
    "figures", "study.json", "recordings.safetensors", "primitives.json", "page.html",
    "tensorboard", "wandb", "mlflow", live.FILE, lock.FILE, ".unfinished-*",
)  # fmt: skip
"""All that Algoscope writes into a run folder; whatever else is there is somebody's own."""
_TEACHER = ("config.json", "weights.safetensors", "reasoner")
_BEGINNING = ("checkpoint-000000000-*.safetensors", ".unfinished-*")


class Reservation:
    """A folder whose lock this process holds."""

    def __init__(self, path: pathlib.Path, locked: contextlib.ExitStack):
        self.path, self._locked = path, locked
        self.owned = True

    def emptied(self) -> pathlib.Path:
        """The folder, without the run that was there."""
        if _content(self.path):
            with explained(self.path):
                before = beside(self.path)
                self.path.rename(before / self.path.name)
                self.owned = False
                try:
                    self.path.mkdir()
                    self._locked.enter_context(lock.hold(self.path))
                except (FileExistsError, RunError):
                    raise RunError(
                        f"{self.path}: another process has just taken the name; the run that was "
                        f"there is in {before}"
                    ) from None
                self.owned = True
                shutil.rmtree(before, ignore_errors=True)
        clear_unfinished(self.path)
        return self.path

    def begin(self, config: Mapping[str, Any], **facts: Any) -> Run:
        """The run, whose description holds the facts too."""
        write_description(self.path, description(config, environment(), **facts))
        return open_run(self.path)


def description(
    config: Mapping[str, Any], made_in: Mapping[str, Any], **facts: Any
) -> dict[str, Any]:
    """What a run begins with, such as `Description` has it."""
    return {
        "format": FORMAT,
        "version": __version__,
        "state": "running",
        "created": now(),
        "config": dict(config),
        "environment": dict(made_in),
        "notes": [],
        **facts,
    }


@contextlib.contextmanager
def reserved(path: str | os.PathLike, *, force: bool = False) -> Iterator[Reservation]:
    """Reserves the name; a run that is there is replaced only if forced, nobody is training it, and
    the folder holds nothing else. A folder in which no run has begun in the end is removed."""
    path = pathlib.Path(path)
    check_name(path)
    _check_outside_runs(path)
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir()
    check_free(path, force=force)
    with contextlib.ExitStack() as locked:
        locked.enter_context(lock.hold(path))
        check_free(path, force=force)
        reservation = Reservation(path, locked)
        try:
            yield reservation
        finally:
            if reservation.owned and not (path / DESCRIPTION).exists():
                _remove(path)


def create(
    path: str | os.PathLike, config: Mapping[str, Any], *, force: bool = False, **facts: Any
) -> Run:
    """A new run folder without anything else."""
    with reserved(path, force=force) as reservation:
        reservation.emptied()
        return reservation.begin(config, **facts)


@contextlib.contextmanager
def for_runs(path: pathlib.Path, what: str) -> Iterator[None]:
    """The folder for the runs of a sweep or a study, which one process makes at a time."""
    _check_outside_runs(path)
    if has_begun(path):
        raise RunError(f"{path}: got a run folder, needed one for the runs of {what}")
    with explained(path):
        path.mkdir(parents=True, exist_ok=True)
    with lock.hold(path, f"{what} that another process is driving"):
        yield


@contextlib.contextmanager
def held(run: Run) -> Iterator[None]:
    """Keeps other processes from writing to the run; ends with the process, however it ends."""
    with lock.hold(run.path), stoppable(run):
        clear_unfinished(run.path)
        yield


@contextlib.contextmanager
def stoppable(run: Run) -> Iterator[None]:
    """Has Ctrl-C say where the run is, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        steps = f"step {run.step:,} of {run.config['steps']:,}"
        raise Stopped(f"stopped at {steps}; go on with `{run.resume_command}`") from None


def _check_replaceable(path: pathlib.Path) -> None:
    """Refuses to replace what is no run, or holds other files too."""
    if not (path / DESCRIPTION).is_file():
        raise RunError(f"{path}: exists and is no run folder, so --force does not replace it")
    foreign = [name for name in _content(path) if not _is_ours(name)]
    if foreign:
        raise RunError(
            f"{path}: holds {', '.join(foreign[:3])}{' …' if foreign[3:] else ''}, which Algoscope "
            "did not write, so --force does not replace it; give another name, or move that away"
        )


def _check_outside_runs(path: pathlib.Path) -> None:
    """Refuses a folder within a run: no list would find what is made there."""
    for above in path.absolute().parents:
        try:
            open_run(above)
        except RunError:  # None, or a run.json of somebody else's.
            continue
        raise RunError(f"{path}: lies in a run ({above}), needed a folder outside of it")


def check_free(path: pathlib.Path, *, force: bool = False) -> None:
    """Refuses a name that is taken, before any work is done."""
    _check_outside_runs(path)
    if not path.exists() or (path.is_dir() and _begun_in_vain(path)):
        return
    if force and path.is_dir():
        _check_replaceable(path)
        return
    raise RunError(_taken(path))


def _begun_in_vain(path: pathlib.Path) -> bool:
    """Whether it is empty, or a process was killed there before it had begun a run."""
    content = [path / name for name in _content(path)]
    return not content or ((path / lock.FILE).is_file() and all(map(_is_a_beginning, content)))


def _is_a_beginning(path: pathlib.Path) -> bool:
    """Whether it may be written before the description."""
    if path.name == "reasoner" and path.is_dir():
        return all(each.suffix == ".safetensors" for each in path.iterdir())
    if path.name == "teacher" and path.is_dir():
        return {each.name for each in path.iterdir()} <= set(_TEACHER)
    return any(path.match(pattern) for pattern in _BEGINNING)


def _content(path: pathlib.Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir() if entry.name != lock.FILE)


def _is_ours(name: str) -> bool:
    return any(pathlib.PurePath(name).match(pattern) for pattern in _FILES)


def _remove(path: pathlib.Path) -> None:
    """Removes the folder, unless it holds files that Algoscope did not write."""
    for name in filter(_is_ours, os.listdir(path)):
        if (path / name).is_dir():
            shutil.rmtree(path / name, ignore_errors=True)
        else:
            (path / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.rmdir()


def _taken(path: pathlib.Path) -> str:
    if not (path / DESCRIPTION).is_file():
        return f"{path}: exists already; needed a name that is free"
    try:
        run = open_run(path)
    except RunError as error:
        return f"{error}; give another name, or --force to replace this run, which is damaged"
    match run.state:
        case State.FINISHED:
            return f"{path}: holds a finished run; give another name, or --force to replace it"
        case State.RUNNING:
            return f"{path}: holds a run that {run.progress}, or give another name"
        case _:
            return f"{path}: holds a run that {run.progress}, or --force to start anew"
