"""Trackers as views of a run folder: TensorBoard, Weights & Biases, MLflow.

Each adapter reads a run and writes what its tracker reads, below the run's folder and without a
network. None of their packages is needed for anything else. Runs of a sweep stand together:

    TensorBoard   tensorboard --logdir SWEEP, whose HPARAMS tab compares their options
    W&B           the group SWEEP
    MLflow        the experiment SWEEP, in one database for all, SWEEP/mlflow/mlflow.db
"""

import contextlib
import datetime
import fcntl
import importlib.util
import itertools
import json
import pathlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from algoscope.files import RunError, place, write_bytes
from algoscope.runs.folder import Run


class Point(NamedTuple):
    name: str
    """Such as bfs/loss/seed-00003 or bfs/loss/mean."""
    step: int
    value: float


_MLFLOW_BATCH = 1000
"""Metrics in one call, at most."""
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
    """Writes the run for a tracker, whole or not at all, in place of what was there; returns
    where."""
    check_installed(tracker)
    folder = run.path / tracker
    place(folder, lambda into: _ADAPTERS[tracker][1](run, into))
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
    from tensorboard.plugins.hparams import metadata
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData  # pyright: ignore
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    options = HParamsPluginData()
    for name, value in run.options.items():
        chosen = options.session_start_info.hparams[name]
        if isinstance(value, bool):
            chosen.bool_value = value
        elif isinstance(value, int | float):
            chosen.number_value = value
        else:
            chosen.string_value = value if isinstance(value, str) else json.dumps(value)
    start = Summary.Value(
        tag=metadata.SESSION_START_INFO_TAG,
        metadata=metadata.create_summary_metadata(options),
        tensor=metadata.NULL_TENSOR,
    )
    writer.add_event(Event(summary=Summary(value=[start])))
    for point in points(run):
        summary = Summary(value=[Summary.Value(tag=point.name, simple_value=point.value)])
        writer.add_event(Event(step=point.step, summary=summary))
    writer.close()


def _wandb(run: Run, folder: pathlib.Path) -> None:
    import wandb  # pyright: ignore[reportMissingImports]

    folder.mkdir()
    with wandb.init(
        project="algoscope",
        group=run.description.get("sweep"),
        name=run.name,
        config=run.config,
        dir=str(folder),
        mode="offline",
    ) as session:
        for step, group in itertools.groupby(points(run), lambda point: point.step):
            session.log({point.name: point.value for point in group}, step=step)


def _mlflow(run: Run, folder: pathlib.Path) -> None:
    import mlflow  # pyright: ignore[reportMissingImports]
    from mlflow.entities import Metric, Param  # pyright: ignore[reportMissingImports]

    folder.mkdir()
    sweep = run.description.get("sweep")
    home = (run.path.parent if sweep else run.path) / "mlflow"
    store = home if sweep else folder
    name, moment = sweep or "algoscope", _milliseconds(run.created)
    metrics = [Metric(p.name, p.value, moment, p.step) for p in points(run)]
    params = [Param(key, str(value)) for key, value in run.options.items()]
    with _alone(store):
        client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{store.resolve()}/mlflow.db")
        known = client.get_experiment_by_name(name)
        experiment = known.experiment_id if known else client.create_experiment(name)
        if known:  # What a process that was killed had begun.
            for before in client.search_runs([experiment], f"run_name = '{run.name}'"):
                client.delete_run(before.info.run_id)
        session = client.create_run(experiment, run_name=run.name, start_time=moment)
        client.log_batch(session.info.run_id, params=params)
        for start in range(0, len(metrics), _MLFLOW_BATCH):
            client.log_batch(session.info.run_id, metrics[start : start + _MLFLOW_BATCH])
        client.set_terminated(session.info.run_id)
    where = {"store": str(home), "experiment": name, "run_id": session.info.run_id}
    write_bytes(folder / "mlflow.json", json.dumps(where, indent=1).encode())


@contextlib.contextmanager
def _alone(store: pathlib.Path) -> Iterator[None]:
    """Workers of a sweep write to its database one after the other."""
    store.mkdir(exist_ok=True)
    with (store / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _milliseconds(moment: str) -> int:
    return round(1000 * datetime.datetime.fromisoformat(moment).timestamp())


_ADAPTERS: dict[str, tuple[str, Callable[[Run, pathlib.Path], None]]] = {
    "tensorboard": ("tensorboard.summary.writer.event_file_writer", _tensorboard),
    "wandb": ("wandb", _wandb),
    "mlflow": ("mlflow", _mlflow),
}
