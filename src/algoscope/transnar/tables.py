"""Tables of a study's results, and what is kept of the way to them."""

import pathlib
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from algoscope.runs.files import read_arrays
from algoscope.tasks.table import Table
from algoscope.transnar.scores import Scores, averaged, from_json, mean_clrs


def table(results: dict[str, Any]) -> Table:
    """Mean CLRS scores over tasks, by row and size."""
    sizes = results["test_sizes"]
    rows = []
    for name, given in results["rows"].items():
        each = [from_json(scores) for scores in given]
        mean = averaged(each)
        cells = [f"{mean_clrs(mean, [size]):.3f}" for size in sizes]
        unseen = [mean_clrs(scores, results["unseen_sizes"]) for scores in each]
        spread = f" ({min(unseen):.3f}–{max(unseen):.3f})" if len(unseen) > 1 else ""
        means = [score for by_size in mean.values() for score in by_size.values()]
        others = [
            f"{statistics.fmean([getattr(score, field) for score in means]):.3f}"
            for field in ("shape", "parse", "exact")
        ]
        rows.append([name, *cells, f"{statistics.fmean(unseen):.3f}{spread}", *others])
    return Table(
        "mean CLRS score over tasks, by size; then the mean over unseen sizes, and shape, parse "
        "and exact over all",
        ["", *(f"n = {size}" for size in sizes), "unseen", "shape", "parse", "exact"],
        rows,
    )


def task_table(results: dict[str, Any]) -> Table:
    """CLRS scores by task, means over the unseen sizes."""
    rows = results["rows"]
    columns = [averaged([from_json(s) for s in given]) for given in rows.values()]
    sizes = results["unseen_sizes"]
    return Table(
        f"CLRS score by task, mean over n = {', '.join(map(str, sizes))}",
        ["task", *rows],
        [
            [task, *(f"{statistics.fmean([c[task][s].clrs for s in sizes]):.3f}" for c in columns)]
            for task in columns[0]
        ],
    )


def summary(scores: Scores, unseen_sizes: Sequence[int]) -> dict[str, Any]:
    """Of scores on the way: means over tasks by size, and CLRS scores of each task at unseen
    sizes."""
    fields = ("shape", "parse", "clrs", "exact")
    return {
        "by_size": {
            str(size): {
                field: round(
                    statistics.fmean([getattr(of[size], field) for of in scores.values()]), 4
                )
                for field in fields
            }
            for size in next(iter(scores.values()))
        },
        "clrs_unseen": {
            task: round(statistics.fmean([of[size].clrs for size in unseen_sizes]), 4)
            for task, of in scores.items()
        },
    }


def loss_curve(path: pathlib.Path, points: int = 100) -> dict[str, list[float]]:
    """The loss as means over so many equal stretches of steps."""
    loss = read_arrays(path / "metrics.safetensors")["loss"]
    if loss.ndim > 1:
        loss = loss.mean((1, 2))
    parts = np.array_split(loss, min(points, len(loss)))
    ends = np.cumsum([len(part) for part in parts])
    return {"step": ends.tolist(), "loss": [round(float(p.mean()), 5) for p in parts]}
