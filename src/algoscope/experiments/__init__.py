"""Experiments: the tables and figures of papers, each one value with presets.

    from algoscope import experiments

    experiments.get("transnar-scores").run("smoke", pathlib.Path("runs/transnar-smoke"), print)
    experiments.from_results(pathlib.Path("results")).tables  # trains nothing

A new one is a module with `EXPERIMENTS` and its name in `_MODULES`. Modules are light: what
computes is imported when it runs. What reads results has a `summary` and its name in
`_SUMMARIES`.
"""

import functools
import importlib
import pathlib

from algoscope.errors import unknown_name
from algoscope.experiments.experiment import Claim, Experiment, Result

__all__ = ["Claim", "Experiment", "Result", "from_results", "get", "names"]

_MODULES = ("mind_the_gap.experiments", "transnar_scores")
_SUMMARIES = ("mind_the_gap.summary", "transnar_scores")


@functools.cache
def _all() -> dict[str, Experiment]:
    modules = (importlib.import_module(f"{__name__}.{module}") for module in _MODULES)
    return {entry.name: entry for module in modules for entry in module.EXPERIMENTS}


def names() -> list[str]:
    return sorted(_all())


def get(name: str) -> Experiment:
    if name not in _all():
        raise ValueError(unknown_name("experiment", name, _all()))
    return _all()[name]


def from_results(path: pathlib.Path) -> Result:
    """The tables and claims of what is at the path, or right below it; nothing is trained."""
    places = [path, *sorted(path.iterdir())] if path.is_dir() else [path]
    modules = [importlib.import_module(f"{__name__}.{module}") for module in _SUMMARIES]
    results = {
        place.stem: result
        for place in places
        for module in modules
        if (result := module.summary(place)) is not None
    }
    if not results:
        raise ValueError(
            f"--from: got {path}, needed the folder of `algoscope reproduce --out`, or its results"
        )
    return Result(
        tuple(table for result in results.values() for table in result.tables),
        tuple(claim for result in results.values() for claim in result.claims),
        {name: result.numbers for name, result in results.items()},
    )
