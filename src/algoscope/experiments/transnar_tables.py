"""Tables of a study's results, and what is kept of the way to them."""

import pathlib
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from algoscope import serialise, tasks
from algoscope.files import read_arrays
from algoscope.table import Table
from algoscope.tasks import Kind, Location, Stage
from algoscope.transnar.mechanism import GATES_SHUT, OTHER_STATES, Reads
from algoscope.transnar.scores import (
    FIELDS,
    Score,
    Scores,
    averaged,
    from_json,
    mean_clrs,
    means,
    sizes_text,
)
from algoscope.transnar.verdict import Evidence, decide
from algoscope.verdict import Verdict

_LENGTHS = ("one or two numbers", "a number for each node", "decimals or a matrix")
"""How long answers are: where they grow with n, most scores say whether a tower can count."""


def _length_of_answers(task: str) -> str:
    short, per_node, other = _LENGTHS
    outputs = tasks.get(task).at(Stage.OUTPUT)
    if all(f.kind is Kind.MASK_ONE for f in outputs):
        return short
    kinds = (Kind.MASK, Kind.POINTER)
    by_node = all(f.location is Location.NODE and f.kind in kinds for f in outputs)
    return per_node if by_node else other


def table(results: dict[str, Any]) -> Table:
    """Mean CLRS scores over tasks, by row and size."""
    sizes = results["test_sizes"]
    rows = []
    for name, content in results["rows"].items():
        each = [from_json(scores) for scores in content]
        mean = averaged(each)
        cells = [mean_clrs(mean, [size]) for size in sizes]
        unseen = [mean_clrs(scores, results["unseen_sizes"]) for scores in each]
        spread = f" ({min(unseen):.3f}–{max(unseen):.3f})" if len(unseen) > 1 else ""
        every = [score for by_size in mean.values() for score in by_size.values()]
        others = means(every, ("shape", "parse", "exact")).values()
        rows.append([name, *_cells(cells), f"{fmean(unseen):.3f}{spread}", *_cells(others)])
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
        f"CLRS score by task, mean over {sizes_text(sizes)}",
        ["task", *rows],
        [
            [task, *_cells(fmean([c[task][s].clrs for s in sizes]) for c in columns)]
            for task in columns[0]
        ],
    )


def answer_tables(results: dict[str, Any]) -> list[Table]:
    """For answers of each length: shape, CLRS and CLRS where the shape is right."""
    groups = _seen_and_unseen(results)
    fields = ("shape", "CLRS", "where the shape is right")
    columns = [f"{field}, {sizes_text(sizes)}" for sizes in groups for field in fields]
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


def _cells(values: Iterable[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _by_length(results: dict[str, Any]) -> dict[str, list[str]]:
    names = list(next(iter(results["rows"].values()))[0])
    by = {length: [n for n in names if _length_of_answers(n) == length] for length in _LENGTHS}
    return {length: tasks_alike for length, tasks_alike in by.items() if tasks_alike}


def _about_shape(scores: Sequence[Score]) -> list[str]:
    """Mean shape and CLRS scores, and the latter of answers of the right shape alone (all others
    have none), with its standard error."""
    shape, clrs = means(scores, ("shape", "clrs")).values()
    squares = fmean(s.clrs_error**2 * (s.problems - 1) + s.clrs**2 for s in scores)
    right = shape * sum(score.problems for score in scores)
    if right < 2:
        return [*_cells([shape, clrs]), "–"]
    variance = max(0.0, squares / shape - (clrs / shape) ** 2)
    error = (variance / (right - 1)) ** 0.5
    return [*_cells([shape, clrs]), f"{clrs / shape:.3f} ± {error:.3f}"]


def ablation_table(results: dict[str, Any]) -> Table:
    """CLRS scores of the first hybrid with parts of its reading taken away."""
    lengths = _by_length(results)
    whole = {"as it is": results["rows"]["hybrid"][0]} | results["mechanism"]["ablations"]
    rows = []
    for name, content in whole.items():
        scores = from_json(content)
        each = [
            mean_clrs({task: scores[task] for task in names}, results["test_sizes"])
            for names in (list(scores), *lengths.values())
        ]
        rows.append([name, *_cells(each)])
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

    def mean(scores: dict[str, Any], sizes: Sequence[int]) -> float:
        return fmean([scores["by_size"][str(size)]["clrs"] for size in sizes])

    return Table(
        "mean CLRS score on the way, by step and size",
        ["", *(f"{int(step):,}, {sizes_text(sizes)}" for sizes in groups for step in steps)],
        [
            [name, *_cells(mean(curve[step], sizes) for sizes in groups for step in steps)]
            for name, curve in results["curves"].items()
        ],
    )


def verdict_of(results: dict[str, Any]) -> Verdict:
    """Does the hybrid answer with what its reasoner computed?"""

    def scores(row: str) -> list[Scores]:
        return [from_json(content) for content in results["rows"].get(row, ())]

    mechanism = results["mechanism"] or {"ablations": {}}
    ablated = {name: [from_json(content)] for name, content in mechanism["ablations"].items()}
    sizes, unseen = results["test_sizes"], results["unseen_sizes"]
    return decide(
        Evidence(
            hybrid=scores("hybrid"),
            base=scores("base"),
            untrained=scores("hybrid, untrained reasoner"),
            reasoner=scores("reasoner alone"),
            one_answer=scores("one answer for all problems"),
            gates_shut=ablated.get(GATES_SHUT, []),
            other_states=ablated.get(OTHER_STATES, []),
            reads=serialise.from_json(Reads | None, mechanism.get("reads")),
            trained_sizes=[size for size in sizes if size not in unseen],
            unseen_sizes=unseen,
        )
    )


def all_tables(results: dict[str, Any]) -> list[Table]:
    """All that a finished study has to show."""
    made = [table(results), task_table(results), *answer_tables(results), ablation_table(results)]
    if any(results["curves"].values()):
        made.append(curve_table(results))
    conditions = verdict_of(results).table
    return [*made, conditions._replace(title=f"the hybrid, {conditions.title}")]


def summary(scores: Scores, unseen_sizes: Sequence[int]) -> dict[str, Any]:
    """Of scores on the way: means over tasks by size, and CLRS scores of each task at unseen
    sizes."""

    def rounded(numbers: dict[str, float]) -> dict[str, float]:
        return {name: round(number, 4) for name, number in numbers.items()}

    sizes = next(iter(scores.values()))
    unseen = {task: fmean([by[n].clrs for n in unseen_sizes]) for task, by in scores.items()}
    return {
        "by_size": {
            str(size): rounded(means([by[size] for by in scores.values()], FIELDS))
            for size in sizes
        },
        "clrs_unseen": rounded(unseen),
    }


def loss_curve(path: pathlib.Path, points: int = 100) -> dict[str, list[float]]:
    """The loss as means over so many equal stretches of steps."""
    loss = read_arrays(path / "metrics.safetensors")["loss"]
    if loss.ndim > 1:
        loss = loss.mean((1, 2))
    parts = np.array_split(loss, min(points, len(loss)))
    ends = np.cumsum([len(part) for part in parts])
    return {"step": ends.tolist(), "loss": [round(float(p.mean()), 5) for p in parts]}
