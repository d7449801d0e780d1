"""`algoscope runs`: list, query, compare and import run folders."""

import dataclasses
import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from algoscope.table import Table
from algoscope.verbs.output import WITHOUT_JAX, Answer, Verb, number

if TYPE_CHECKING:
    from algoscope.runs import index


@dataclasses.dataclass(frozen=True, kw_only=True)
class _OverRuns(Verb):
    least_memory = WITHOUT_JAX
    root: pathlib.Path = pathlib.Path("runs")
    """The folder that holds the runs."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class List(_OverRuns):
    """List the runs, however deep they lie: running, stopped, finished or damaged."""

    def run(self) -> Answer:
        from algoscope.runs import index

        entries = index.entries(self.root)
        rows = sorted((_row(entry) for entry in entries), key=lambda row: row["run"])
        columns = ["run", "tasks", "seeds", "step", "state", "test", "device", "created"]
        cells = [[str(row.get(column, "")) for column in columns] for row in rows]
        table = Table(f"{len(rows)} runs in {self.root}", columns, cells)
        faults = (f"damaged: {entry.fault}" for entry in entries if entry.fault)
        return Answer(rows, (table, *faults))


def _row(entry: "index.Entry") -> dict[str, Any]:
    facts = entry.facts
    if facts is None:
        return {"run": entry.name, "state": entry.state}
    return {
        "run": entry.name,
        "tasks": " ".join(facts.tasks),
        "seeds": facts.seeds,
        "step": f"{entry.step}/{facts.steps}",
        "state": entry.state,
        "test": " ".join(f"{value:.4f}" for value in facts.test),
        "device": facts.device,
        "created": facts.created,
    }


@dataclasses.dataclass(frozen=True, kw_only=True)
class Query(_OverRuns):
    """Ask across runs in SQL; tables are runs, metrics, validation, results, verdicts and
    abilities."""

    sql: tyro.conf.Positional[str]
    """The query, such as "select run, avg(value) from results where name = 'test' group by run"."""
    write: bool = False
    """Let the query do all that DuckDB does, such as read other files or copy … to 'FILE'."""

    def run(self) -> Answer:
        from algoscope.runs import parquet

        columns, rows = parquet.query(self.root, self.sql, write=self.write)
        return Answer(
            [dict(zip(columns, row, strict=True)) for row in rows],
            (Table(f"{len(rows)} rows", columns, [[number(v) for v in row] for row in rows]),),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Compare(Verb):
    """Compare runs: what differs in their configurations, and what came of it."""

    least_memory = WITHOUT_JAX

    paths: tyro.conf.Positional[tuple[pathlib.Path, ...]]
    """The run folders, two or more."""

    def run(self) -> Answer:
        from algoscope import runs
        from algoscope.runs.comparison import differences, outcome

        if len(self.paths) < 2:
            raise ValueError(f"compare: got {len(self.paths)} run, needed at least two")
        opened = map(runs.open, self.paths)
        values = differences([run.options | outcome(run) for run in opened])
        titles = ["", *map(str, self.paths)]
        rows = [[name, *map(number, row)] for name, row in values.items()]
        return Answer(
            {"runs": list(self.paths), "differences": values},
            (Table(f"{len(rows)} differences", titles, rows),),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Import(_OverRuns):
    """Take in run folders that were made elsewhere, and make their tables; those that are below
    the root already stay where they are."""

    paths: tyro.conf.Positional[tuple[pathlib.Path, ...]]
    """The run folders."""
    force: bool = False
    """Replace runs that have these names."""

    def run(self) -> Answer:
        from algoscope.runs import parquet

        if not self.paths:
            raise ValueError("import: got no run folder, needed at least one")
        paths = [parquet.take_in(path, self.root, force=self.force).path for path in self.paths]
        return Answer({"runs": paths}, tuple(map(str, paths)))


@dataclasses.dataclass(frozen=True)
class Runs:
    """List, query, compare and import runs; alone it lists those in ./runs."""

    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Query, tyro.conf.subcommand("query")]
        | Annotated[Compare, tyro.conf.subcommand("compare")]
        | Annotated[Import, tyro.conf.subcommand("import")]
    ] = dataclasses.field(default_factory=List)

    def main(self) -> int:
        return self.verb.main()
