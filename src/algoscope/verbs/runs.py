"""`algoscope runs`: list, query, compare and import run folders."""

import dataclasses
import json
import pathlib
import statistics
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from algoscope.verbs.printing import print_table

if TYPE_CHECKING:
    from algoscope.runs import Run

_ROOT = pathlib.Path("runs")


@dataclasses.dataclass(frozen=True)
class List:
    """List the runs."""

    root: pathlib.Path = _ROOT
    """The folder that holds the runs."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import runs
        from algoscope.table import Table

        rows = [_summary(run) for run in runs.list_runs(self.root)]
        if self.json:
            print(json.dumps(rows, indent=2))
            return
        columns = ["run", "tasks", "seeds", "step", "state", "test", "device", "created"]
        print_table(
            Table(
                f"{len(rows)} runs in {self.root}",
                columns,
                [[str(row[column]) for column in columns] for row in rows],
            )
        )


@dataclasses.dataclass(frozen=True)
class Query:
    """Ask across runs in SQL; tables are runs, metrics, validation and results."""

    sql: tyro.conf.Positional[str]
    """The query, such as "select run, avg(value) from results where name = 'test' group by run"."""
    root: pathlib.Path = _ROOT
    """The folder that holds the runs."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope.runs import parquet
        from algoscope.table import Table

        columns, rows = parquet.query(self.root, self.sql)
        if self.json:
            print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], default=str))
            return
        print_table(Table(f"{len(rows)} rows", columns, [[_short(v) for v in row] for row in rows]))


@dataclasses.dataclass(frozen=True)
class Compare:
    """Compare runs: what differs in their configurations, and what came of it."""

    paths: tyro.conf.Positional[tuple[pathlib.Path, ...]]
    """The run folders, two or more."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import runs
        from algoscope.table import Table

        if len(self.paths) < 2:
            raise ValueError(f"compare: got {len(self.paths)} run, needed at least two")
        opened = [runs.open(path) for path in self.paths]
        described = [run.options | _outcome(run) for run in opened]
        names = list(dict.fromkeys(name for of_run in described for name in of_run))
        rows = {
            name: [of_run.get(name) for of_run in described]
            for name in names
            if len({json.dumps(of_run.get(name)) for of_run in described}) > 1
        }
        if self.json:
            print(json.dumps({"runs": [str(p) for p in self.paths], "differences": rows}))
            return
        print_table(
            Table(
                f"{len(rows)} differences",
                ["", *(str(path) for path in self.paths)],
                [[name, *map(_short, values)] for name, values in rows.items()],
            )
        )


@dataclasses.dataclass(frozen=True)
class Import:
    """Take in run folders that were made elsewhere, and make their tables."""

    paths: tyro.conf.Positional[tuple[pathlib.Path, ...]]
    """The run folders."""
    root: pathlib.Path = _ROOT
    """The folder to copy them into; those that are there already stay where they are."""
    force: bool = False
    """Replace runs that have these names."""

    def run(self) -> None:
        from algoscope.runs import parquet

        if not self.paths:
            raise ValueError("import: got no run folder, needed at least one")
        for path in self.paths:
            print(parquet.take_in(path, self.root, force=self.force).path)


@dataclasses.dataclass(frozen=True)
class Runs:
    """List, query, compare and import runs; alone it lists those in ./runs."""

    action: tyro.conf.OmitSubcommandPrefixes[
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Query, tyro.conf.subcommand("query")]
        | Annotated[Compare, tyro.conf.subcommand("compare")]
        | Annotated[Import, tyro.conf.subcommand("import")]
    ] = dataclasses.field(default_factory=List)

    def run(self) -> None:
        self.action.run()


def _summary(run: "Run") -> dict[str, Any]:
    return {
        "run": run.name,
        "tasks": " ".join(run.tasks),
        "seeds": len(run.seeds),
        "step": f"{run.step}/{run.config['steps']}",
        "state": "finished" if run.finished else "stopped",
        "test": " ".join(
            f"{value:.4f}" for name, value in _outcome(run).items() if name.startswith("test ")
        ),
        "device": run.description["environment"]["device"],
        "created": run.description["created"],
    }


def _outcome(run: "Run") -> dict[str, Any]:
    """Means over seeds."""
    if not run.finished:
        return {"step": run.step}
    results = run.results
    return {
        f"{name} {task}": statistics.fmean(scores["score"])
        for name in ("test", "fresh", "seen")
        for task, scores in results.get(name, {}).items()
    } | {
        name.replace("_", " "): statistics.fmean(results[name])
        for name in ("best_validation", "best_step")
        if name in results
    }


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
