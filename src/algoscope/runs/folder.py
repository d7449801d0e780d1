"""Run: a folder that describes itself, and the truth about what was done.

    run.json                     config, environment, state, notes
    results.json                 per seed: best step, validation, test and other scores
    metrics.safetensors          loss of every step, score of every validation
    metrics.parquet, validation.parquet, results.parquet      the same as tables, for queries
    weights/TASK/seed-00007.safetensors                       each an ordinary network
    weights-last/TASK/…                                       the same network's last weights;
                                                              weights-best, where those are kept
    checkpoint-STEP-DIGEST.safetensors                        of a run that is not finished
    live.json                                                 how far it is, see `live`
    .lock                                                     held by the process that trains it

The tables are made where DuckDB is installed, or later by `algoscope runs import`. `reservation`
makes folders. JAX and networks are imported where weights are read or written, so that a list of
runs does not wait for them.
"""

import dataclasses
import datetime
import functools
import json
import operator
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from algoscope.files import RunError, place, read_arrays, told, write_arrays, write_bytes
from algoscope.runs import checkpoints, live, lock
from algoscope.runs.description import Description, State, read_description, read_results

if TYPE_CHECKING:
    from algoscope.networks import Ensemble

DESCRIPTION = "run.json"
METRICS = "metrics.safetensors"
STUDY, STUDY_PAGE = "llm", "page.html"
"""The kind of a study of a language model, and the page that it ends with."""


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
    description: Description
    """What run.json says."""

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def config(self) -> dict[str, Any]:
        """As JSON; `training.config_of(run)` makes it a TrainingConfig."""
        return dict(self.description["config"])

    @property
    def options(self) -> dict[str, Any]:
        """The configuration by dotted names, such as network.width."""
        return flat(self.config)

    @property
    def finished(self) -> bool:
        return self.description["state"] == "finished"

    @property
    def state(self) -> State:
        if self.finished:
            return State.FINISHED
        return State.RUNNING if lock.is_held(self.path) else State.STOPPED

    @property
    def created(self) -> str:
        return self.description["created"]

    @property
    def seconds(self) -> float:
        """From the first beginning to the end, pauses included; 0 if the clock was set back."""
        moment = datetime.datetime.fromisoformat
        end = self.description.get("finished", self.created)
        return max(0.0, (moment(end) - moment(self.created)).total_seconds())

    @property
    def computed_seconds(self) -> float:
        """In which it was trained and scored, without pauses and without steps that were lost with
        a process; `seconds` of a run of an earlier version."""
        return self.description.get("computed_seconds", self.seconds)

    @property
    def device(self) -> str:
        return self.description["environment"]["device"]

    @property
    def notes(self) -> list[str]:
        """What a reader of the run should know, such as changes of place on the way."""
        return self.description["notes"]

    @property
    def kind(self) -> str:
        """`transnar` of a tower, `llm` of a study of a language model; empty of graph networks."""
        return self.description.get("kind", "")

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
        path = self.path / METRICS
        named = read_arrays(path) if path.exists() else checkpoints.read(self.path).metrics
        return metrics_from(path, named, (len(self.seeds), len(self.tasks)))

    @property
    def results(self) -> dict[str, Any]:
        """By name, with a list over seeds for each number: see `training.evaluation`."""
        self._need_finished()
        return read_results(self.path / "results.json", self.description)

    @property
    def resume_command(self) -> str:
        """What to type to go on with it."""
        from algoscope import tasks

        known = tasks.names(variants=True)
        file = "" if set(self.tasks) <= set(known) else " --task FILE.py"
        kind = f"{self.kind} " if self.kind else ""
        return f"algoscope {kind}train --resume {self.path}{file}"

    @property
    def keeps(self) -> str:
        """Which weights are in weights/, best (on validation) or last."""
        return self.config.get("keep", "best")

    def results_of(self, weights: str) -> dict[str, Any]:
        """The scores by set of the best or of the last weights; a RunError if a run of an earlier
        version has not scored them."""
        results = self.results
        if weights == self.keeps:
            return results
        if weights not in results:
            raise RunError(f"{self.path}: has no scores of its {weights} weights; train it anew")
        return results[weights]

    def ensemble(
        self, seeds: Sequence[int] | None = None, weights: str | None = None
    ) -> "Ensemble":
        """Each seed with the weights that the run keeps, or with its best or its last ones."""
        from algoscope import networks
        from algoscope.networks import Ensemble

        self.need_networks()
        self._need_finished()
        chosen = tuple(self.seeds if seeds is None else seeds)
        by_task = {}
        for task in self.tasks:
            paths = [self._weights(task, seed, weights) for seed in chosen]
            for path in paths:
                if not path.exists():
                    raise RunError(
                        f"{path}: not there; the run has the seeds {self.seeds[0]} to "
                        f"{self.seeds[-1]}, and weights for seeds={list(self.seeds_with_weights)}"
                    )
            members = [networks.load(path)[0] for path in paths]
            by_task |= Ensemble.of(members, task, chosen).networks
        return Ensemble(by_task, chosen)

    def _weights(self, task: str, seed: int, weights: str | None = None) -> pathlib.Path:
        place = "weights" if weights in (None, self.keeps) else f"weights-{weights}"
        return self.path / place / task / _weights_name(seed)

    def need_networks(self) -> None:
        """Refuses a run of another kind."""
        if self.kind:
            page = self.path / STUDY_PAGE
            there = f"; its page is {page}" if page.is_file() else ""
            raise RunError(
                f"{self.path}: got a run of kind {self.kind}, needed one of graph networks{there}"
            )

    def _need_finished(self) -> None:
        if not self.finished:
            raise RunError(f"{self.path}: got a run that {self.progress}, needed a finished one")

    @property
    def progress(self) -> str:
        """Where it is, in words, and what to do."""
        if self.finished:
            return "is finished"
        steps = f"step {self.step:,} of {self.config['steps']:,}"
        if self.state is State.RUNNING:
            return f"another process is training, at {steps}; wait for it to end"
        return f"stopped at {steps}; go on with `{self.resume_command}`"


