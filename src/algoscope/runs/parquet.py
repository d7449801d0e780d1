"""Tables: what runs hold as Parquet, and SQL over all of them. Needs DuckDB.

runs        run, sweep, created, seconds, state, device, commit, config (JSON)
metrics     run, seed, task, step, loss
validation  run, seed, task, step, score
results     run, seed, task, name, output, value
verdicts    run, seed, task, word, problems
abilities   run, model, kind, ability, word, heads, share, low, high, p, evidence
"""

import concurrent.futures
import contextlib
import pathlib
import shutil
import threading
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import duckdb
import numpy as np

from algoscope import capacity, progress
from algoscope.errors import short
from algoscope.files import RunError, beside, explained, place
from algoscope.runs import consolidated, index, lock
from algoscope.runs.folder import DESCRIPTION, Run, open_run, write_description
from algoscope.runs.index import Entry
from algoscope.runs.reservation import reserved

_READ_ONLY = (
    "enable_external_access = false",
    "python_enable_replacements = false",
    "lock_configuration = true",
)
"""DuckDB's own settings: no files or extensions, no variables of this process, no way back."""

_PART = 10_000
"""Rows of an answer that are taken at once."""
_LEAST_FREE = 5e8
"""Bytes that an answer has to leave."""


def write(run: Run) -> None:
    """Writes a finished run's tables beside its plain files."""
    metrics = run.metrics
    steps = np.arange(len(metrics.loss), dtype=np.int32)
    _write(run, "metrics", _long(run, steps, metrics.loss, "loss"))
    validation = _long(run, metrics.validation_steps, metrics.validation, "score")
    _write(run, "validation", validation)
    _write(run, "results", _results(run))


def _write(run: Run, name: str, columns: dict[str, np.ndarray]) -> None:
    place(run.path / f"{name}.parquet", lambda path: _copy(path, columns))


def _copy(path: pathlib.Path, columns: dict[str, np.ndarray]) -> None:
    with duckdb.connect() as connection:
        connection.register("columns", columns)
        connection.execute("copy columns to $path (format parquet)", {"path": str(path)})


