"""Tables of a study's results, and what is kept of the way to them."""

import enum
import pathlib
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from algoscope import tasks
from algoscope.files import read_arrays
from algoscope.table import Table
from algoscope.tasks import Kind, Location, Stage
from algoscope.transnar.scores import Score, Scores, averaged, from_json, mean_clrs


class Length(enum.StrEnum):
    """How long answers are: where they grow with n, most scores say whether a tower can count."""

    SHORT = "one or two numbers"
    PER_NODE = "a number for each node"
    OTHER = "decimals or a matrix"


def length_of_answers(task: str) -> Length:
    outputs = tasks.get(task).at(Stage.OUTPUT)
    if all(f.kind is Kind.MASK_ONE for f in outputs):
        return Length.SHORT
    per_node = all(
        f.location is Location.NODE and f.kind in (Kind.MASK, Kind.POINTER) for f in outputs
    )
    return Length.PER_NODE if per_node else Length.OTHER


def table(results: dict[str, Any]) -> Table:
    """Mean CLRS scores over tasks, by row and size."""
    sizes = results["test_sizes"]
    rows = []
    for name, content in results["rows"].items():
        each = [from_json(scores) for scores in content]
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


def task_table(results: dict[str, Any], names: Sequence[str] | None = None) -> Table:
    """CLRS scores by task, means over the unseen sizes; of all rows, or of these."""
    rows = {name: results["rows"][name] for name in names or results["rows"]}
    columns = [averaged([from_json(s) for s in content]) for content in rows.values()]
    sizes = results["unseen_sizes"]
    return Table(
        f"CLRS score by task, mean over {_written(sizes)}",
        ["task", *rows],
        [
            [task, *(f"{statistics.fmean([c[task][s].clrs for s in sizes]):.3f}" for c in columns)]
            for task in columns[0]
        ],
    )


def answer_tables(results: dict[str, Any]) -> list[Table]:
    """For answers of each length: shape, CLRS and CLRS where the shape is right."""
    groups = _seen_and_unseen(results)
    fields = ("shape", "CLRS", "where the shape is right")
    columns = [f"{field}, {_written(sizes)}" for sizes in groups for field in fields]
    made = []
    for length, names in _by_length(results).items():
        rows = []
        for row, content in results["rows"].items():
            each = [from_json(scores) for scores in content]
            chosen = [[s[task][n] for s in each for task in names for n in g] for g in groups]
            rows.append([row, *(cell for scores in chosen for cell in _about_shape(scores))])
        made.append(Table(f"answers of {length} ({', '.join(names)})", ["", *columns], rows))
    return made


def _seen_and_unseen(results: dict[str, Any]) -> list[list[int]]:
    unseen = results["unseen_sizes"]
    seen = [size for size in results["test_sizes"] if size not in unseen]
    return [sizes for sizes in (seen, unseen) if sizes]


def _written(sizes: Sequence[int]) -> str:
    return f"n = {', '.join(map(str, sizes))}"


def _by_length(results: dict[str, Any]) -> dict[Length, list[str]]:
    names = list(next(iter(results["rows"].values()))[0])
    by = {length: [n for n in names if length_of_answers(n) is length] for length in Length}
    return {length: tasks_alike for length, tasks_alike in by.items() if tasks_alike}


def _about_shape(scores: Sequence[Score]) -> list[str]:
    """Mean shape and CLRS scores, and the latter of answers of the right shape alone (all others
    have none), with its standard error."""
    shape, clrs, squares = (
        statistics.fmean(values)
        for values in (
            [score.shape for score in scores],
            [score.clrs for score in scores],
            [score.clrs_error**2 * (score.problems - 1) + score.clrs**2 for score in scores],
        )
    )
    means = [f"{shape:.3f}", f"{clrs:.3f}"]
    right = shape * sum(score.problems for score in scores)
    if right < 2:
        return [*means, "–"]
    variance = max(0.0, squares / shape - (clrs / shape) ** 2)
    return [*means, f"{clrs / shape:.3f} ± {(variance / (right - 1)) ** 0.5:.3f}"]


def ablation_table(results: dict[str, Any]) -> Table:
    """CLRS scores of the first hybrid with parts of its reading taken away."""
    lengths = _by_length(results)
    whole = {"as it is": results["rows"]["hybrid"][0]} | results["mechanism"]["ablations"]
    rows = []
    for name, content in whole.items():
        scores = from_json(content)
        means = [
            mean_clrs({task: scores[task] for task in names}, results["test_sizes"])
            for names in (list(scores), *lengths.values())
        ]
        rows.append([name, *(f"{mean:.3f}" for mean in means)])
    return Table(
        "mean CLRS score of the first hybrid over all sizes, with parts of its reading taken away, "
        "by what answers are",
        ["", "all", *lengths],
        rows,
    )


def curve_table(results: dict[str, Any]) -> Table:
    """Mean CLRS scores on the way."""
    groups = _seen_and_unseen(results)
    steps = list(next(iter(results["curves"].values())))

    def mean(scores: dict[str, Any], sizes: Sequence[int]) -> str:
        return f"{statistics.fmean([scores['by_size'][str(size)]['clrs'] for size in sizes]):.3f}"

    return Table(
        "mean CLRS score on the way, by step and size",
        ["", *(f"{int(step):,}, {_written(sizes)}" for sizes in groups for step in steps)],
        [
            [name, *(mean(curve[step], sizes) for sizes in groups for step in steps)]
            for name, curve in results["curves"].items()
        ],
    )


def all_tables(results: dict[str, Any]) -> list[Table]:
    """All that a finished study has to show."""
    made = [table(results), task_table(results), *answer_tables(results), ablation_table(results)]
    return [*made, curve_table(results)] if any(results["curves"].values()) else made


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