def has_begun(path: str | os.PathLike) -> bool:
    """Whether the folder holds a run. Where a process was killed before it had begun one, there is
    a folder without, and a run may begin in it."""
    return (pathlib.Path(path) / DESCRIPTION).is_file()


def check_name(path: pathlib.Path) -> None:
    """Refuses a folder that tables and pages could not name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RunError(
            f"{path}: got a name that is no text in UTF-8, needed one that is; rename the folder"
        ) from None


def open_run(path: str | os.PathLike) -> Run:
    path = pathlib.Path(path)
    check_name(path)
    description = path / DESCRIPTION
    with told(description):
        begun = has_begun(path)
    if not begun:
        raise RunError(f"{path}: got no run folder, needed one that holds a {DESCRIPTION}")
    return Run(path, read_description(description))


def load_ensemble(
    path: str | os.PathLike, seeds: Sequence[int] | None = None, weights: str | None = None
) -> "Ensemble":
    """The ensemble that a run trained: each seed with the weights that the run keeps (its best, if
    not told otherwise), or with its `best` or its `last` ones."""
    return open_run(path).ensemble(seeds, weights)


class Damaged(NamedTuple):
    """A run folder whose description cannot be read."""

    path: pathlib.Path
    fault: str


class Listing(NamedTuple):
    runs: list[Run]
    damaged: list[Damaged]


def survey(root: str | os.PathLike) -> Listing:
    """All run folders below a folder, however deep, by path; a run inside a run is no run of its
    own."""
    root = pathlib.Path(root)
    if not root.is_dir():
        raise RunError(f"{root}: got no folder, needed one that holds runs")
    runs, damaged = [], []
    for path in run_folders(root):
        try:
            runs.append(open_run(path))
        except RunError as error:
            damaged.append(Damaged(path, str(error)))
    return Listing(runs, damaged)


def run_folders(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Those below a folder that hold a description, which is asked for first: what else is in a
    run need not be listed. Links are not followed: they may lead back, or out of the folder."""
    if os.path.isfile(os.path.join(root, DESCRIPTION)):
        yield root
        return
    try:
        with os.scandir(root) as found:
            inside = [e.name for e in found if e.is_dir(follow_symlinks=False)]
    except PermissionError:  # It may be a run, and whoever opens it is told.
        yield root
        return
    except OSError:  # Gone by now.
        return
    for name in sorted(inside):
        if not name.startswith("."):
            yield from run_folders(root / name)


