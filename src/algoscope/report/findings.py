"""Findings: what was measured of the networks of a run for one of its tasks.

Measuring takes minutes and drawing seconds, so findings are kept in the run folder, and pages are
made from them, without running a network:

    findings/TASK.json           judgements, program, distances, landscapes
    findings/TASK.safetensors    the problems that are shown, and what everybody did on them
"""

import dataclasses
import hashlib
import json
import pathlib
from typing import Any, NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.files import (
    explained,
    packed,
    read_arrays,
    read_bytes,
    read_json,
    told,
    write_bytes,
)
from algoscope.measures import Judgement
from algoscope.measures.landscape import Landscape, Sharpness
from algoscope.programs.verification import Verification
from algoscope.recording import Recording
from algoscope.runs import Run, RunError
from algoscope.serialise import from_json, to_json
from algoscope.tasks import Batch, Task

FORMAT = 3
_BY_NAME = {Task: tasks.get}
_WITHOUT_ARRAYS = ("judgements", "control")
"""Fields that can be read from the JSON alone."""


class Program(NamedTuple):
    """The compiled program that the networks are compared with."""

    name: str
    text: str
    width: int
    parameters: int
    verification: Verification


class Distances(NamedTuple):
    names: list[str]
    references: int
    """So many of the names, the last ones, are exact programs."""
    total_variation: np.ndarray
    """Between the attention of any two: [name, name]"""


class Surroundings(NamedTuple):
    """The loss around one network."""

    name: str
    landscape: Landscape
    sharpness: Sharpness


class Shown(NamedTuple):
    """Problems to look at, and what everybody did on them when judged."""

    titles: list[str]
    batch: Batch
    recordings: dict[str, Recording]
    """By name of the subject; the compiled program's comes first."""


@dataclasses.dataclass(frozen=True, eq=False)
class Findings:
    task: str
    problem_seed: int
    problems: int
    """About so many the falsifier tried on each network."""
    seeds: tuple[int, ...]
    judgements: dict[str, Judgement]
    """By name of the network, `seed 0` and so on; the recordings are in `shown`."""
    control: Judgement | None
    """The same of the compiled program."""
    program: Program | None
    """None where the library has no exact program for the task."""
    distances: Distances | None
    """None for a single network without reference."""
    landscapes: list[Surroundings]
    """Around the best network and the compiled program; empty where there is none."""
    shown: Shown
    environment: dict[str, Any]
    seconds: float
    """How long the measuring took."""
    rounded: tuple[str, ...] = ()
    """Networks whose weights are in float16 in a page: no decision changes (`rounding`)."""
    basis: str = ""
    """What judged which weights: see `examine`."""

    @property
    def words(self) -> dict[str, str]:
        return {name: judgement.verdict.word for name, judgement in self.judgements.items()}

    @property
    def subjects(self) -> dict[str, Judgement]:
        """All that were judged, the compiled program last."""
        if self.program is None or self.control is None:
            return self.judgements
        return self.judgements | {f"compiled {self.program.name}": self.control}


def read(run: Run, task: str) -> Findings | None:
    """What is in the run folder; None if there is nothing, or something of another format."""
    path = _path(run, task)
    arrays_path = path.with_suffix(".safetensors")
    try:
        content = _read_json(path)
        if content is None:
            return None
        arrays = read_arrays(arrays_path)
        if hashlib.sha256(read_bytes(arrays_path)).hexdigest() != content.pop("arrays"):
            return None
        return from_json(Findings, content, arrays, _BY_NAME, "findings")
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise RunError(
            f"{path}: cannot be read ({error!r}); delete {path.parent} or give "
            "--remeasure to measure anew"
        ) from None


def read_judgements(run: Run, task: str) -> dict[str, Judgement]:
    """The judgements in the run folder; empty if there are none."""
    path = _path(run, task)
    content = _read_json(path)
    if content is None:
        return {}
    with told(path):
        return from_json(dict[str, Judgement], content.get("judgements"), where="judgements")


def write(run: Run, findings: Findings) -> None:
    path = _path(run, findings.task)
    with explained(path.parent):
        path.parent.mkdir(exist_ok=True)
    arrays: dict[str, np.ndarray] = {}
    content: dict[str, Any] = {"format": FORMAT}
    for field in dataclasses.fields(findings):
        value = getattr(findings, field.name)
        separate = None if field.name in _WITHOUT_ARRAYS else arrays
        content[field.name] = to_json(value, separate, _BY_NAME, field.name)
    octets = packed(arrays)
    write_bytes(path.with_suffix(".safetensors"), octets)
    content["arrays"] = hashlib.sha256(octets).hexdigest()
    write_bytes(path, json.dumps(content, indent=1).encode())


def _path(run: Run, task: str) -> pathlib.Path:
    return run.path / "findings" / f"{task}.json"


def _read_json(path: pathlib.Path) -> dict[str, Any] | None:
    """None if there is nothing, or something of another format."""
    if not path.is_file():
        return None
    content = read_json(path, dict[str, Any])
    return content if content.pop("format", None) == FORMAT else None
