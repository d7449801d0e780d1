"""Run: a folder that describes itself, and the truth about what was done.

    run.json                     config, environment, state, notes
    results.json                 per seed: best step, validation, test and other scores
    metrics.safetensors          loss of every step, score of every validation
    metrics.parquet, validation.parquet, results.parquet      the same as tables, for queries
    weights/TASK/seed-00007.safetensors                       each an ordinary network
    checkpoint-STEP-DIGEST.safetensors                        of a run that is not finished

The tables are made where DuckDB is installed, or later by `algoscope runs import`.
"""

import contextlib
import dataclasses
import datetime
import fcntl
import json
import operator
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from algoscope import __version__, networks, tasks
from algoscope.files import (
    RunError,
    clear_unfinished,
    explained,
    place,
    read_arrays,
    write_arrays,
    write_bytes,
)
from algoscope.networks.ensemble import Ensemble
from algoscope.runs import checkpoints
from algoscope.runs.environment import environment

FORMAT = 1
_DESCRIPTION = "run.json"


class Metrics(NamedTuple):
    """What was measured along the way."""

    loss: np.ndarray
    """Of every step: float32 [step, seed, task]."""
    validation_steps: np.ndarray
    """int32 [validation]: the steps after which the networks were validated."""
    validation: np.ndarray
    """Scores: float32 [validation, seed, task]."""


@dataclasses.dataclass(frozen=True)
class Run:
    path: pathlib.Path
    description: dict
    """What run.json says."""

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def config(self) -> dict:
        """As JSON; `training.config_of(run)` makes it a TrainingConfig."""
        return self.description["config"]

    @property
    def options(self) -> dict[str, Any]:
        """The configuration by dotted names, such as network.width."""
        return flat(self.config)

    @property
    def finished(self) -> bool:
        return self.description["state"] == "finished"

    @property
    def created(self) -> str:
        return self.description["created"]

    @property
    def seconds(self) -> float:
        """From the first beginning to the end, pauses included."""
        moment = datetime.datetime.fromisoformat
        return (moment(self.description["finished"]) - moment(self.created)).total_seconds()

    @property
    def device(self) -> str:
        return self.description["environment"]["device"]

    @property
    def notes(self) -> list[str]:
        """What a reader of the run should know, such as changes of place on the way."""
        return self.description["notes"]

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.config["tasks"])

    @property
    def seeds(self) -> tuple[int, ...]:
        first = self.config["first_seed"]
        return tuple(range(first, first + self.config["seeds"]))

    @property
    def seeds_with_weights(self) -> tuple[int, ...]:
        """Those whose weights are in the folder, which may have come here without all of them."""
        weights = {s: [self._weights(task, s) for task in self.tasks] for s in self.seeds}
        return tuple(s for s, paths in weights.items() if all(path.exists() for path in paths))

    @property
    def step(self) -> int:
        """Steps that are safe on disk."""
        return self.config["steps"] if self.finished else checkpoints.latest_step(self.path) or 0

    @property
    def metrics(self) -> Metrics:
        path = self.path / "metrics.safetensors"
        if path.exists():
            return Metrics(**read_arrays(path))
        named = checkpoints.read(self.path).arrays
        return Metrics(*(named[f"metrics.{field}"] for field in Metrics._fields))

    @property
    def results(self) -> dict[str, Any]:
        """By name, with a list over seeds for each number: see `training.evaluation`."""
        self._need_finished()
        return json.loads((self.path / "results.json").read_text())

    @property
    def resume_command(self) -> str:
        """What to type to go on with it."""
        known = tasks.names(variants=True)
        file = "" if set(self.tasks) <= set(known) else " --task FILE.py"
        return f"algoscope train --resume {self.path}{file}"

    def ensemble(self, seeds: Sequence[int] | None = None) -> Ensemble:
        """The best weights of each seed."""
        self._need_finished()
        chosen = tuple(self.seeds if seeds is None else seeds)
        by_task = {}
        for task in self.tasks:
            paths = [self._weights(task, seed) for seed in chosen]
            for path in paths:
                if not path.exists():
                    raise RunError(
                        f"{path}: not there; the run has the seeds {self.seeds[0]} to "
                        f"{self.seeds[-1]}, and weights for seeds={list(self.seeds_with_weights)}"
                    )
            members = [networks.load(path)[0] for path in paths]
            by_task |= Ensemble.of(members, task, chosen).networks
        return Ensemble(by_task, chosen)

    def _weights(self, task: str, seed: int) -> pathlib.Path:
        return self.path / "weights" / task / _weights_name(seed)

    def _need_finished(self) -> None:
        if not self.finished:
            raise RunError(
                f"{self.path}: got a run that stopped at step {self.step} of "
                f"{self.config['steps']}, needed a finished one; go on with `{self.resume_command}`"
            )


