"""The process that drives a sweep: plans it, hands what is missing to an engine, and makes the
tables of what came out.

    ROOT/SWEEP/sweep.json          the specification
    ROOT/SWEEP/RUN/                ordinary run folders, with RUN.log and RUN.error beside them
    ROOT/SWEEP/.driver             who drives it, as long as the lock is held
"""

import contextlib
import functools
import json
import os
import pathlib
import platform
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from algoscope import progress
from algoscope.errors import ConfigError
from algoscope.files import RunError, read_json, write_bytes
from algoscope.runs import lock, reservation
from algoscope.serialise import to_json
from algoscope.stopping import asked_to_stop
from algoscope.sweeps.engines import Engine
from algoscope.sweeps.plan import Item, Planned, Settings, plan
from algoscope.sweeps.spec import Sweep, checked, from_content
from algoscope.sweeps.work import End, Outcome, is_done
from algoscope.training.plan import training_faults

SPECIFICATION = "sweep.json"
_DRIVER = ".driver"
_IN_SIGHT, _LOOK = 90.0, 1.0
"""Seconds after which a file that another machine wrote is surely seen here, and between looks."""
_FORMAT = 1


class Driver(NamedTuple):
    """The process that drives a sweep."""

    host: str
    pid: int


class Driven(NamedTuple):
    """What a call did."""

    runs: int
    """Of the sweep."""
    done_before: int
    outcomes: list[Outcome]

    @property
    def ends(self) -> Counter[End]:
        return Counter(outcome.end for outcome in self.outcomes)


def drive(
    sweep: Sweep,
    folder: pathlib.Path,
    engine: Engine,
    settings: Settings | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Driven:
    """Makes the runs that are missing. Ctrl-C and SIGTERM end those under way in checkpoints, and
    raise `Stopped`, as does whoever stops some of them elsewhere; the same call goes on."""
    settings = settings or Settings(sweep.after, sweep.problems)
    faults_of = functools.partial(
        training_faults, at_once=settings.at_once, devices=settings.devices, room=engine.room
    )
    sweep = checked(sweep, faults_of)
    with driving(folder):
        planned = plan(sweep, folder, settings)
        missing = [one.item for one in planned if not is_done(one.item)]
        # Those of an extended sweep have other numbers of seeds.
        others = [item for item in missing if item.config.seeds != sweep.seeds]
        faults = dict.fromkeys(
            f"{item.name}: {fault}" for item in others for fault in faults_of(item.config)
        )
        if faults:
            raise ConfigError("\n".join(faults))
        write_specification(sweep, folder)
        report(f"{len(planned)} runs, {len(planned) - len(missing)} done before, in {folder}")
        outcomes = []
        with (
            asked_to_stop() as stop,
            progress.job("making runs", len(missing)) as job,
            contextlib.closing(engine.run(missing, stop)) as ending,
        ):
            for outcome in ending:
                outcomes.append(outcome)
                job.advance()
                error = f": {outcome.error}" if outcome.error else ""
                report(f"[{len(outcomes)}/{len(missing)}] {outcome.name} {outcome.end}{error}")
            stopped = stop.is_set()
    driven = Driven(len(planned), len(planned) - len(missing), outcomes)
    if left := driven.ends[End.STOPPED]:
        by = "stopped" if stopped else "some runs were stopped, not by this command"
        raise stop.stopped(f"{by}: {left} are not finished; the same command goes on")
    finished = {outcome.name for outcome in outcomes if outcome.end is End.FINISHED}
    away = _not_there([item for item in missing if item.name in finished])
    if away:
        raise RunError(
            f"{folder}: got {len(away)} runs that were finished elsewhere and are not here, such "
            f"as {away[0].name}; needed a folder that all workers share, or --storage"
        )
    return driven


def _not_there(items: list[Item]) -> list[Item]:
    """Those of finished runs that do not come in sight: on some file systems it takes a while."""
    until = time.monotonic() + _IN_SIGHT
    while True:
        items = [item for item in items if not os.path.isfile(f"{item.path}/results.json")]
        if not items or time.monotonic() > until:
            return items
        time.sleep(_LOOK)


@contextlib.contextmanager
def driving(folder: pathlib.Path) -> Iterator[None]:
    """Keeps other processes from driving the sweep, and says who does."""
    with reservation.for_runs(folder, "a sweep"):
        driver = Driver(platform.node(), os.getpid())
        write_bytes(folder / _DRIVER, json.dumps(to_json(driver)).encode())
        yield


def driver_of(folder: pathlib.Path) -> Driver | None:
    """The process that drives the sweep now."""
    if not lock.is_held(folder) or not (folder / _DRIVER).is_file():
        return None
    return read_json(folder / _DRIVER, Driver)


def interrupt(folder: pathlib.Path) -> Driver | None:
    """Asks the process that drives the sweep to stop; returns which, if there is one here."""
    driver = driver_of(folder)
    if driver is None:
        return None
    if driver.host != platform.node():
        raise RunError(
            f"{folder}: got a sweep that process {driver.pid} on {driver.host} is driving, needed "
            "one that is driven from this machine; cancel it there"
        )
    os.kill(driver.pid, signal.SIGTERM)
    return driver


def write_specification(sweep: Sweep, folder: pathlib.Path) -> None:
    content: dict[str, Any] = {"format": _FORMAT, **to_json(sweep)}
    write_bytes(folder / SPECIFICATION, json.dumps(content, indent=1).encode())


def read_specification(folder: pathlib.Path) -> Sweep:
    path = folder / SPECIFICATION
    if not path.is_file():
        raise RunError(f"{folder}: got no sweep, needed a folder that holds a {SPECIFICATION}")
    content = read_json(path, dict[str, Any])
    if content.pop("format", None) != _FORMAT:
        raise RunError(f"{path}: got a sweep of another version, needed format {_FORMAT}")
    try:
        return from_content(content, faults_of=None)
    except ConfigError as error:
        raise RunError(f"{path}: {error}") from None


def planned_in(folder: pathlib.Path) -> list[Planned]:
    """The runs of the sweep in a folder."""
    sweep = read_specification(folder)
    return plan(sweep, folder, Settings(sweep.after, sweep.problems))
