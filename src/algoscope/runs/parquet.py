"""Tables: what runs hold as Parquet, and SQL over all of them. Needs DuckDB.

runs        run, created, state, device, commit, config (JSON)
metrics     run, seed, task, step, loss
validation  run, seed, task, step, score
results     run, seed, task, name, output, value
"""

import json
import os
import pathlib
import shutil
from typing import NamedTuple

import duckdb
import numpy as np

from algoscope.files import RunError, explained, place
from algoscope.runs import lock
from algoscope.runs.folder import DESCRIPTION, Run, list_runs, open_run, write_description
from algoscope.runs.reservation import reserved

_MARK = b"PAR1"
"""At both ends of a Parquet file."""
_TABLES = ("metrics", "validation", "results")
_READ_ONLY = (
    "enable_external_access = false",
    "python_enable_replacements = false",
    "lock_configuration = true",
)
"""DuckDB's own settings: no files or extensions, no variables of this process, no way back."""


def write(run: Run) -> None:
    """Writes a finished run's tables beside its plain files."""
    metrics = run.metrics
    steps = np.arange(len(metrics.loss), dtype=np.int32)
    _write(run, "metrics", _long(run, steps, metrics.loss, "loss"))
    validation = _long(run, metrics.validation_steps, metrics.validation, "score")
    _write(run, "validation", validation)
    _write(run, "results", _results(run))


def _write(run: Run, name: str, columns: dict[str, np.ndarray]) -> None:
    def fill(path: pathlib.Path) -> None:
        with duckdb.connect() as connection:
            connection.register("columns", columns)
            connection.execute("copy columns to $path (format parquet)", {"path": str(path)})

    place(run.path / f"{name}.parquet", fill)


def take_in(path: pathlib.Path, root: pathlib.Path, *, force: bool = False) -> Run:
    """Copies a run that was made elsewhere below `root`, with its tables."""
    run = open_run(path)
    run.results  # noqa: B018 - raises if the run is not finished
    target = root / path.resolve().name
    if target.resolve() != path.resolve():
        with reserved(target, force=force) as reservation, explained(target):
            # The description last: a folder that has one is a whole run.
            ignored = shutil.ignore_patterns(DESCRIPTION, lock.FILE, ".unfinished-*")
            shutil.copytree(path, reservation.emptied(), ignore=ignored, dirs_exist_ok=True)
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
    runs = list_runs(root)
    if not runs:
        raise RunError(f"{root}: got a folder without runs, needed one that holds some")
    with duckdb.connect() as connection:
        connection.register("runs", _described(runs))
        for name in _TABLES:
            paths = [str(p) for run in runs if _is_parquet(p := run.path / f"{name}.parquet")]
            if paths:
                listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
                # Metrics of many seeds are large: they are read where they are asked for.
                rows = "" if write or name in sql.lower() else "limit 0"
                connection.execute(
                    f"create {'view' if write else 'table'} {name} as "
                    "select parse_path(filename)[-2] as run, * exclude (filename) "
                    f"from read_parquet([{listed}], filename = true) {rows}"
                )
        if not write:
            for setting in _READ_ONLY:
                connection.execute(f"set {setting}")
        try:
            answer = connection.execute(sql)
            columns = [column[0] for column in answer.description or []]
            return QueryResult(columns, answer.fetchall())
        except duckdb.PermissionException as error:
            raise RunError(
                f"query: {error}; a query reaches the tables of the runs alone, --write allows more"
            ) from None
        except duckdb.Error as error:
            raise RunError(f"query: {error}") from None


def _is_parquet(path: pathlib.Path) -> bool:
    """Whether it is a whole Parquet file: one that is not is left out."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(_MARK)) == _MARK
            file.seek(-len(_MARK), os.SEEK_END)
            return begins and file.read() == _MARK
    except OSError:
        return False


def _described(runs: list[Run]) -> dict[str, np.ndarray]:
    columns = {
        "run": [run.name for run in runs],
        "created": [run.created for run in runs],
        "state": [run.state for run in runs],
        "device": [run.device for run in runs],
        "commit": [run.description["environment"]["commit"] or "" for run in runs],
        "config": [json.dumps(run.config) for run in runs],
    }
    return {name: np.array(values, object) for name, values in columns.items()}


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
