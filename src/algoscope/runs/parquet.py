"""Tables: what runs hold as Parquet, and SQL over all of them. Needs DuckDB.

runs        run, created, state, device, commit, config (JSON)
metrics     run, seed, task, step, loss
validation  run, seed, task, step, score
results     run, seed, task, name, output, value
"""

import json
import pathlib
import shutil
from typing import Any, NamedTuple

import duckdb
import numpy as np

from algoscope.files import RunError, explained, place
from algoscope.runs.folder import Run, list_runs, open_run

_TABLES = ("metrics", "validation", "results")
_SETS = ("test", "fresh", "seen")


def write(run: Run) -> None:
    """Writes a finished run's tables beside its plain files."""
    for name, columns in _columns(run).items():

        def fill(path: pathlib.Path, columns: dict[str, np.ndarray] = columns) -> None:
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
        if target.exists() and not force:
            raise RunError(f"{target}: exists already; give --force to replace it")
        with explained(target):
            root.mkdir(parents=True, exist_ok=True)

        def copy(temporary: pathlib.Path) -> None:
            shutil.copytree(path, temporary)

        place(target, copy)
    run = open_run(target)
    write(run)
    return run


class QueryResult(NamedTuple):
    columns: list[str]
    rows: list[tuple]


def query(root: pathlib.Path, sql: str) -> QueryResult:
    """The answer to a query over the runs below `root`."""
    runs = list_runs(root)
    if not runs:
        raise RunError(f"{root}: got a folder without runs, needed one that holds some")
    with duckdb.connect() as connection:
        connection.register("runs", _described(runs))
        for name in _TABLES:
            paths = [str(p) for run in runs if (p := run.path / f"{name}.parquet").exists()]
            if paths:
                listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
                connection.execute(
                    f"create view {name} as select parse_path(filename)[-2] as run, "
                    f"* exclude (filename) from read_parquet([{listed}], filename = true)"
                )
        try:
            answer = connection.execute(sql)
            columns = [column[0] for column in answer.description or []]
            return QueryResult(columns, answer.fetchall())
        except duckdb.Error as error:
            raise RunError(f"query: {error}") from None


def _described(runs: list[Run]) -> dict[str, np.ndarray]:
    rows = [
        {
            "run": run.name,
            "created": run.created,
            "state": run.description["state"],
            "device": run.device,
            "commit": run.description["environment"]["commit"] or "",
            "config": json.dumps(run.config),
        }
        for run in runs
    ]
    return {name: np.array([row[name] for row in rows], object) for name in rows[0]}


def _columns(run: Run) -> dict[str, dict[str, np.ndarray]]:
    metrics = run.metrics
    every_step = np.arange(len(metrics.loss), dtype=np.int32)
    return {
        "metrics": _long(run, every_step, metrics.loss, "loss"),
        "validation": _long(run, metrics.validation_steps, metrics.validation, "score"),
        "results": _results(run),
    }


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
    rows: list[tuple[Any, ...]] = []
    results = run.results
    for name in _SETS:
        for task, scores in results[name].items():
            for output, values in scores.items():
                rows += [
                    (seed, task, name, output, value)
                    for seed, value in zip(run.seeds, values, strict=True)
                ]
    for name in ("best_validation", "best_step"):
        rows += [
            (seed, "", name, "", float(value))
            for seed, value in zip(run.seeds, results[name], strict=True)
        ]
    columns = list(zip(*rows, strict=True))
    types = (np.int32, object, object, object, np.float64)
    names = ("seed", "task", "name", "output", "value")
    return {n: np.array(c, t) for n, c, t in zip(names, columns, types, strict=True)}
