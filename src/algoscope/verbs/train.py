"""`algoscope train`: its options, progress and result."""

import contextlib
import dataclasses
import pathlib
import statistics
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from algoscope.configuration import TrainingOptions, shared_fields
from algoscope.verbs.definitions import find_program, find_task
from algoscope.verbs.output import Answer, Output, Verb, named_values
from algoscope.verbs.report import report_on

if TYPE_CHECKING:
    from algoscope.networks import Network
    from algoscope.runs import Run
    from algoscope.training import Report, TrainingConfig

_SETS = {"test": "test score", "seen": "on problems it learnt from", "fresh": "on fresh problems"}
"""The sets on which networks are scored, in words."""
_WITH_RESUME = (
    "resume", "task", "teacher", "output", "track", "checkpoint_seconds", "at_once", "devices",
    "report",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, kw_only=True)
class Train(TrainingOptions, Verb):
    """Train networks on one task, or several that share a processor, into a run folder.

    The defaults are those of Mind The Gap's Table 8.
    """

    tasks: tyro.conf.Positional[tuple[str, ...]] = ()
    """The tasks: names that `algoscope tasks` lists, or FILE.py of your own."""
    out: pathlib.Path | None = None
    """The run folder; runs/TASK-NUMBER if not given."""
    sizes: tuple[int, ...] | None = None
    """Sizes of the problems, in turn; 4 7 11 13 16 if not given."""
    batch: int | None = None
    """Problems in a batch; 32 if not given."""
    graphs: tuple[str, ...] = ("clrs",)
    """Kinds of graphs, in turn: clrs (as CLRS-30 draws them), deep, sparse, dense, grid, tree. For
    half of the batches from deep and sparse graphs: clrs deep clrs sparse."""
    hint_mode: str = "encoded_decoded"
    """encoded_decoded, decoded_only or none."""
    network: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """Options of the network, such as width=4 or processor="mpnn"."""
    start: pathlib.Path | None = None
    """Start from the weights in this .safetensors file, and with its network's options."""
    resume: pathlib.Path | None = None
    """Go on with this run, which was stopped; no other option applies but --task and --teacher, for
    files of your own."""
    task: tuple[str, ...] = ()
    """The FILE.py of each task of your own; with --resume, of those that the run is for."""
    force: bool = False
    """Replace a run that has this name, unless it is being trained or its folder holds other
    files."""
    at_once: int | None = None
    """Networks side by side on each device; as many as fit, if not given."""
    devices: int | None = None
    """Spread the seeds over so many devices, in equal parts; over all that there are, if not
    given. Of a CPU alone it makes so many."""
    checkpoint_seconds: float = 60.0
    """How much work may be lost when the run is killed."""
    track: tuple[Literal["tensorboard", "wandb", "mlflow"], ...] = ()
    """Also write the metrics for these trackers, into the run folder and offline."""

    report: bool = False
    """Examine the networks afterwards, and write their page, as `algoscope report` does."""

    def run(self) -> Answer:
        from algoscope import files, runs, training
        from algoscope.runs import parquet, trackers
        from algoscope.runs.environment import device_name, keep_compiled_programs, use_devices

        for name in self.track:
            trackers.check_installed(name)
        keep_compiled_programs()
        use_devices(self.devices)
        pace: dict[str, Any] = {
            "at_once": self.at_once,
            "devices": self.devices,
            "checkpoint_seconds": self.checkpoint_seconds,
            "report": report_progress(self.output),
        }
        if self.resume is not None:
            self._check_resume()
            for text in self.task:
                find_task(text)
            for text in self.teacher:
                find_program(text)
            runs.open(self.resume)
            self.output.report(f"training on {device_name()}, going on in {self.resume}")
            run = training.resume(self.resume, **pace)
        elif self.tasks or self.task:
            names = tuple(find_task(text).name for text in (*self.tasks, *self.task))
            teachers = tuple(find_program(text).name for text in self.teacher)
            config, start = dataclasses.replace(self, tasks=names, teacher=teachers)._config()
            training.check(config)
            with contextlib.ExitStack() as place:
                out = self.out or place.enter_context(files.unused_folder("-".join(config.tasks)))
                listed = ", ".join(config.tasks)
                self.output.report(f"training {listed} on {device_name()} into {out}")
                run = training.train(config, out, start=start, force=self.force, **pace)
        else:
            raise ValueError("train: got no task, needed at least one, or --resume RUN")
        parquet.write(run)
        for name in self.track:
            self.output.report(f"{name}: {trackers.write(run, name)}")
        answer = Answer({"run": str(run.path), **run.results}, tuple(_results(run)))
        if not self.report:
            return answer
        page = report_on([run], self.output)
        return Answer(answer.data | page.data, answer.parts + page.parts)

    def _check_resume(self) -> None:
        changed = [
            field.name
            for field in dataclasses.fields(self)
            if field.name not in _WITH_RESUME and getattr(self, field.name) != field.default
        ]
        if changed:
            raise ValueError(
                f"--resume: got it with {', '.join(changed)}, needed it alone: a run goes on with "
                "the configuration that it was begun with"
            )

    def _config(self) -> "tuple[TrainingConfig, Network | None]":
        from algoscope import networks, tasks, training

        options = _network_options(self.network)
        start = None
        if self.start is not None:
            start, task = networks.load(self.start)
            if self.tasks != (task,):
                raise ValueError(
                    f"--start: got weights for {task}, needed some for {', '.join(self.tasks)}"
                )
            network = dataclasses.replace(start.config, **options)
        else:
            network = networks.NetworkConfig(**(training.hint_options(self.hint_mode) | options))
        problems = {"sizes": self.sizes, "count": self.batch, "graphs": self.graphs}
        config = training.TrainingConfig(
            **shared_fields(TrainingOptions, self),
            recipe=tasks.Recipe(**{n: value for n, value in problems.items() if value is not None}),
            network=network,
        )
        return config, start


def report_progress(output: Output) -> "Callable[[Report], None]":
    """Shows how far a training is on the progress line."""
    return lambda progress: output.step(progress.step, progress.steps, str(progress))


def _network_options(texts: tuple[str, ...]) -> dict[str, Any]:
    from algoscope.errors import unknown_name
    from algoscope.networks import NetworkConfig

    options = named_values("--network", texts)
    known = [field.name for field in dataclasses.fields(NetworkConfig)]
    unknown = [unknown_name("option of the network", n, known) for n in options if n not in known]
    if unknown:
        raise ValueError("\n".join(unknown))
    return options


def _results(run: "Run") -> Iterator[str]:
    results = run.results
    for task in run.tasks:
        scores = {name: results[name][task]["score"] for name in _SETS if task in results[name]}
        parts = [f"{_SETS[name]} {statistics.fmean(values):.4f}" for name, values in scores.items()]
        if "test" in scores:
            values, problems = scores["test"], results.get("test_set", {}).get(task)
            if len(values) > 1:
                parts[0] += f" ± {statistics.stdev(values):.4f} over {len(values)} seeds"
            if problems:  # Runs that were made elsewhere may not say it.
                parts[0] += (
                    f" ({problems['samples']} problems of {problems['nodes']} nodes, "
                    f"{problems['split']})"
                )
            other = "last" if run.keeps == "best" else "best"
            if task in results.get(other, {}).get("test", {}):
                scores = results[other]["test"][task]["score"]
                parts[0] += f", with its {other} weights {statistics.fmean(scores):.4f}"
        yield f"{task}: {'; '.join(parts) or 'not scored'}"
    yield from (f"note: {text}" for text in run.notes)
    yield f"run folder: {run.path}"
