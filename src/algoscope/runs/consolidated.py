"""Tables of all runs of a folder, for SQL. Of many runs they are consolidated: one Parquet file
for a table, where each run has one of its own, since it is files that take time, not rows.

    .tables/results.parquet      rows of many runs, with the path of each run below the folder
    .tables/results.json         which runs those are, and the stamps of the files they came from

Runs that changed since, or that are new, are read from their own files; when they are many, the
tables are consolidated again. The loss of every step is as large as all else together and seldom
asked for, so `metrics` stays with the runs. A folder that cannot be written to stays as it is.
"""

import contextlib
import json
import operator
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import duckdb
import numpy as np

from algoscope import progress
from algoscope.files import RunError, place, read_json, write_bytes
from algoscope.runs.abilities import FILE as ABILITIES
from algoscope.runs.abilities import Abilities
from algoscope.runs.folder import open_run
from algoscope.runs.index import MANY, Entry, Facts, Stamp, is_settled, stamp_of
from algoscope.runs.words import FILE as WORDS
from algoscope.runs.words import Words

TABLES = ("metrics", "validation", "results", "verdicts", "abilities")
_CONSOLIDATED = ("validation", "results", "verdicts")
_FOLDER = ".tables"
_FORMAT = 1
FAULTS = (duckdb.Error, RuntimeError)
"""What DuckDB raises: its own errors, and those of C++."""
_MARK = b"PAR1"
"""At both ends of a Parquet file."""
_IN_JSON = {"verdicts": WORDS, "abilities": ABILITIES}
"""Tables whose rows are in a JSON file of each run; the others' are in a Parquet file."""
_JSON_COLUMNS = {
    "verdicts": {
        "run": "varchar", "seed": "int", "task": "varchar", "word": "varchar", "problems": "int",
    },
    "abilities": {
        "run": "varchar", "model": "varchar", "kind": "varchar", "ability": "varchar",
        "word": "varchar", "heads": "varchar", "share": "double", "low": "double",
        "high": "double", "p": "double", "evidence": "varchar",
    },
}  # fmt: skip
_OF_A_NUMBER = {"seed": "int", "task": "varchar", "step": "int"}
_COLUMNS = {
    "metrics.parquet": {**_OF_A_NUMBER, "loss": "double"},
    "validation.parquet": {**_OF_A_NUMBER, "score": "double"},
    "results.parquet": {
        "seed": "int", "task": "varchar", "name": "varchar", "output": "varchar", "value": "double",
    },
}  # fmt: skip
"""What a run's own files hold."""
_MOST_NAMED = 3
"""Of the files that are left out."""


class _Manifest(NamedTuple):
    """What a consolidated table holds."""

    format: int
    moment: int
    """When its files were read: nanoseconds since 1970."""
    stamps: dict[str, list[int]]
    """By path below the folder."""


class _Source(NamedTuple):
    """The file of one run that has its rows."""

    entry: Entry
    name: str
    """Of the file."""
    stamp: Stamp

    @property
    def file(self) -> pathlib.Path:
        return self.entry.path / self.name


def create(
    connection: duckdb.DuckDBPyConnection,
    root: pathlib.Path,
    entries: Sequence[Entry],
    name: str,
    *,
    moment: int,
    with_rows: bool,
    lazily: bool = False,
) -> None:
    """Makes the table `name` of these runs, which were found at this moment; without rows it says
    what its columns are. Lazily it is a view, which is read when it is asked. A table of which no
    run has any file is not made, unless its rows are in JSON."""
    sources = list(_sources(entries, name))
    table = _Table(connection, root, name, moment, with_rows, lazily)
    try:
        table.create(sources)
    except FAULTS:
        # Some file is damaged: which one is seen when each is read alone.
        (root / _FOLDER / f"{name}.json").unlink(missing_ok=True)
        table.create([one for one in sources if _is_readable(connection, one)])


