"""Kinds of graphs: named options of graph samplers, for mixtures in training and parts of an
examination.

    tasks.Recipe(graphs=("clrs", "deep", "clrs", "sparse"))
    tasks.sample("bfs", **graph_options(tasks.get("bfs"), "deep"))

Adding a kind is adding a line to `GRAPHS`.
"""

from collections.abc import Mapping
from typing import Any

from algoscope.errors import unknown_name
from algoscope.tasks.families import CLRS_FAMILY
from algoscope.tasks.task import Task

CLRS = "clrs"
GRAPHS: Mapping[str, Mapping[str, Any]] = {
    CLRS: {},
    "line": {"family": "grid", "columns": 1},
    "deep": {"family": "grid", "columns": 2},
    "sparse": {"family": CLRS_FAMILY, "p": (0.1, 0.2, 0.3, 0.4)},
    "dense": {"family": CLRS_FAMILY, "p": (0.8, 0.9)},
    "grid": {"family": "grid"},
    "tree": {"family": "tree"},
}
"""CLRS-30's own; lines; long narrow grids, on which a search takes many steps; graphs that fall
apart; nearly complete ones; squarest grids; trees of which any is as likely as another."""
_WEIGHTS = {"low": 0.0, "high": 0.5}
"""Of kinds other than CLRS-30's: long paths stay within the numbers that programs promise."""


def graph_options(task: Task, kind: str) -> dict[str, Any]:
    """The options of the task's sampler that draw graphs of this kind."""
    if kind == CLRS:
        return {}
    if kind not in GRAPHS:
        raise ValueError(unknown_name("kind of graphs", kind, GRAPHS))
    if "family" not in task.options:
        raise ValueError(
            f"graphs: got {kind} for {task.name}, whose problems are no graphs of a family; "
            f"needed {CLRS}"
        )
    return {**GRAPHS[kind], **{n: v for n, v in _WEIGHTS.items() if n in task.options}}
