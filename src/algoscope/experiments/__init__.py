"""Experiments: the tables and figures of papers, each one value with presets.

    from algoscope import experiments

    experiments.get("transnar-scores").run("smoke", pathlib.Path("runs/transnar-smoke"), print)
    experiments.from_results(pathlib.Path("results")).tables  # trains nothing

A new one is a module in `_MODULES`, with `EXPERIMENTS` and a `summary` that reads their results.
Modules are light: what computes is imported when it runs.
"""

import dataclasses
import pathlib
import tempfile
from types import ModuleType

from algoscope.errors import unknown_name
from algoscope.experiments import pack, transnar_recipe, transnar_scores
from algoscope.experiments.experiment import Claim, Experiment, Result, understood
from algoscope.experiments.mind_the_gap import experiments as gap_experiments

__all__ = ["Claim", "Experiment", "Result", "from_results", "get", "names"]

_MODULES = (gap_experiments, transnar_recipe, transnar_scores)
_EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for module in _MODULES for experiment in module.EXPERIMENTS
}


def names() -> list[str]:
    return sorted(_EXPERIMENTS)


def get(name: str) -> Experiment:
    if name not in _EXPERIMENTS:
        raise ValueError(unknown_name("experiment", name, _EXPERIMENTS))
    return _EXPERIMENTS[name]


def from_results(path: pathlib.Path) -> Result:
    """The tables and claims of what is at the path, or right below it, or in a pack; nothing is
    trained."""
    if pack.is_pack(path):
        with tempfile.TemporaryDirectory() as folder:
            pack.unpack(path, unpacked := pathlib.Path(folder) / path.stem)
            return from_results(unpacked)
    inside = sorted(path.iterdir()) if path.is_dir() else []
    places = [path, *(place for place in inside if place.is_dir() or place.suffix == ".json")]
    results = {
        place.stem: Result.joined(found)
        for place in places
        if (found := [r for module in _MODULES if (r := _summary(module, place)) is not None])
    }
    if not results:
        raise ValueError(
            f"--from: got {path}, needed the folder of `algoscope reproduce --out`, a pack of it, "
            "or its results"
        )
    return Result.joined(
        dataclasses.replace(result, numbers={name: result.numbers})
        for name, result in results.items()
    )


def _summary(module: ModuleType, place: pathlib.Path) -> Result | None:
    with understood(place):
        return module.summary(place)
