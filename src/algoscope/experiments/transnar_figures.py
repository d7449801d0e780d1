"""Figures 3 to 5 of TransNAR's paper: shape, parse and CLRS scores by algorithm, with the spread
over seeds; and how scores fall with size."""

from typing import Any

from matplotlib.axes import Axes

from algoscope.experiments.transnar_tables import BASE, CLASSES, HYBRID, ONE_ANSWER, REASONER
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.transnar.scores import Score, from_json, mean_clrs

NAMES = {"clrs": "CLRS", "shape": "shape", "parse": "parse"}
_SHOWN = {
    ONE_ANSWER: ("|", style.MUTED),
    REASONER: ("D", style.REFERENCE),
    BASE: ("s", style.NULL),
    HYBRID: ("o", style.TRAINED),
}
"""Sign and colour of each row."""
_MOST_PANELS = 3
_LINE = 0.17
"""Inches of a task."""


def by_algorithm(results: dict[str, Any], field: str, width: float = style.FULL) -> Drawn:
    """A panel for each size, a line for each task, a sign for each row."""
    seen = _scores(results)
    tasks = [t for members in CLASSES.values() for t in members if t in results_tasks(results)]
    sizes = [n for n in results["test_sizes"] if n <= max(results["unseen_sizes"])][:_MOST_PANELS]
    across = len(sizes) if width > style.NARROW else 1
    rows = []
    with style.styled():
        height = 0.8 + _LINE * len(tasks)
        figure, panels = style.grid(len(sizes), width, across, height, sharey=True)
        for axes, size in zip(panels, sizes, strict=True):
            for row, of_seeds in seen.items():
                values = [[getattr(scores[t][size], field) for scores in of_seeds] for t in tasks]
                _points(axes, values, *_SHOWN[row], row)
                rows += [
                    [size, task, row, seed, value]
                    for task, each in zip(tasks, values, strict=True)
                    for seed, value in enumerate(each)
                ]
            axes.set_title(f"n = {size}" + _kind(results, size))
            axes.set_xlim(-0.03, 1.03)
            axes.set_ylim(len(tasks) - 0.4, -0.6)
            axes.set_yticks(range(len(tasks)), tasks)
            axes.grid(True)
            axes.set_axisbelow(True)
        panels[-1].set_xlabel(f"{NAMES[field]} score")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    seeds = {row: len(of_seeds) for row, of_seeds in seen.items()}
    said = ", ".join(f"{row} ({count})" for row, count in seeds.items())
    return Drawn(
        f"algorithms-{field}",
        figure,
        f"The {NAMES[field]} score of each algorithm, as in figures 3 to 5 of the paper: signs are "
        f"means over seeds, lines reach from the lowest to the highest. Seeds: {said}; "
        f"{results['problems']['test']} problems of each algorithm and size.",
        f"{len(sizes)} panels, one a size, of the {NAMES[field]} scores of {len(tasks)} "
        f"algorithms by {', '.join(seen)}.",
        ["n", "task", "row", "seed", field],
        rows,
    )


def by_size(results: dict[str, Any], width: float = style.FULL) -> Drawn:
    """Mean CLRS score over tasks against size."""
    seen, sizes = _scores(results), results["test_sizes"]
    rows = []
    with style.styled():
        figure = style.sheet(width, 3.2)
        axes = figure.subplots()
        for row, of_seeds in seen.items():
            each = [[mean_clrs(scores, [n]) for scores in of_seeds] for n in sizes]
            means = [sum(values) / len(values) for values in each]
            sign, colour = _SHOWN[row]
            axes.plot(sizes, means, marker=sign, color=colour, label=row)
            low, high = [min(values) for values in each], [max(values) for values in each]
            axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
            rows += [[n, row, mean] for n, mean in zip(sizes, means, strict=True)]
        axes.set_xticks(sizes)
        axes.set_xlabel("nodes")
        axes.set_ylabel("mean CLRS score")
        axes.set_ylim(-0.03, 1.03)
        axes.grid(True)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    trained = ", ".join(map(str, results["config"]["tower"]["sizes"]))
    return Drawn(
        "sizes",
        figure,
        f"Mean CLRS score over the tasks whose texts fit into the context, by size; towers were "
        f"trained at n = {trained}. Bands reach from the lowest to the highest seed.",
        f"A line for each of {', '.join(seen)}: the mean CLRS score at {len(sizes)} sizes.",
        ["n", "row", "clrs"],
        rows,
    )


def results_tasks(results: dict[str, Any]) -> list[str]:
    return list(next(iter(results["rows"].values()))[0])


def _scores(results: dict[str, Any]) -> dict[str, list[dict[str, dict[int, Score]]]]:
    made = results["rows"]
    return {row: [from_json(s) for s in made[row]] for row in _SHOWN if row in made}


def _points(axes: Axes, values: list[list[float]], sign: str, colour: str, label: str) -> None:
    """A sign at the mean of each line's values, which a line spans."""
    for place, each in enumerate(values):
        axes.plot([min(each), max(each)], [place, place], color=colour, linewidth=1.2)
    means = [sum(each) / len(each) for each in values]
    axes.plot(
        means, range(len(means)), sign, color=colour, markersize=5, label=label, clip_on=False
    )


def _kind(results: dict[str, Any], size: int) -> str:
    return ", in training" if size in results["config"]["tower"]["sizes"] else ", unseen"