def open_run(path: str | os.PathLike) -> Run:
    path = pathlib.Path(path)
    description = path / _DESCRIPTION
    if not description.is_file():
        raise RunError(f"{path}: got no run folder, needed one that holds a {_DESCRIPTION}")
    try:
        content = json.loads(description.read_text())
    except ValueError as error:
        raise RunError(f"{description}: not valid JSON ({error})") from None
    if content.get("format") != FORMAT:
        raise RunError(
            f"{path}: got a run folder of format {content.get('format')}, written by version "
            f"{content.get('version')}; this is version {__version__}, which reads format {FORMAT}"
        )
    return Run(path, content)


def load_ensemble(path: str | os.PathLike, seeds: Sequence[int] | None = None) -> Ensemble:
    """The ensemble that a run trained: for each seed its best weights."""
    return open_run(path).ensemble(seeds)


def list_runs(root: str | os.PathLike) -> list[Run]:
    """The runs below a folder, by name; folders of other formats are left out."""
    runs = []
    for description in sorted(pathlib.Path(root).glob(f"*/{_DESCRIPTION}")):
        with contextlib.suppress(RunError):
            runs.append(open_run(description.parent))
    return runs


def create(
    path: str | os.PathLike, config: Mapping[str, Any], *, force: bool = False, **facts: Any
) -> Run:
    """A new run folder, whose description holds the facts too; an existing one is replaced only if
    forced."""
    path = pathlib.Path(path)
    if path.exists() and not force:
        raise RunError(_taken(path))
    if path.exists() and not (path / _DESCRIPTION).is_file():
        raise RunError(f"{path}: exists and is no run folder, so --force does not replace it")
    description = {
        "format": FORMAT,
        "version": __version__,
        "state": "running",
        "created": _now(),
        "config": dict(config),
        "environment": environment(),
        "notes": [],
        **facts,
    }

    def fill(folder: pathlib.Path) -> None:
        folder.mkdir()
        (folder / _DESCRIPTION).write_text(json.dumps(description, indent=2))

    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    place(path, fill)
    return open_run(path)


def _taken(path: pathlib.Path) -> str:
    try:
        run = open_run(path)
    except RunError:
        return f"{path}: exists already; needed a name that is free"
    if run.finished:
        return f"{path}: holds a finished run; give another name, or --force to replace it"
    return (
        f"{path}: holds a run that stopped at step {run.step} of {run.config['steps']}; "
        f"go on with `{run.resume_command}`, or --force to start anew"
    )


@contextlib.contextmanager
def held(run: Run) -> Iterator[None]:
    """Keeps other processes from writing to the run; ends with the process, however it ends."""
    with explained(run.path):
        lock = (run.path / ".lock").open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{run.path}: another process is training this run") from None
        clear_unfinished(run.path)
        yield


def note(run: Run, *notes: str) -> Run:
    """Writes notes for readers of the run into its description."""
    if not notes:
        return run
    return _describe(run, notes=[*run.notes, *notes])


def finish(run: Run, ensemble: Ensemble, metrics: Metrics, results: Mapping[str, Any]) -> Run:
    """Writes all that a finished run holds, and marks it finished last of all."""

    def fill(folder: pathlib.Path) -> None:
        for task, network in ensemble.networks.items():
            (folder / task).mkdir(parents=True)
            on_host = jax.tree.map(np.asarray, network)
            for index, seed in enumerate(ensemble.seeds):
                member = jax.tree.map(operator.itemgetter(index), on_host)
                networks.save(member, folder / task / _weights_name(seed), task)

    place(run.path / "weights", fill)
    write_arrays(run.path / "metrics.safetensors", metrics._asdict())
    return seal(run, results)


def seal(run: Run, results: Mapping[str, Any]) -> Run:
    """Writes the results of a run whose other files are in place, and marks it finished."""
    write_bytes(run.path / "results.json", json.dumps(dict(results), indent=2).encode())
    run = _describe(run, state="finished", finished=_now())
    checkpoints.delete_all(run.path)
    return run


def _describe(run: Run, **changes: Any) -> Run:
    description = run.description | changes
    write_bytes(run.path / _DESCRIPTION, json.dumps(description, indent=2).encode())
    return dataclasses.replace(run, description=description)


def flat(tree: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    """The leaves of a tree by dotted names."""
    leaves: dict[str, Any] = {}
    for name, value in tree.items():
        inside = isinstance(value, dict)
        leaves |= flat(value, f"{start}{name}.") if inside else {start + name: value}
    return leaves


def _weights_name(seed: int) -> str:
    return f"seed-{seed:05d}.safetensors"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