class _Table(NamedTuple):
    """A table that is to be made; see `create`."""

    connection: duckdb.DuckDBPyConnection
    root: pathlib.Path
    name: str
    moment: int
    with_rows: bool
    lazily: bool

    def create(self, found: Sequence[_Source]) -> None:
        connection, root, name = self.connection, self.root, self.name
        sources = found if self.with_rows else next(([one] for one in found if _is_whole(one)), [])
        fresh = []
        if self.with_rows and len(sources) >= MANY and name in _CONSOLIDATED:
            fresh = _fresh(connection, root, name, sources, self.moment)
        known = {one.entry.name for one in fresh}
        loose = [one for one in sources if one.entry.name not in known]
        parts = [_loose(connection, name, loose)]
        if fresh:
            parts.append(_kept(connection, root, name, fresh))
        if parts := [part for part in parts if part]:
            rows = " union all by name ".join(f"select * exclude (path) from {p}" for p in parts)
            kind = "view" if self.lazily else "table"
            limit = "" if self.with_rows or self.lazily else " limit 0"
            connection.execute(f"create {kind} {name} as {rows}{limit}")
        if not self.lazily:
            for helper in (f"fresh_{name}", f"loose_{name}"):
                connection.unregister(helper)


def _sources(entries: Sequence[Entry], name: str) -> Iterator[_Source]:
    """Of the runs that have a file with rows of this table, and are not damaged."""
    file = _IN_JSON.get(name, f"{name}.parquet")
    for entry in entries:
        if entry.facts and any(stamp := stamp_of(entry.path, file)):
            yield _Source(entry, file, stamp)


def _fresh(
    connection: duckdb.DuckDBPyConnection,
    root: pathlib.Path,
    name: str,
    sources: Sequence[_Source],
    moment: int,
) -> list[_Source]:
    """Those whose rows the consolidated table has, once it has been made anew where many lack."""
    manifest = _read(root, name)
    fresh = [
        one
        for one in sources
        if manifest
        and manifest.stamps.get(one.entry.name) == list(one.stamp)
        and is_settled(one.stamp, manifest.moment)
    ]
    if len(sources) - len(fresh) < MANY:
        return fresh
    known = {one.entry.name for one in fresh}
    loose = [one for one in sources if one.entry.name not in known and _is_whole(one)]
    if not loose:
        return fresh
    parts = [_loose(connection, name, loose)]
    if fresh:
        parts.append(_kept(connection, root, name, fresh))
    selected = " union all by name ".join(f"select * from {part}" for part in parts if part)
    stamps = {one.entry.name: list(one.stamp) for one in (*fresh, *loose)}
    # A folder that cannot be written to is read anew each time.
    with contextlib.suppress(RunError, OSError):
        (root / _FOLDER).mkdir(exist_ok=True)

        def fill(path: pathlib.Path) -> None:
            connection.execute(
                f"copy (select * from ({selected}) order by path) to $path (format parquet)",
                {"path": str(path)},
            )

        place(root / _FOLDER / f"{name}.parquet", fill)
        content = json.dumps(_Manifest(_FORMAT, moment, stamps)._asdict())
        write_bytes(root / _FOLDER / f"{name}.json", content.encode())
        return [*fresh, *loose]
    return fresh


def _read(root: pathlib.Path, name: str) -> _Manifest | None:
    """None if there is no table, or none that can be used."""
    if not (root / _FOLDER / f"{name}.parquet").is_file():
        return None
    try:
        content = read_json(root / _FOLDER / f"{name}.json", dict[str, Any])
        # A stamp is compared alone: one of another type is that of no file.
        manifest = _Manifest(**content)
    except (RunError, TypeError):
        return None
    whole = isinstance(manifest.moment, int) and isinstance(manifest.stamps, dict)
    return manifest if whole and manifest.format == _FORMAT else None


def _kept(
    connection: duckdb.DuckDBPyConnection,
    root: pathlib.Path,
    name: str,
    fresh: Sequence[_Source],
) -> str:
    """The rows of these runs in the consolidated table, as something to select from."""
    paths = np.array([one.entry.name for one in fresh], object)
    connection.register(f"fresh_{name}", {"path": paths})
    file = str(root / _FOLDER / f"{name}.parquet").replace("'", "''")
    return f"(select * from read_parquet('{file}') semi join fresh_{name} using (path))"


