"""Findings: what was found out about the networks of a run for one of its tasks.

Measuring takes minutes and drawing seconds, so findings are kept in the run folder, and pages are
made from them alone:

    findings/TASK.json           judgements, program, distances, landscapes
    findings/TASK.safetensors    the problems that are shown, and what everybody did on them
"""

import dataclasses
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.files import explained, read_arrays, write_arrays, write_bytes
from algoscope.recording import Recording
from algoscope.runs import Run, RunError
from algoscope.runs.environment import environment
from algoscope.tasks import Batch, Feature, Kind, Location, Stage, Task

FORMAT = 1


class Program(NamedTuple):
    """The compiled program that the networks are compared with."""

    name: str
    text: str
    width: int
    parameters: int
    certificate: dict[str, Any]
    verification: dict[str, Any]
    """As `algoscope verify --json` gives it."""


class Distances(NamedTuple):
    names: list[str]
    references: int
    """So many of the names, the last ones, are exact programs."""
    total_variation: np.ndarray
    """Between the attention of any two: [name, name]"""


class Hill(NamedTuple):
    """The loss around one network."""

    name: str
    offsets: np.ndarray
    losses: np.ndarray
    largest_eigenvalue: float
    residual: float


class Shown(NamedTuple):
    """Problems to look at, and what everybody did on them."""

    titles: list[str]
    batch: Batch
    recordings: dict[str, Recording]
    """By name of the subject; the compiled program's comes first."""


@dataclasses.dataclass(frozen=True, eq=False)
class Findings:
    task: str
    problem_seed: int
    seeds: tuple[int, ...]
    judgements: dict[str, dict[str, Any]]
    """By name of the network, `seed 0` and so on, as `algoscope judge --json` gives them; the
    verdict is None where there was nothing to judge by."""
    control: dict[str, Any] | None
    """The same of the compiled program."""
    program: Program | None
    """None where the library has no exact program for the task."""
    distances: Distances | None
    """None for a single network without reference."""
    hills: list[Hill]
    """Around the best network and the compiled program; empty where there is none."""
    shown: Shown
    environment: dict[str, Any]
    seconds: float
    """How long the measuring took."""

    @property
    def words(self) -> dict[str, str | None]:
        return {name: judgement["verdict"] for name, judgement in self.judgements.items()}


def findings(
    run: Run,
    task: Task | str,
    *,
    problem_seed: int = 0,
    again: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> Findings:
    """Those in the run folder if they are of these problems, or new ones, which are then kept."""
    task = tasks.register(tasks.get(task)).name
    if not again:
        known = kept(run, task)
        if known is not None and known.problem_seed == problem_seed:
            return known
    from algoscope.report.examine import examine

    begun = time.monotonic()
    found = examine(run, task, problem_seed, tell)
    found = dataclasses.replace(found, seconds=time.monotonic() - begun, environment=environment())
    _keep(run, found)
    return found


def kept(run: Run, task: str) -> Findings | None:
    """What is in the run folder; None if there is nothing, or something of another format."""
    path = run.path / "findings" / f"{task}.json"
    if not path.is_file():
        return None
    try:
        facts = json.loads(path.read_text())
        if facts["format"] != FORMAT:
            return None
        arrays_path = path.with_suffix(".safetensors")
        arrays = read_arrays(arrays_path)
        if hashlib.sha256(arrays_path.read_bytes()).hexdigest() != facts["arrays"]:
            return None
        return _from_parts(facts, arrays)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise RunError(
            f"{path}: cannot be read ({error!r}); delete {path.parent} or give "
            "--remeasure to measure anew"
        ) from None


def _keep(run: Run, found: Findings) -> None:
    folder = run.path / "findings"
    with explained(folder):
        folder.mkdir(exist_ok=True)
    facts, arrays = _to_parts(found)
    path = folder / f"{found.task}.json"
    write_arrays(path.with_suffix(".safetensors"), arrays)
    octets = path.with_suffix(".safetensors").read_bytes()
    facts["arrays"] = hashlib.sha256(octets).hexdigest()
    write_bytes(path, json.dumps(facts, indent=1).encode())


def _to_parts(found: Findings) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    batch, recordings = found.shown.batch, found.shown.recordings
    arrays = {"lengths": np.asarray(batch.lengths)}
    for stage in ("inputs", "hints", "outputs"):
        arrays |= {f"{stage}.{name}": a for name, a in getattr(batch, stage).items()}
    for number, recording in enumerate(recordings.values()):
        arrays[f"{number}.attention"] = np.asarray(recording.attention)
        arrays[f"{number}.hidden"] = np.asarray(recording.hidden, np.float32)
        for stage in ("hints", "outputs"):
            predicted: Mapping[str, Any] = getattr(recording, stage)
            arrays |= {f"{number}.{stage}.{name}": np.asarray(a) for name, a in predicted.items()}
    if found.distances is not None:
        arrays["distances"] = found.distances.total_variation
    for number, hill in enumerate(found.hills):
        arrays |= {f"hill.{number}.offsets": hill.offsets, f"hill.{number}.losses": hill.losses}
    facts = {
        "format": FORMAT,
        "task": found.task,
        "problem_seed": found.problem_seed,
        "seeds": found.seeds,
        "judgements": found.judgements,
        "control": found.control,
        "program": found.program and found.program._asdict(),
        "distances": found.distances
        and {"names": found.distances.names, "references": found.distances.references},
        "hills": [
            {"name": h.name, "largest_eigenvalue": h.largest_eigenvalue, "residual": h.residual}
            for h in found.hills
        ],
        "features": [dataclasses.asdict(feature) for feature in batch.features],
        "titles": found.shown.titles,
        "shown": list(recordings),
        "environment": found.environment,
        "seconds": found.seconds,
    }
    return facts, arrays


def _feature(given: dict[str, Any]) -> Feature:
    enumerated = {"stage": Stage, "location": Location, "kind": Kind}
    return Feature(**given | {name: kind(given[name]) for name, kind in enumerated.items()})


def _from_parts(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Findings:
    def starting(start: str) -> dict[str, np.ndarray]:
        return {n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)}

    task = tasks.get(facts["task"])
    inputs, hints, outputs = (starting(f"{stage}.") for stage in ("inputs", "hints", "outputs"))
    features = tuple(_feature(of) for of in facts["features"])
    batch = Batch(task, inputs, hints, outputs, arrays["lengths"], features)
    recordings = {
        name: Recording(
            arrays[f"{number}.attention"],
            arrays[f"{number}.hidden"],
            dict(starting(f"{number}.hints.")),
            dict(starting(f"{number}.outputs.")),
            arrays["lengths"],
            {},
        )
        for number, name in enumerate(facts["shown"])
    }
    distances = facts["distances"]
    return Findings(
        facts["task"],
        facts["problem_seed"],
        tuple(facts["seeds"]),
        facts["judgements"],
        facts["control"],
        facts["program"] and Program(**facts["program"]),
        distances and Distances(**distances, total_variation=arrays["distances"]),
        [
            Hill(
                **hill,
                offsets=arrays[f"hill.{number}.offsets"],
                losses=arrays[f"hill.{number}.losses"],
            )
            for number, hill in enumerate(facts["hills"])
        ],
        Shown(facts["titles"], batch, recordings),
        facts["environment"],
        facts["seconds"],
    )
