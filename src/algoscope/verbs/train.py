"""`algoscope train`: its options, progress line and result."""

import dataclasses
import json
import math
import pathlib
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

if TYPE_CHECKING:
    from algoscope.networks import Network
    from algoscope.runs import Run
    from algoscope.training import Report, TrainingConfig

Tracker = Literal["tensorboard", "wandb", "mlflow"]


@dataclasses.dataclass(frozen=True)
class Train:
    """Train networks on one task, or several that share a processor, into a run folder.

    The defaults are those of Mind The Gap's Table 8.
    """

    tasks: tyro.conf.Positional[tuple[str, ...]] = ()
    """The tasks, as `algoscope tasks` lists them."""
    out: pathlib.Path | None = None
    """The run folder; runs/TASK-NUMBER if not given."""
    seeds: int = 1
    """Number of networks."""
    first_seed: int = 0
    """Seed of the first network; the others count up from it."""
    steps: int = 10_000
    """Training steps."""
    lengths: tuple[int, ...] = (4, 7, 11, 13, 16)
    """Sizes of the problems, in turn."""
    batch: int = 32
    """Problems in a batch."""
    learning_rate: float = 1e-4
    """Learning rate of Adam."""
    hint_mode: str = "encoded_decoded"
    """encoded_decoded, decoded_only or none."""
    teacher_forcing: float = 0.0
    """Probability that hints are the true ones."""
    regularisation: float = 0.0
    """Weight of the sum of squared parameters in the loss."""
    freeze: tuple[str, ...] = ()
    """Weights that stay as they are, such as processor or encoders.A."""
    evaluate_every: int = 50
    """Steps between validations."""
    data_seed: int = 1
    """Seed of the problems."""
    network: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """Options of the network, such as width=4 or processor="mpnn"."""
    start: pathlib.Path | None = None
    """Start from the weights in this .safetensors file, and with its network's options."""
    resume: pathlib.Path | None = None
    """Go on with this run, which was stopped; no other option applies."""
    force: bool = False
    """Replace a run that has this name."""
    at_once: int | None = None
    """Networks side by side on each device; as many as fit, if not given."""
    checkpoint_seconds: float = 60.0
    """How much work may be lost when the run is killed."""
    time_buckets: int = 2
    """Lengths of time to which batches are padded."""
    track: tuple[Tracker, ...] = ()
    """Also write the metrics for these trackers, into the run folder and offline."""
    json: bool = False
    """Print the result as JSON, and progress on the error stream."""

    def run(self) -> None:
        from algoscope import training
        from algoscope.runs.environment import keep_compiled_programs

        keep_compiled_programs()
        if self.resume is not None:
            self._check_resume()
        elif not self.tasks:
            raise ValueError("train: got no task, needed at least one, or --resume RUN")
        with ProgressLine(sys.stderr if self.json else sys.stdout) as line:
            try:
                if self.resume is not None:
                    run = training.resume(
                        self.resume,
                        at_once=self.at_once,
                        checkpoint_seconds=self.checkpoint_seconds,
                        report=line.show,
                    )
                else:
                    config, start = self._config()
                    out = self.out or _free_name(config)
                    line.say(f"training {', '.join(config.tasks)} into {out}")
                    run = training.train(
                        config,
                        out,
                        start=start,
                        force=self.force,
                        at_once=self.at_once,
                        checkpoint_seconds=self.checkpoint_seconds,
                        report=line.show,
                    )
            except training.Stopped as stopped:
                line.say(str(stopped))
                raise SystemExit(130) from None
        make_tables(run, self.track)
        if self.json:
            print(json.dumps({"run": str(run.path), **run.results}))
        else:
            _print_results(run)

    def _check_resume(self) -> None:
        others = [
            field.name
            for field in dataclasses.fields(self)
            if field.name not in ("resume", "json", "track", "checkpoint_seconds", "at_once")
            and getattr(self, field.name) != field.default
        ]
        if others:
            raise ValueError(
                f"--resume: got it with {', '.join(others)}, needed it alone: a run goes on with "
                "the configuration that it was begun with"
            )

    def _config(self) -> "tuple[TrainingConfig, Network | None]":
        from algoscope import networks, tasks, training

        options = dict(_parse(option) for option in self.network)
        start = None
        if self.start is not None:
            start, task = networks.load(self.start)
            if self.tasks != (task,):
                raise ValueError(
                    f"--start: got weights for {task}, needed some for {', '.join(self.tasks)}"
                )
            network = dataclasses.replace(start.config, **_known(options))
        else:
            modes = training.hint_options(self.hint_mode)
            network = networks.NetworkConfig(**(modes | _known(options)))
        config = training.TrainingConfig(
            tasks=self.tasks,
            seeds=self.seeds,
            first_seed=self.first_seed,
            steps=self.steps,
            learning_rate=self.learning_rate,
            teacher_forcing=self.teacher_forcing,
            regularisation=self.regularisation,
            freeze=self.freeze,
            evaluate_every=self.evaluate_every,
            data_seed=self.data_seed,
            time_buckets=self.time_buckets,
            recipe=tasks.Recipe(sizes=self.lengths, count=self.batch),
            network=network,
        )
        return config, start


