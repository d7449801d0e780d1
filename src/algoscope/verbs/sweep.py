"""`algoscope sweep`: all combinations of a few values."""

import dataclasses
import datetime
import pathlib
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from algoscope.table import Table
from algoscope.verbs.definitions import run_file
from algoscope.verbs.output import Answer, Verb

if TYPE_CHECKING:
    from algoscope import sweeps

_MOST_ROWS = 40
"""Of a table in a terminal."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run(Verb):
    """Train every combination that is missing, on this machine.

    The same command goes on where it was stopped, or does what an extended file adds.
    """

    spec: tyro.conf.Positional[pathlib.Path]
    """The sweep: a TOML or YAML file, or a Python file that defines a `Sweep`. Or the folder of a
    sweep, to go on with it."""
    out: pathlib.Path | None = None
    """The folder of the sweep; runs/NAME if not given."""
    dry_run: bool = False
    """List the runs with an estimate of time and memory, and start none."""
    workers: int = 1
    """Runs side by side on this machine; GPUs are shared out among them."""
    checkpoint_seconds: float = 60.0
    """How much work may be lost when a worker is killed."""
    at_once: int | None = None
    """Networks side by side on each device; as many as fit, if not given."""
    track: tuple[Literal["tensorboard", "wandb", "mlflow"], ...] = ()
    """Also write the metrics of each run for these trackers, grouped by sweep."""

    def run(self) -> Answer:
        from algoscope import sweeps
        from algoscope.runs import trackers

        for name in self.track:
            trackers.check_installed(name)
        sweep, folder = self._sweep()
        settings = sweeps.Settings(
            sweep.after,
            sweep.problems,
            self.track,
            self.checkpoint_seconds,
            self.at_once,
        )
        if self.dry_run:
            return self._listed(sweep, folder, settings)
        driven = sweeps.drive(sweep, folder, self._engine(folder), settings, self.output.report)
        places = sweeps.positions(folder)
        table = sweeps.status_table(folder, places)
        failed = [place for place in places if place.stage is sweeps.Stage.FAILED]
        shown = table._replace(rows=table.rows[:_MOST_ROWS])
        data = {"folder": folder, "runs": driven.runs, "stages": sweeps.counts(places)}
        data["outcomes"] = driven.outcomes
        ending = f"sweep folder: {folder}"
        return Answer(data, (shown, *_rest(table), ending), status=1 if failed else 0)

    def _sweep(self) -> "tuple[sweeps.Sweep, pathlib.Path]":
        from algoscope import sweeps

        if self.spec.is_dir():
            if self.out not in (None, self.spec):
                raise ValueError(f"--out: got {self.out} with the folder {self.spec} of a sweep")
            return sweeps.read_specification(self.spec), self.spec
        if self.spec.suffix == ".py":
            defined = [v for v in run_file(self.spec).values() if isinstance(v, sweeps.Sweep)]
            if len(defined) != 1:
                raise ValueError(f"{self.spec}: got {len(defined)} sweeps, needed a file with one")
            sweep = sweeps.checked(defined[0])
        else:
            sweep = sweeps.read(self.spec)
        return sweep, self.out or pathlib.Path("runs") / sweep.name

    def _engine(self, folder: pathlib.Path) -> "sweeps.Engine":
        from algoscope.sweeps.engines.local import Local

        return Local(folder, self.workers)

    def _listed(
        self, sweep: "sweeps.Sweep", folder: pathlib.Path, settings: "sweeps.Settings"
    ) -> Answer:
        from algoscope import capacity, sweeps

        planned = sweeps.plan(sweep, folder, settings)
        platform = sweeps.platform_here()
        estimates = [sweeps.estimate(one.item.config, platform) for one in planned]
        done = [sweeps.is_done(one.item) for one in planned]
        factor = sweeps.correction(planned, estimates)
        estimates = [one.times(factor) for one in estimates]
        rows = [
            {
                "run": one.item.name,
                **{axis: sweeps.value_text(value) for axis, value in one.axes.items()},
                "seeds": one.item.config.seeds,
                "done": finished,
                "seconds": round(estimated.seconds),
                "bytes": round(estimated.octets),
            }
            for one, estimated, finished in zip(planned, estimates, done, strict=True)
        ]
        columns = ["run", *sweep.axes, "seeds", "time", "memory"]
        cells = [
            [
                *(str(row[column]) for column in columns[:-2]),
                "done" if row["done"] else _span(row["seconds"]),
                "" if row["done"] else capacity.readable(row["bytes"]),
            ]
            for row in rows
        ]
        left = sum(row["seconds"] for row in rows if not row["done"])
        table = Table(f"{len(rows)} runs, {sum(done)} of them done, in {folder}", columns, cells)
        most = max((row["bytes"] for row in rows if not row["done"]), default=0)
        said = (
            f"about {_span(left)} one after the other on {'a' if platform == 'gpu' else 'this'} "
            f"{platform.upper()}, and up to {capacity.readable(most)} of memory for a run"
        )
        shown = table._replace(rows=cells[:_MOST_ROWS])
        return Answer({"folder": folder, "runs": rows}, (shown, *_rest(table), said))


def _rest(table: Table) -> tuple[str, ...]:
    more = len(table.rows) - _MOST_ROWS
    return (f"… and {more:,} more; --json has all",) if more > 0 else ()


def _span(seconds: float) -> str:
    """A time in words, such as 2:05:00."""
    return str(datetime.timedelta(seconds=round(seconds)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _OverSweep(Verb):
    folder: tyro.conf.Positional[pathlib.Path]
    """The folder of the sweep."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Status(_OverSweep):
    """List the runs of a sweep: done, running, failed with the last line of the error."""

    def run(self) -> Answer:
        from algoscope import sweeps

        places = sweeps.positions(self.folder)
        table = sweeps.status_table(self.folder, places)
        columns = table.columns
        rows = [dict(zip(columns, row, strict=True)) for row in table.rows]
        parts = (table._replace(rows=table.rows[:_MOST_ROWS]), *_rest(table))
        return Answer({"stages": sweeps.counts(places), "runs": rows}, parts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cancel(_OverSweep):
    """Stop a sweep: runs under way end in a checkpoint, others do not begin."""

    def run(self) -> Answer:
        from algoscope import sweeps

        driver = sweeps.interrupt(self.folder)
        lines = [f"asked process {driver.pid} to stop"] if driver else []
        data: dict[str, Any] = {"driver": driver and driver.pid}
        return Answer(data, tuple(lines or ["nothing is under way"]))


SWEEP_VERBS = ("run", "status", "cancel")


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Train all combinations of a few values; status, cancel and report look after a sweep."""

    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[Run, tyro.conf.subcommand("run")]
        | Annotated[Status, tyro.conf.subcommand("status")]
        | Annotated[Cancel, tyro.conf.subcommand("cancel")]
    ]

    def main(self) -> int:
        return self.verb.main()
