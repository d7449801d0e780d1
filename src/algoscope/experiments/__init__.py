"""Experiments: the tables and figures of papers, each one value with presets.

    from algoscope import experiments

    experiments.get("transnar-scores").run("smoke", pathlib.Path("runs/transnar-smoke"), print)

A new one is a module with an `EXPERIMENT` and a line in `_MODULES`. Modules are light: what
computes is imported when it runs.
"""

import functools
import importlib

from algoscope.errors import unknown_name
from algoscope.experiments.experiment import Claim, Experiment, Result

__all__ = ["Claim", "Experiment", "Result", "get", "names"]

_MODULES = (
    "transnar_scores",
    "mind_the_gap.table1",
    "mind_the_gap.table10",
    "mind_the_gap.table14",
    "mind_the_gap.bfs_figures",
    "mind_the_gap.bellman_ford_figures",
)


@functools.cache
def _all() -> dict[str, Experiment]:
    modules = (importlib.import_module(f"{__name__}.{module}") for module in _MODULES)
    return {module.EXPERIMENT.name: module.EXPERIMENT for module in modules}


def names() -> list[str]:
    return sorted(_all())


def get(name: str) -> Experiment:
    if name not in _all():
        raise ValueError(unknown_name("experiment", name, _all()))
    return _all()[name]