def _loose(connection: duckdb.DuckDBPyConnection, name: str, loose: Sequence[_Source]) -> str:
    """The rows in the runs' own files, with the run's name and path; empty if there is none."""
    if name in _IN_JSON:
        kinds = {"path": "varchar", **_JSON_COLUMNS[name]}
        rows = [(one.entry.name, one.entry.path.name, *row) for one in loose for row in _rows(one)]
        columns = zip(*rows, strict=True) if rows else ((),) * len(kinds)
        arrays = {key: np.array(each, object) for key, each in zip(kinds, columns, strict=True)}
        connection.register(f"loose_{name}", arrays)
        casts = ", ".join(f"{column}::{kind} as {column}" for column, kind in kinds.items())
        return f"(select {casts} from loose_{name})"
    whole, damaged = [], []
    for one in loose:
        (whole if _is_whole(one) else damaged).append(one)
    _say_left_out(damaged)
    if not whole:
        return ""
    columns = {
        "filename": [str(one.file) for one in whole],
        "path": [one.entry.name for one in whole],
        "run": [one.entry.path.name for one in whole],
    }
    arrays = {key: np.array(values, object) for key, values in columns.items()}
    connection.register(f"loose_{name}", arrays)
    listed = ", ".join("'" + file.replace("'", "''") + "'" for file in columns["filename"])
    return (
        f"(select path, run, rows.* exclude (filename) from read_parquet([{listed}], "
        f"filename = true) as rows join loose_{name} using (filename))"
    )


def _first_seed(entry: Entry, facts: Facts) -> int:
    try:
        return operator.index(json.loads(facts.config)["first_seed"])
    except (ValueError, LookupError, TypeError):  # The index is damaged, not the run.
        return open_run(entry.path).config["first_seed"]


def _rows(source: _Source) -> Iterator[tuple[object, ...]]:
    """Of a JSON file, without the names of the run."""
    entry = source.entry
    if source.name == ABILITIES:
        known = Abilities.read(entry.path)
        for found in known.found if known else ():
            yield tuple(found.row)
    elif entry.facts and (kept := Words.read(entry.path)):
        first = _first_seed(entry, entry.facts)
        for task, words in kept.words.items():
            yield from ((first + k, task, word, kept.problems) for k, word in enumerate(words))


def _is_readable(connection: duckdb.DuckDBPyConnection, source: _Source) -> bool:
    """Whether the file holds what it should; one that does not is left out, and named."""
    columns = _COLUMNS.get(source.name)
    if columns is None or not _is_whole(source):
        return True
    # What is only counted, DuckDB takes from the end of the file.
    read = ", ".join(f'sum(hash("{name}"::{kind}))' for name, kind in columns.items())
    file = str(source.file)
    try:
        connection.execute(f"select {read} from read_parquet($file)", {"file": file}).fetchall()
        listed = connection.execute("select * from read_parquet($file) limit 0", {"file": file})
        fits = {column[0] for column in listed.description or ()} == set(columns)
    except FAULTS:
        fits = False
    if not fits:
        _say_left_out([source])
    return fits


def _say_left_out(sources: Sequence[_Source]) -> None:
    for one in sources[:_MOST_NAMED]:
        progress.note(
            f"{one.file}: cannot be read, its rows are left out; if it is damaged, `algoscope runs "
            f"import {one.entry.path} --root {one.entry.path.parent}` makes it anew"
        )
    if len(sources) > _MOST_NAMED:
        progress.note(f"and {len(sources) - _MOST_NAMED} others")


def _is_whole(source: _Source) -> bool:
    """Whether it is a whole file: what is none, and a Parquet file that is not, is left out."""
    if not source.file.is_file():
        return False
    if source.file.suffix != ".parquet":
        return True
    try:
        with source.file.open("rb") as file:
            begins = file.read(len(_MARK)) == _MARK
            file.seek(-len(_MARK), os.SEEK_END)
            return begins and file.read() == _MARK
    except OSError:
        return False
