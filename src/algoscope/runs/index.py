"""The index of a folder of many runs: what lists say of each, read again only where files changed.

    .index.json        of each finished run, what lists say, and the stamps of the files it is from

A stamp is a file's time of change, size and inode. Runs are written by moving files into place, so
a run that changed has another stamp. A file that changed within `_RECENT` of being read is read
again, since clocks of file systems are coarse. Runs that are not finished are always looked at.
Below `MANY` runs there is no index: reading them takes no time.
"""

import contextlib
import json
import os
import pathlib
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from algoscope import progress
from algoscope.files import RunError, read_bytes, write_bytes
from algoscope.runs import abilities, checkpoints, lock, words
from algoscope.runs.comparison import outcome
from algoscope.runs.description import State
from algoscope.runs.folder import DESCRIPTION, open_run, run_folders
from algoscope.serialise import from_json, parse_json

MANY = 64
_FILE = ".index.json"
_FORMAT = 3
_FROM = (DESCRIPTION, "results.json", words.FILE, abilities.FILE)
"""Files that an entry is from."""
_RECENT = 2_000_000_000
"""Nanoseconds."""

Stamp = tuple[int, ...]
"""Of each file its time of change in nanoseconds, size and inode; zeros for one that is missing."""


class Facts(NamedTuple):
    """What lists and queries say of a finished run, or of one under way."""

    tasks: list[str]
    seeds: int
    steps: int
    device: str
    created: str
    finished: bool
    test: list[float]
    """The mean test score of each task."""
    seconds: float
    """From its beginning to its end, pauses included."""
    computed_seconds: float
    """Without them."""
    commit: str
    config: str
    """JSON."""
    sweep: str | None
    judged_on: int | None
    """About so many problems the falsifier tried, if there are verdicts."""
    basis: list[str]
    """Of each task, the digest of what judged; empty if that is not known."""


_NONE = type(None)
_KINDS: tuple[Any, ...] = (
    list, int, int, str, str, bool, list, float, float, str, str, (str, _NONE), (int, _NONE),
    list,
)  # fmt: skip
"""Of the fields, as `isinstance` takes them: thousands of runs are checked with every list."""


class Entry(NamedTuple):
    path: pathlib.Path
    name: str
    """The path below the root; the folder's own name if it is the root."""
    stamp: Stamp
    facts: Facts | None
    """None of a damaged run."""
    state: State
    step: int
    """Steps that are safe on disk."""
    fault: str = ""
    """Of a damaged run."""


class _Index(NamedTuple):
    format: int
    moment: int
    """When it was made: nanoseconds since 1970."""
    stamps: dict[str, list[int]]
    """By path below the root."""
    facts: dict[str, Facts]


class Found(NamedTuple):
    """The runs below a folder."""

    entries: list[Entry]
    """By path."""
    moment: int
    """Before any of them was looked at: nanoseconds since 1970."""


def entries(root: pathlib.Path) -> list[Entry]:
    """All runs below a folder, by path, as `folder.survey` finds them."""
    return find(root).entries


def find(root: pathlib.Path) -> Found:
    if not root.is_dir():
        raise RunError(f"{root}: got no folder, needed one that holds runs")
    known, moment = _read(root), time.time_ns()
    with progress.job("reading runs") as job:
        listed = []
        for entry in _entries(root, known):
            listed.append(entry)
            job.reach(len(listed), f"{len(listed):,}")
    finished = {entry.name: entry for entry in listed if entry.facts and entry.facts.finished}
    stamps = {name: list(entry.stamp) for name, entry in finished.items()}
    if len(listed) >= MANY and (known is None or stamps != known.stamps):
        facts = {name: entry.facts for name, entry in finished.items() if entry.facts}
        # A folder that cannot be written to is read anew each time.
        with contextlib.suppress(RunError):
            content = json.dumps(_Index(_FORMAT, moment, stamps, facts)._asdict())
            write_bytes(root / _FILE, content.encode())
    return Found(listed, moment)


def stamp_of(folder: pathlib.Path, *names: str) -> Stamp:
    numbers: list[int] = []
    for name in names:
        try:
            found = os.stat(f"{folder}{os.sep}{name}")
            numbers += (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            numbers += (0, 0, 0)
    return tuple(numbers)


def is_settled(stamp: Stamp, moment: int) -> bool:
    """Whether its files changed long enough before they were read."""
    return all(changed < moment - _RECENT for changed in stamp[::3])


def _entries(root: pathlib.Path, known: _Index | None) -> Iterator[Entry]:
    start = 0 if root == pathlib.Path() else len(os.path.join(root, ""))
    for path in run_folders(root):
        stamp, name = stamp_of(path, *_FROM), str(path)[start:] or path.name
        facts = None
        if known and known.stamps.get(name) == list(stamp) and is_settled(stamp, known.moment):
            facts = _facts(known.facts[name])
        if facts:
            yield Entry(path, name, stamp, facts, State.FINISHED, facts.steps)
        else:
            yield _looked_at(path, name, stamp)


def _looked_at(path: pathlib.Path, name: str, stamp: Stamp) -> Entry:
    try:
        run = open_run(path)
        scores = [value for name, value in outcome(run).items() if name.startswith("test ")]
        judged = words.Words.read(path)
        abilities.Abilities.read(path)
    except RunError as error:
        return Entry(path, name, stamp, None, State.DAMAGED, 0, str(error))
    facts = Facts(
        list(run.tasks),
        len(run.seeds),
        run.config["steps"],
        run.device,
        run.created,
        run.finished,
        scores,
        run.seconds,
        float(run.computed_seconds),
        run.description["environment"]["commit"] or "",
        json.dumps(run.config),
        run.description.get("sweep"),
        None if judged is None else judged.problems,
        [] if judged is None else [judged.basis.get(task, "") for task in run.tasks],
    )
    if run.finished:
        return Entry(path, name, stamp, facts, State.FINISHED, facts.steps)
    state = State.RUNNING if lock.is_held(path) else State.STOPPED
    return Entry(path, name, stamp, facts, state, checkpoints.latest_step(path) or 0)


def _read(root: pathlib.Path) -> _Index | None:
    """None if there is none that can be used."""
    try:
        content = parse_json(read_bytes(root / _FILE))
        # Entries are many, and only as good as their stamps: types are checked of the whole alone,
        # and of what is used, `_facts`.
        index = _Index(**from_json(dict[str, Any], content, where="index"))
    except (OSError, ValueError, TypeError):
        return None
    whole = isinstance(index.stamps, dict) and isinstance(index.facts, dict)
    whole &= isinstance(index.moment, int)
    if index.format != _FORMAT or not whole or index.stamps.keys() != index.facts.keys():
        return None
    return index


def _facts(content: Any) -> Facts | None:
    """What an index says of a run; None if that is damaged."""
    if not isinstance(content, list) or len(content) != len(_KINDS):
        return None
    facts = Facts(*content)
    whole = (
        all(map(isinstance, facts, _KINDS))
        and all(isinstance(task, str) for task in facts.tasks)
        and all(isinstance(score, float) for score in facts.test)
    )
    return facts if whole else None
