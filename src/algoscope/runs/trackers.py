"""Trackers as views of a run folder: TensorBoard, Weights & Biases, MLflow.

Each adapter reads a run and writes what its tracker reads, below the run's folder and without a
network. None of their packages is needed for anything else.
"""

import importlib.util
import itertools
import pathlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algoscope.files import RunError
from algoscope.runs.folder import Run


class Point(NamedTuple):
    name: str
    """Such as bfs/loss/seed-00003 or bfs/loss/mean."""
    step: int
    value: float


_MOST_SEEDS = 16
"""Of larger ensembles trackers get the mean over seeds alone."""


def check_installed(tracker: str) -> None:
    """A RunError if the tracker's package is not there; to be asked before a training."""
    package = _ADAPTERS[tracker][0].split(".")[0]
    if importlib.util.find_spec(package) is None:
        raise RunError(
            f"--track {tracker}: got a tracker that is not installed, needed it: pip install "
            f"{package}"
        )


def write(run: Run, tracker: str) -> pathlib.Path:
    """Writes the run for a tracker; returns where."""
    check_installed(tracker)
    folder = run.path / tracker
    _ADAPTERS[tracker][1](run, folder)
    return folder


def points(run: Run) -> list[Point]:
    """The run's metrics by step."""
    metrics = run.metrics
    series = {
        "loss": (np.arange(len(metrics.loss)), metrics.loss),
        "validation": (metrics.validation_steps, metrics.validation),
    }
    points = []
    for kind, (steps, values) in series.items():
        for task, by_seed in zip(run.tasks, np.moveaxis(values, -1, 0), strict=True):
            curves = {"mean": by_seed.mean(1)}
            if len(run.seeds) <= _MOST_SEEDS:
                curves |= {f"seed-{s:05d}": by_seed[:, i] for i, s in enumerate(run.seeds)}
            points += [
                Point(f"{task}/{kind}/{name}", int(step), float(value))
                for name, curve in curves.items()
                for step, value in zip(steps, curve, strict=True)
            ]
    return sorted(points, key=lambda point: point.step)


def _tensorboard(run: Run, folder: pathlib.Path) -> None:
    # The names are made when the modules are read, which no type checker sees.
    from tensorboard.compat.proto.event_pb2 import Event  # pyright: ignore
    from tensorboard.compat.proto.summary_pb2 import Summary  # pyright: ignore
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for old in folder.glob("events.*"):
        old.unlink()
    writer = EventFileWriter(str(folder))
    for point in points(run):
        summary = Summary(value=[Summary.Value(tag=point.name, simple_value=point.value)])
        writer.add_event(Event(step=point.step, summary=summary))
    writer.close()


def _wandb(run: Run, folder: pathlib.Path) -> None:
    import wandb  # pyright: ignore[reportMissingImports]

    folder.mkdir(exist_ok=True)
    with wandb.init(
        project="algoscope", name=run.name, config=run.config, dir=str(folder), mode="offline"
    ) as session:
        for step, group in itertools.groupby(points(run), lambda point: point.step):
            session.log({point.name: point.value for point in group}, step=step)


def _mlflow(run: Run, folder: pathlib.Path) -> None:
    import mlflow  # pyright: ignore[reportMissingImports]

    folder.mkdir(exist_ok=True)
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{folder.resolve()}/mlflow.db")
    known = client.get_experiment_by_name("algoscope")
    experiment = known.experiment_id if known else client.create_experiment("algoscope")
    session = client.create_run(experiment, run_name=run.name)
    for point in points(run):
        client.log_metric(session.info.run_id, point.name, point.value, step=point.step)
    client.set_terminated(session.info.run_id)


_ADAPTERS: dict[str, tuple[str, Callable[[Run, pathlib.Path], None]]] = {
    "tensorboard": ("tensorboard.summary.writer.event_file_writer", _tensorboard),
    "wandb": ("wandb", _wandb),
    "mlflow": ("mlflow", _mlflow),
}
