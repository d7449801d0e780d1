"""`algoscope sweep`: all combinations of a few values."""

import dataclasses
import functools
import pathlib
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from algoscope.errors import Faults
from algoscope.table import Table
from algoscope.verbs.definitions import run_file
from algoscope.verbs.output import Answer, Verb, named_values

if TYPE_CHECKING:
    from algoscope import sweeps
    from algoscope.sweeps.spec import FaultsOf

_MOST_ROWS = 40
"""Of a table in a terminal."""
_ENGINES = {
    "workers": ("local", "slurm"),
    "cpus": ("ray", "slurm"),
    "gpus": ("ray", "slurm"),
    "address": ("ray",),
    "storage": ("ray",),
    "minutes": ("slurm",),
    "grace": ("slurm",),
    "sbatch": ("slurm",),
}
"""Where options of engines apply."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run(Verb):
    """Train every combination that is missing, on this machine, on Ray or on Slurm.

    The same command goes on where it was stopped, or does what an extended file adds.
    """

    spec: tyro.conf.Positional[pathlib.Path]
    """The sweep: a TOML or YAML file, or a Python file that defines a `Sweep`. Or the folder of a
    sweep, to go on with it."""
    out: pathlib.Path | None = None
    """The folder of the sweep; runs/NAME if not given."""
    dry_run: bool = False
    """List the runs with an estimate of time and memory, and start none."""
    on: Literal["local", "ray", "slurm"] = "local"
    """Where runs are made: in processes of this machine, as tasks of a Ray cluster, or as jobs of
    Slurm."""
    workers: int | None = None
    """Runs side by side on this machine, among which GPUs are shared out, 1 if not given; on Slurm
    at most so many."""
    cpus: int = 1
    """Cores of each run, on Ray and Slurm."""
    gpus: float = 0
    """GPUs of each run, on Ray and Slurm; on Ray a part of one, such as 0.25, too."""
    address: str = "auto"
    """Of the Ray cluster, such as 10.0.0.1:6379; auto is the one that this machine belongs to."""
    storage: str | None = None
    """Where workers of Ray keep copies of their runs if they do not share --out: a URL that fsspec
    knows, such as s3://bucket/rates."""
    minutes: int = 60
    """The time limit of a job of Slurm; before it, the run is in a checkpoint, and the job is
    requeued."""
    grace: int = 90
    """Seconds before that limit at which the checkpoint is begun."""
    sbatch: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """Options of sbatch, such as partition=gpu account=physics mem=8G."""
    devices: int | None = None
    """Spread the seeds of each run over so many devices, in equal parts; over all that there are,
    if not given. Of a CPU alone it makes so many."""
    checkpoint_seconds: float = 60.0
    """How much work may be lost when a worker is killed."""
    at_once: int | None = None
    """Networks side by side on each device; as many as fit, if not given."""
    track: tuple[Literal["tensorboard", "wandb", "mlflow"], ...] = ()
    """Also write the metrics of each run for these trackers, grouped by sweep."""

    def run(self) -> Answer:
        from algoscope import sweeps

        sweep, folder = self._checked()
        settings = sweeps.Settings(
            sweep.after,
            sweep.problems,
            self.track,
            self.checkpoint_seconds,
            self.at_once,
            self.devices,
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
        ending = f"sweep folder: {folder}; its page: algoscope sweep report {folder}"
        return Answer(data, (shown, *_rest(table), ending), status=1 if failed else 0)

    def _checked(self) -> "tuple[sweeps.Sweep, pathlib.Path]":
        """The sweep and its folder; or all that is wrong, of the options and of the specification,
        before anything starts."""
        from algoscope.runs import trackers
        from algoscope.sweeps.engines import Resources
        from algoscope.sweeps.engines.local import Local
        from algoscope.training.loop import Pacing
        from algoscope.training.plan import training_faults

        faults = Faults()
        room = Local(self.spec).room if self.on == "local" else Resources(self.cpus, self.gpus).room
        with faults.listed():
            self._check_options()
        for name in self.track:
            with faults.listed():
                trackers.check_installed(name)
        with faults.listed():
            Pacing(checkpoint_seconds=self.checkpoint_seconds)
        with faults.listed():
            room = self._engine(self.out or self.spec).room
        found = None
        with faults.listed():
            found = self._sweep(
                functools.partial(
                    training_faults, at_once=self.at_once, devices=self.devices, room=room
                )
            )
        faults.refuse()
        assert found is not None
        return found

    def _sweep(self, faults_of: "FaultsOf") -> "tuple[sweeps.Sweep, pathlib.Path]":
        from algoscope import sweeps

        if self.spec.is_dir():
            if self.out not in (None, self.spec):
                raise ValueError(f"--out: got {self.out} with the folder {self.spec} of a sweep")
            return sweeps.read_specification(self.spec), self.spec
        if self.spec.suffix == ".py":
            defined = [v for v in run_file(self.spec).values() if isinstance(v, sweeps.Sweep)]
            if len(defined) != 1:
                raise ValueError(f"{self.spec}: got {len(defined)} sweeps, needed a file with one")
            sweep = sweeps.checked(defined[0], faults_of)
        else:
            sweep = sweeps.read(self.spec, faults_of)
        return sweep, self.out or pathlib.Path("runs") / sweep.name

    def _check_options(self) -> None:
        """Refuses what the engine does not know."""
        faults = [
            f"--{field.name}: got it with --on {self.on}, needed --on {' or '.join(engines)}"
            for field in dataclasses.fields(self)
            for engines in [_ENGINES.get(field.name, (self.on,))]
            if self.on not in engines and getattr(self, field.name) != field.default
        ]
        if self.storage is not None and "mlflow" in self.track:
            faults.append(
                "--track mlflow: got it with --storage, needed a folder that all workers share, "
                "since all runs are in one database"
            )
        if faults:
            raise ValueError("\n".join(faults))

    def _engine(self, folder: pathlib.Path) -> "sweeps.Engine":
        from algoscope.sweeps.engines import Resources

        resources = Resources(self.cpus, self.gpus)
        if self.on == "ray":
            from algoscope.sweeps.engines.ray import Ray

            return Ray(resources, address=self.address, storage=self.storage)
        if self.on == "slurm":
            from algoscope.sweeps.engines.slurm import Slurm

            most = {} if self.workers is None else {"at_most": self.workers}
            return Slurm(
                folder,
                resources,
                minutes=self.minutes,
                grace=self.grace,
                options=named_values("--sbatch", self.sbatch),
                **most,
            )
        from algoscope.sweeps.engines.local import Local

        return Local(folder, 1 if self.workers is None else self.workers)

    def _listed(
        self, sweep: "sweeps.Sweep", folder: pathlib.Path, settings: "sweeps.Settings"
    ) -> Answer:
        from algoscope import capacity, sweeps

        span = sweeps.span_text
        planned = sweeps.plan(sweep, folder, settings)
        here = sweeps.platform_here() if self.on == "local" else "cpu"
        platform = "gpu" if self.gpus else here
        estimates = [sweeps.estimate(one.item.config, platform, settings) for one in planned]
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
                "after_seconds": round(estimated.after),
                "bytes": round(estimated.octets),
            }
            for one, estimated, finished in zip(planned, estimates, done, strict=True)
        ]
        named, judged = ["run", *sweep.axes, "seeds"], sweep.after != "score"
        columns = [*named, "training", *([sweep.after] if judged else []), "memory"]
        cells = [
            [
                *(str(row[column]) for column in named),
                "done" if row["done"] else span(row["seconds"] - row["after_seconds"]),
                *(["" if row["done"] else span(row["after_seconds"])] if judged else []),
                "" if row["done"] else capacity.readable(row["bytes"]),
            ]
            for row in rows
        ]
        left = [row["seconds"] for row in rows if not row["done"]]
        table = Table(f"{len(rows)} runs, {sum(done)} of them done, in {folder}", columns, cells)
        most = max((row["bytes"] for row in rows if not row["done"]), default=0)
        where = f"this {platform.upper()}" if self.on == "local" else f"a {platform.upper()}"
        said = f"about {span(sum(left))} one after the other on {where}, "
        workers = min(self.workers or 1, len(left))
        if workers > 1:
            said += f"at best {span(sweeps.side_by_side(left, workers))} with {workers} at once, "
        said += f"and up to {capacity.readable(most)} of memory for a run"
        if workers > 1 and self.on == "local":
            said += f", {capacity.readable(workers * most)} for those at once"
        shown = table._replace(rows=cells[:_MOST_ROWS])
        return Answer({"folder": folder, "runs": rows}, (shown, *_rest(table), said))