def list_runs(root: str | os.PathLike) -> list[Run]:
    """The runs below a folder, by path; what is damaged is left out, see `survey`."""
    return survey(root).runs


def note(run: Run, *notes: str) -> Run:
    """Writes notes for readers of the run into its description."""
    if not notes:
        return run
    return _describe(run, notes=[*run.notes, *notes])


def finish(
    run: Run,
    ensemble: "Ensemble",
    metrics: Metrics,
    results: Mapping[str, Any],
    others: "Mapping[str, Ensemble] | None" = None,
    seconds: float | None = None,
) -> Run:
    """Writes all that a finished run holds, and marks it finished last of all; `others` are the
    same networks with other weights, by what those are; it took so many `seconds`, without
    pauses."""
    for name, written in {"": ensemble, **(others or {})}.items():
        folder = f"weights-{name}" if name else "weights"
        place(run.path / folder, functools.partial(_write_weights, written))
    write_arrays(run.path / METRICS, metrics._asdict())
    return seal(run, results, seconds)


def _write_weights(ensemble: "Ensemble", folder: pathlib.Path) -> None:
    import jax

    from algoscope import networks

    for task, network in ensemble.networks.items():
        (folder / task).mkdir(parents=True)
        on_host = jax.tree.map(np.asarray, network)
        for index, seed in enumerate(ensemble.seeds):
            member = jax.tree.map(operator.itemgetter(index), on_host)
            networks.save(member, folder / task / _weights_name(seed), task)


def seal(run: Run, results: Mapping[str, Any], seconds: float | None = None) -> Run:
    """Writes the results of a run whose other files are in place, and marks it finished."""
    write_bytes(run.path / "results.json", json.dumps(dict(results), indent=2).encode())
    told = {} if seconds is None else {"computed_seconds": round(seconds, 3)}
    run = _describe(run, state="finished", finished=now(), **told)
    checkpoints.delete_all(run.path)
    live.remove(run.path)
    return run


def _describe(run: Run, **changes: Any) -> Run:
    write_description(run.path, {**run.description, **changes})
    return open_run(run.path)


def write_description(path: pathlib.Path, description: Mapping[str, Any]) -> None:
    write_bytes(path / DESCRIPTION, json.dumps(description, indent=2).encode())


def metrics_from(
    path: pathlib.Path, named: Mapping[str, np.ndarray], form: tuple[int, ...] | None = None
) -> Metrics:
    """The metrics with these arrays; `form` is the number of seeds and tasks, if it is known."""
    faults = [f"{name}: not there, and needed" for name in Metrics._fields if name not in named]
    if not faults:
        loss, moments, scores = (named[name] for name in Metrics._fields)
        form = loss.shape[1:] if form is None else form
        shapes = {
            "loss": (loss.shape, (*loss.shape[:1], *form)),
            "validation_steps": (moments.shape, scores.shape[:1]),
            "validation": (scores.shape, (*scores.shape[:1], *form)),
        }
        faults += [
            f"{name}: got shape {list(shape)}, needed {list(needed)}"
            for name, (shape, needed) in shapes.items()
            if shape != needed
        ]
    if faults:
        raise RunError("\n".join(f"{path}: {fault}" for fault in faults))
    return Metrics(*(named[name] for name in Metrics._fields))


def flat(tree: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    """The leaves of a tree by dotted names."""
    leaves: dict[str, Any] = {}
    for name, value in tree.items():
        inside = isinstance(value, dict)
        leaves |= flat(value, f"{start}{name}.") if inside else {start + name: value}
    return leaves


def _weights_name(seed: int) -> str:
    return f"seed-{seed:05d}.safetensors"


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