def write_rows(path: pathlib.Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table as Parquet: columns of numbers where all are, else of texts."""
    columns = {}
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        numbers = all(isinstance(value, int | float) for value in values)
        columns[name] = np.array(values) if numbers else np.array(list(map(str, values)), object)
    _copy(path, columns)


def take_in(path: pathlib.Path, root: pathlib.Path, *, force: bool = False) -> Run:
    """Copies a run that was made elsewhere below `root`, with its tables."""
    run = open_run(path)
    run.results  # noqa: B018 - raises if the run is not finished
    target = root / path.resolve().name
    if target.resolve() != path.resolve():
        with reserved(target, force=force) as reservation, explained(target):
            copied = beside(reservation.emptied() / path.name)
            ignored = shutil.ignore_patterns(DESCRIPTION, lock.FILE, ".unfinished-*")
            shutil.copytree(path, copied, ignore=ignored, dirs_exist_ok=True)
            for entry in copied.iterdir():
                entry.rename(target / entry.name)
            copied.rmdir()
            # The description last: a folder that has one is a whole run.
            write_description(target, run.description)
    run = open_run(target)
    write(run)
    return run


class QueryResult(NamedTuple):
    columns: list[str]
    rows: list[tuple]


def query(root: pathlib.Path, sql: str, *, write: bool = False) -> QueryResult:
    """The answer to a query over the runs below `root`.

    A query reaches the tables alone: no file, no extension, no setting. With `write` it may do all
    that DuckDB does, such as copy … to a file.
    """
    # Tables of many runs are large: they are read where they are asked for.
    named = [name for name in consolidated.TABLES if write or name in sql.lower()]
    found = index.find(root)
    for entry in found.entries:
        if entry.fault:
            progress.note(f"left out: {entry.fault}")
    with connected(root, named, lazily=write, found=found) as connection:
        if not write:
            for setting in _READ_ONLY:
                connection.execute(f"set {setting}")
        try:
            return _answer(connection, sql)
        except duckdb.PermissionException as error:
            raise RunError(
                f"query: {_first_line(error)}; a query reaches the tables of the runs alone, "
                "--write allows more"
            ) from None
        except consolidated.FAULTS as error:
            tables = ", ".join(("runs", *consolidated.TABLES))
            raise RunError(f"query: {_first_line(error)} (the tables are {tables})") from None


def _first_line(error: Exception) -> str:
    """What DuckDB says, without the part of the query that it shows below."""
    first, *_ = str(error).splitlines() or [repr(error)]
    return first


def _answer(connection: duckdb.DuckDBPyConnection, sql: str) -> QueryResult:
    """Asked for in a thread: in this one, nobody would hear Ctrl-C before the answer; and taken in
    parts, since DuckDB lets nobody else do anything meanwhile."""
    stopped = threading.Event()

    def ask() -> QueryResult:
        answer = connection.execute(sql)
        if answer is None:
            raise RunError(f"query: got {short(sql)}, which asks for nothing, needed a select")
        columns = [column[0] for column in answer.description or []]
        rows: list[tuple] = []
        while not stopped.is_set() and (part := answer.fetchmany(_PART)):
            rows += part
            what = f"query: an answer of more than {len(rows):,} rows"
            capacity.check(what, _LEAST_FREE, "ask for fewer, such as limit 1000")
        return QueryResult(columns, rows)

    with concurrent.futures.ThreadPoolExecutor(1) as asking:
        answered = asking.submit(ask)
        try:
            return answered.result()
        except BaseException:
            stopped.set()
            connection.interrupt()
            raise


@contextlib.contextmanager
def connected(
    root: pathlib.Path,
    named: Collection[str],
    *,
    lazily: bool = False,
    found: index.Found | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with the tables of the runs below `root`, or of those that were found there:
    the tables named with their rows, others with their columns alone. Lazily they are views."""
    found = found or index.find(root)
    entries = [entry for entry in found.entries if entry.facts]
    if not entries:
        raise RunError(f"{root}: got a folder without runs, needed one that holds some")
    with duckdb.connect() as connection:
        connection.register("runs", _described(entries))
        try:
            with progress.job("reading tables"):
                for name in consolidated.TABLES:
                    consolidated.create(
                        connection,
                        root,
                        entries,
                        name,
                        moment=found.moment,
                        with_rows=name in named,
                        lazily=lazily,
                    )
        except consolidated.FAULTS as error:
            raise RunError(f"{root}: the tables of its runs cannot be read ({error})") from None
        yield connection


def _described(entries: Sequence[Entry]) -> dict[str, np.ndarray]:
    known = [(entry, facts) for entry in entries if (facts := entry.facts)]
    columns = {
        "run": [entry.path.name for entry, _ in known],
        "sweep": [facts.sweep or "" for _, facts in known],
        "created": [facts.created for _, facts in known],
        "seconds": [facts.seconds for _, facts in known],
        "state": [str(entry.state) for entry, _ in known],
        "device": [facts.device for _, facts in known],
        "commit": [facts.commit for _, facts in known],
        "config": [facts.config for _, facts in known],
    }
    seconds = np.array(columns.pop("seconds"), np.float64)
    texts = {name: np.array(values, object) for name, values in columns.items()}
    return texts | {"seconds": seconds}


def _long(run: Run, steps: np.ndarray, values: np.ndarray, name: str) -> dict[str, np.ndarray]:
    """Columns from values [step, seed, task], with all steps of a seed one after the other."""
    values = np.moveaxis(values, 0, -1)
    seeds, tasks, count = values.shape
    return {
        "seed": np.repeat(np.array(run.seeds, np.int32), tasks * count),
        "task": np.tile(np.repeat(np.array(run.tasks, object), count), seeds),
        "step": np.tile(steps, seeds * tasks),
        name: np.ascontiguousarray(values).ravel(),
    }


def _results(run: Run) -> dict[str, np.ndarray]:
    """All seeds of a number one after the other."""
    results = run.results
    numbers = {
        (task, name, output): values
        for name in ("test", "fresh", "seen")
        for task, scores in results[name].items()
        for output, values in scores.items()
    }
    numbers |= {("", name, ""): results[name] for name in ("best_validation", "best_step")}
    tasks, names, outputs = np.array([*numbers], object).repeat(len(run.seeds), 0).T
    return {
        "seed": np.tile(np.array(run.seeds, np.int32), len(numbers)),
        "task": tasks,
        "name": names,
        "output": outputs,
        "value": np.array([*numbers.values()], np.float64).ravel(),
    }