def _rest(table: Table) -> tuple[str, ...]:
    more = len(table.rows) - _MOST_ROWS
    return (f"… and {more:,} more; --json has all",) if more > 0 else ()


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
    """Stop a sweep: runs under way end in a checkpoint, others do not begin. Jobs of Slurm are
    stopped also where nobody waits for them."""

    def run(self) -> Answer:
        from algoscope import sweeps
        from algoscope.sweeps.engines import slurm

        driver = sweeps.interrupt(self.folder)
        if driver is None:
            sweeps.read_specification(self.folder)
        jobs = [] if driver else slurm.cancel(self.folder)
        lines = [f"asked process {driver.pid} to stop"] if driver else []
        lines += [f"asked the jobs of {len(jobs)} runs to stop"] if jobs else []
        data: dict[str, Any] = {"driver": driver and driver.pid, "jobs": jobs}
        return Answer(data, tuple(lines or ["nothing is under way"]))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report(_OverSweep):
    """Write the page of a sweep, with all its numbers as CSV and Parquet, from the runs that are
    done so far."""

    def run(self) -> Answer:
        from algoscope import sweeps

        path = sweeps.page(self.folder, self.output.report)
        return Answer({"report": path}, (f"report: {path}",))


SWEEP_VERBS = ("run", "status", "cancel", "report")


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Train all combinations of a few values; status, cancel and report look after a sweep."""

    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[Run, tyro.conf.subcommand("run")]
        | Annotated[Status, tyro.conf.subcommand("status")]
        | Annotated[Cancel, tyro.conf.subcommand("cancel")]
        | Annotated[Report, tyro.conf.subcommand("report")]
    ]

    def main(self) -> int:
        return self.verb.main()
