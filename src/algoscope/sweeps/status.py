"""Where the runs of a sweep are: done, running, failed with the last line of the error."""

import contextlib
import datetime
import enum
import os
import pathlib
from collections import Counter
from typing import Any, NamedTuple

from algoscope.runs import index, lock
from algoscope.runs.description import State
from algoscope.sweeps.drive import planned_in
from algoscope.sweeps.plan import Planned
from algoscope.sweeps.work import has_all
from algoscope.table import Table


class Stage(enum.StrEnum):
    """How far a run of a sweep is."""

    DONE = "done"
    """Trained, and all that comes after."""
    TRAINED = "trained"
    """What comes after training is missing."""
    RUNNING = "running"
    """Being trained, or judged, or reported."""
    FAILED = "failed"
    STOPPED = "stopped"
    """It goes on from its checkpoint when the sweep does."""
    WAITING = "waiting"


class Position(NamedTuple):
    """Where one run is."""

    planned: Planned
    stage: Stage
    step: int
    error: str = ""
    facts: "index.Facts | None" = None
    """What its folder says, if there is one that can be read."""


def positions(folder: pathlib.Path, found: index.Found | None = None) -> list[Position]:
    """Of all runs of the sweep in a folder, or of those that were found there."""
    planned = planned_in(folder)
    found = found or index.find(folder)
    entries = {entry.path.name: entry for entry in found.entries}
    failed = {name for name in os.listdir(folder) if name.endswith(".error")}
    return [_position(one, entries.get(one.item.name), failed) for one in planned]


def _position(planned: Planned, entry: "index.Entry | None", failed: set[str]) -> Position:
    item, error = planned.item, ""
    if f"{item.name}.error" in failed:
        with contextlib.suppress(FileNotFoundError):  # It has been begun again meanwhile.
            error = item.error.read_text(errors="replace").strip()
    if entry is None:
        stage, step, fault, facts = Stage.WAITING, 0, "", None
    else:
        step, fault, facts = entry.step, entry.fault, entry.facts
        stages = {State.RUNNING: Stage.RUNNING, State.STOPPED: Stage.STOPPED}
        stage = stages.get(entry.state, Stage.FAILED)
        if facts and entry.state is State.FINISHED:
            stage = Stage.DONE if has_all(item, facts.judged_on, facts.basis) else Stage.TRAINED
    if stage not in (Stage.DONE, Stage.RUNNING) and lock.is_taken(item.log):
        stage = Stage.RUNNING
    if error and stage is not Stage.RUNNING:
        stage = Stage.FAILED
    return Position(planned, stage, step, error or fault, facts)


def counts(places: list[Position]) -> Counter[Stage]:
    return Counter(place.stage for place in places)


def status_table(folder: pathlib.Path, places: list[Position]) -> Table:
    """A row a run."""
    axes = list(places[0].planned.axes) if places else []
    columns = ["run", *axes, "seeds", "step", "stage", "error"]
    rows = [
        [
            place.planned.item.name,
            *(value_text(place.planned.axes[axis]) for axis in axes),
            str(place.planned.item.config.seeds),
            f"{place.step}/{place.planned.item.config.steps}",
            place.stage,
            place.error,
        ]
        for place in places
    ]
    said = ", ".join(f"{count} {stage}" for stage, count in counts(places).items())
    return Table(f"{len(rows)} runs in {folder}: {said}", columns, rows)


def value_text(value: Any) -> str:
    """A value of an axis for readers: lists without brackets."""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if short == str(value) or float(short) == value else repr(value)


def span_text(seconds: float) -> str:
    """A time such as 2:05:00, or 193 h."""
    hours = seconds / 3600
    if hours >= 24:
        return f"{hours:,.0f}\N{NO-BREAK SPACE}h"
    return str(datetime.timedelta(seconds=round(seconds)))