def _known(options: dict[str, Any]) -> dict[str, Any]:
    from algoscope.errors import unknown_name
    from algoscope.networks import NetworkConfig

    known = [field.name for field in dataclasses.fields(NetworkConfig)]
    unknown = [unknown_name("option of the network", n, known) for n in options if n not in known]
    if unknown:
        raise ValueError("\n".join(unknown))
    return options


def _parse(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--network: got {text!r}, needed NAME=VALUE, such as width=4")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _free_name(config: "TrainingConfig") -> pathlib.Path:
    root, start = pathlib.Path("runs"), "-".join(config.tasks)
    return next(
        path for number in range(1, 10**6) if not (path := root / f"{start}-{number:03d}").exists()
    )


def make_tables(run: "Run", trackers: tuple[Tracker, ...]) -> None:
    from algoscope.runs import parquet
    from algoscope.runs import trackers as adapters

    parquet.write(run)
    for name in trackers:
        print(f"{name}: {adapters.write(run, name)}", file=sys.stderr)


def _print_results(run: "Run") -> None:
    results = run.results
    for task, scores in results["test"].items():
        where = results["test_set"][task]
        values = scores["score"]
        mean = sum(values) / len(values)
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / max(1, len(values) - 1))
        seen, fresh = (sum(results[k][task]["score"]) / len(values) for k in ("seen", "fresh"))
        print(
            f"{task}: test score {mean:.4f} ± {spread:.4f} over {len(values)} seeds "
            f"({where['samples']} problems of {where['nodes']} nodes, {where['split']}); "
            f"on problems it learnt from {seen:.4f}, on fresh ones {fresh:.4f}"
        )
    for text in run.description["notes"]:
        print(f"note: {text}")
    print(f"run folder: {run.path}")


class ProgressLine:
    """A progress line on a terminal; elsewhere a plain line now and then."""

    def __init__(self, stream):
        self._stream = stream
        self._terminal = stream.isatty()
        self._next = 0.0

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_) -> None:
        if self._terminal:
            self._stream.write("\n")

    def say(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}\n" if self._terminal else f"{text}\n")
        self._stream.flush()

    def show(self, report: "Report") -> None:
        part = report.step / report.steps
        if not self._terminal and part < self._next and report.step < report.steps:
            return
        self._next = math.floor(part * 10 + 1) / 10
        text = (
            f"step {report.step:,} of {report.steps:,}  loss {report.loss:.4f}  "
            f"validation {report.score:.4f}  {_rate(report)}"
        )
        if self._terminal:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()
        else:
            self.say(text)


def _rate(report: "Report") -> str:
    if math.isnan(report.steps_per_second):
        return "compiled"
    left = round(report.seconds_left) if math.isfinite(report.seconds_left) else 0
    hours, minutes, seconds = left // 3600, left // 60 % 60, left % 60
    return f"{report.steps_per_second:.3g} steps/s  {hours}:{minutes:02d}:{seconds:02d} left"
