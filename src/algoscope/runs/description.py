"""What run.json and results.json hold: the types that they are read as."""

import datetime
import enum
import pathlib
from typing import Any, Literal, NotRequired, TypedDict

from algoscope import __version__
from algoscope.errors import short
from algoscope.files import RunError, read_json, told
from algoscope.serialise import FormatError, from_json

FORMAT = 1
_MOST_SEEDS = 1_000_000


class State(enum.StrEnum):
    """What is known of a run folder."""

    RUNNING = "running"
    """A process is training it now."""
    STOPPED = "stopped"
    """Nobody is, and it is not finished."""
    FINISHED = "finished"
    DAMAGED = "damaged"
    """Its files do not say what they should."""


class Settings(TypedDict):
    """What every configuration of a run has, besides the fields of its training's."""

    tasks: list[str]
    seeds: int
    first_seed: int
    steps: int


class Environment(TypedDict):
    """What is asked of the place where a run was made; see `environment` for the rest."""

    commit: str | None
    device: str
    devices: int
    packages: dict[str, str | None]
    platform: str
    python: str
    system: str
    vectors: NotRequired[str]


class Description(TypedDict):
    """run.json"""

    format: int
    version: str
    state: Literal["running", "finished"]
    created: str
    finished: NotRequired[str]
    computed_seconds: NotRequired[float]
    """See `Run.computed_seconds`."""
    config: Settings
    environment: Environment
    notes: list[str]
    kind: NotRequired[str]
    """What was trained, if no graph networks."""
    made_by: NotRequired[str]
    """The verb that may replace it, if not `train`."""
    sweep: NotRequired[str]
    """The name of the sweep that it is of."""
    seeds_at_once: NotRequired[int]
    started_from_weights: NotRequired[bool]


Scores = dict[str, dict[str, list[float]]]
"""By task and output, each a list over seeds."""


class TestSet(TypedDict):
    nodes: int
    samples: int
    split: str


class OtherScores(TypedDict):
    """Of the weights that a run does not keep as its own."""

    test: Scores
    fresh: Scores
    seen: Scores


class Results(TypedDict):
    """results.json of graph networks."""

    test: Scores
    fresh: Scores
    seen: Scores
    test_set: NotRequired[dict[str, TestSet]]
    best_step: list[int]
    best_validation: list[float]
    last: NotRequired[OtherScores]
    """Of the last weights, where the best are kept."""
    best: NotRequired[OtherScores]
    """Of the best weights, where the last are kept."""


def read_description(path: pathlib.Path) -> Description:
    with told(path):
        content = read_json(path, Any)
        known = content if isinstance(content, dict) else {}
        written, version = short(known.get("format")), short(known.get("version")).strip("'")
        if written != str(FORMAT):
            raise RunError(
                f"{path.parent}: got a run folder of format {written}, written by version "
                f"{version}; this is version {__version__}, which reads format {FORMAT}"
            )
        description = from_json(Description, content, where=path.stem)
        faults = [*_setting_faults(description["config"]), *_moment_faults(description)]
        if faults:
            raise FormatError("\n".join(faults))
        return description


def read_results(path: pathlib.Path, description: Description) -> Any:
    """Of graph networks, `Results` whose lists have a number for each seed."""
    if "kind" in description:
        return read_json(path, dict[str, Any])
    results = read_json(path, Results)
    seeds = description["config"]["seeds"]
    lists = {name: results[name] for name in ("best_step", "best_validation")}
    parts: dict[str, Any] = {"": results}
    parts |= {f"{name}.": results[name] for name in ("last", "best") if name in results}
    for where, part in parts.items():
        for name in ("test", "fresh", "seen"):
            for task, scores in part[name].items():
                place = f"{where}{name}.{task}"
                lists |= {f"{place}.{output}": values for output, values in scores.items()}
                if "score" not in scores:
                    raise RunError(f"{path}: {place}.score: not there, and needed")
    for name, values in lists.items():
        if len(values) != seeds:
            raise RunError(f"{path}: {name}: got {len(values)} numbers, needed one a seed, {seeds}")
    return results


def _setting_faults(config: Settings) -> list[str]:
    faults = []
    if not config["tasks"]:
        faults.append("config.tasks: got none, needed at least one")
    faults += [
        f"config.tasks: got {short(name)}, needed the name of a task"
        for name in config["tasks"]
        if name.startswith(".") or pathlib.PurePath(name).name != name or not name.isprintable()
    ]
    bounds = {"seeds": (1, _MOST_SEEDS), "first_seed": (0, 2**32 - 1), "steps": (1, 2**31 - 1)}
    return faults + [
        f"config.{name}: got {short(config[name])}, needed an integer from {least} to {most:,}"
        for name, (least, most) in bounds.items()
        if not least <= config[name] <= most
    ]


def _moment_faults(description: Description) -> list[str]:
    finished = ("finished",) if description["state"] == "finished" else ()
    faults = []
    for name in ("created", *finished):
        value = description.get(name, "")
        try:
            known = datetime.datetime.fromisoformat(value).tzinfo is not None
        except ValueError:
            known = False
        if not known:
            needed = "needed a moment such as 2026-05-01T12:00:00+00:00"
            faults.append(f"{name}: got {short(value)}, {needed}")
    return faults
