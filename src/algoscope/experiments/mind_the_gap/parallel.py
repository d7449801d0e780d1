"""NC-learnability, the paper's open question: are parallel algorithms what GATv2 learns?

All 30 tasks, each learnt as the paper learns its three. A task is classed by how its trace grows
against the known depth of its problem (`depth`).
"""

import pathlib
from typing import TYPE_CHECKING

import numpy as np

from algoscope.experiments.experiment import Claim, Result
from algoscope.experiments.mind_the_gap import depth
from algoscope.experiments.mind_the_gap.presets import Arm
from algoscope.table import Table

if TYPE_CHECKING:
    from algoscope.experiments.mind_the_gap.results import Ensembles
    from algoscope.report.figures.style import Drawn

_SEEDS, _SIGNIFICANT, _ENOUGH = 8, 0.05, 20
_SHOWN = "parallel"
ARMS = [Arm(task, "eight", seeds=_SEEDS, chunk=_SEEDS) for task in depth.PROBLEMS]
SMALL = [arm for arm in ARMS if arm.task in ("bfs", "minimum", "binary_search")]


def result(ensembles: "Ensembles") -> Result:
    """As far as the ensembles are there."""
    rows, claims = [], []
    for arm in ARMS:
        if arm.name not in ensembles:
            continue
        growth = depth.growth(arm.task)
        for view in ensembles[arm.name].views:
            scores = 100 * view.test
            ours = f"{scores.mean():.2f} ± {scores.std():.2f} ({scores.max():.2f})"
            row = [arm.task, depth.class_of(arm.task), f"{growth:.2f}", view.weights]
            rows.append([*row, ours, str(len(scores))])
    for weights in ("best", "last"):
        claims.append(_claim(ensembles, weights))
    columns = ["task", "class", "growth of its trace", "weights", "score", "N"]
    title = "NC-learnability: test score in percent at n = 64; a trace of n^g steps grows by g"
    return Result([Table(title, columns, sorted(rows, key=lambda row: row[1]))], claims)


def _means(ensembles: "Ensembles", weights: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Tasks, the growth of their traces and their mean scores."""
    found = {
        arm.task: view
        for arm in ARMS
        if arm.name in ensembles
        for view in ensembles[arm.name].views
        if view.weights == weights
    }
    growth = np.array([depth.growth(task) for task in found])
    return list(found), growth, np.array([view.test.mean() for view in found.values()])


def _claim(ensembles: "Ensembles", weights: str) -> Claim:
    from algoscope.measures.across import correlation

    text = f"tasks with traces that grow less are learnt better ({weights} weights)"
    tasks, growth, scores = _means(ensembles, weights)
    try:
        found = correlation(scores, growth)
    except ValueError as reason:
        return Claim(text, None, f"{reason}; N = {len(tasks)} tasks")
    holds = None
    if found.count >= _ENOUGH and found.spearman_p < _SIGNIFICANT:
        holds = found.spearman < 0
    rho, low, high = found.spearman, found.spearman_low, found.spearman_high
    evidence = f"Spearman {rho:+.2f} [{low:+.2f}, {high:+.2f}], p = {found.spearman_p:.3f}"
    return Claim(text, holds, f"{evidence}; N = {found.count} tasks of {_SEEDS} seeds")


def draw(ensembles: "Ensembles", folder: pathlib.Path) -> None:
    """The score of every task over the growth of its trace, for either weights."""
    from algoscope.report.figures import style

    folder.mkdir(parents=True, exist_ok=True)
    style.save(_drawn(ensembles), folder)


def _drawn(ensembles: "Ensembles") -> "Drawn":
    from algoscope.report.figures import style
    from algoscope.report.figures.style import Drawn

    rows = []
    with style.styled():
        figure = style.sheet(style.FULL, 3.8)
        for axes, weights in zip(figure.subplots(1, 2, sharey=True), ("best", "last"), strict=True):
            tasks, growth, scores = _means(ensembles, weights)
            axes.grid(True)
            axes.set_axisbelow(True)
            axes.plot(growth, scores, "o", color=style.TRAINED, markersize=4)
            for place in zip(growth, scores, tasks, strict=True):
                axes.annotate(place[2], place[:2], fontsize=5, rotation=30)
            axes.set_title(f"{weights} weights")
            axes.set_xlabel("growth of the trace")
            axes.set_ylabel("test score, n = 64")
            rows += [[weights, *place] for place in zip(tasks, growth, scores, strict=True)]
    return Drawn(
        _SHOWN,
        figure,
        "Every point is a task: its mean test score over eight seeds, and the exponent with which "
        "its trace grows from 16 to 64 nodes.",
        "Two scatter plots of test score against growth of the trace, for either weights.",
        ["weights", "task", "growth", "score"],
        rows,
    )
