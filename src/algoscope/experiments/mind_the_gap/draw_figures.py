"""The figures, from the numbers and the attention that were kept."""

import pathlib
from collections.abc import Mapping

import numpy as np
import scipy.stats

from algoscope.experiments.mind_the_gap.claims import between
from algoscope.experiments.mind_the_gap.measure_seeds import BEST
from algoscope.experiments.mind_the_gap.solutions import Solutions
from algoscope.measures.references import reference_class
from algoscope.report.figures import attention, distances, style
from algoscope.report.figures.style import Drawn
from algoscope.report.findings import Distances, Shown

_ALL_STEPS = 64


def accuracy_against_faithfulness(solutions: Solutions, name: str) -> Drawn:
    """Figures 1 and 10: every seed a point, with the line of least squares and its 95 % band."""
    size = solutions.plan.sizes[-1]
    external, internal = solutions.external(size), solutions.internal(size, "eq24")
    kinds = {
        f"external faithfulness (eq. 25), n = {size}": external,
        f"distance from the nearest reference (eq. 24), n = {size}": internal,
    }
    with style.styled():
        figure = style.sheet(style.FULL, 3.6)
        for axes, (label, values) in zip(figure.subplots(1, 2), kinds.items(), strict=True):
            axes.grid(True)
            axes.set_axisbelow(True)
            _band(axes, values, solutions.test)
            axes.plot(values, solutions.test, "o", color=style.TRAINED, markersize=4, alpha=0.7)
            axes.set_xlabel(label)
            axes.set_ylabel("test score")
    return Drawn(
        name,
        figure,
        f"Each of the {len(solutions.seeds)} points is a seed of {solutions.plan.task}; line and "
        "band are least squares with the 95 % interval of the mean.",
        "Two scatter plots: test score against external and against internal faithfulness.",
        ["seed", "test", *kinds],
        [
            [seed["seed"], seed["test"], *(values[index] for values in kinds.values())]
            for index, seed in enumerate(solutions.seeds)
        ],
    )


def _band(axes, x: np.ndarray, y: np.ndarray) -> None:
    count, spread = len(x), ((x - x.mean()) ** 2).sum()
    if count < 3 or spread == 0:
        return
    slope = ((x - x.mean()) * (y - y.mean())).sum() / spread
    grid = np.linspace(x.min(), x.max(), 50)
    line = y.mean() + slope * (grid - x.mean())
    left = y - y.mean() - slope * (x - x.mean())
    error = np.sqrt((left**2).sum() / (count - 2) * (1 / count + (grid - x.mean()) ** 2 / spread))
    half = scipy.stats.t.ppf(0.975, count - 2) * error
    blue = style.REFERENCE
    axes.fill_between(grid, line - half, line + half, color=blue, alpha=0.15, linewidth=0)
    axes.plot(grid, line, color=blue)


def attention_over_time(solutions: Solutions, name: str) -> Drawn:
    """Figure 2: the distance from the nearest reference at every step."""
    curves = {f"n = {size}": solutions.internal(size, "per_step") for size in solutions.plan.sizes}
    return _over_time(
        curves,
        name,
        "total variation from the nearest reference",
        f"How far attention is from the algorithm's, step by step, over {len(solutions.seeds)} "
        f"seeds of {solutions.plan.task}: 0 is the algorithm, 1 nothing in common.",
    )


def traces_over_time(solutions: Solutions, name: str) -> Drawn:
    """Figures 4 and 11: the share of each hint that is right at every step."""
    curves = {
        f"{hint}, n = {size}": values
        for size in solutions.plan.sizes
        for hint, values in solutions.trace_per_step(size).items()
    }
    return _over_time(
        curves,
        name,
        "share of entries that are right (eq. 25)",
        f"How much of each hint is predicted, step by step, over {len(solutions.seeds)} seeds of "
        f"{solutions.plan.task}.",
    )


def _over_time(curves: Mapping[str, np.ndarray], name: str, label: str, caption: str) -> Drawn:
    across = min(3, len(curves))
    with style.styled():
        figure, panels = style.grid(len(curves), style.FULL, across, 2.7, sharey=True)
        for axes, (title, values) in zip(panels, curves.items(), strict=True):
            steps = np.arange(1, values.shape[1] + 1)
            axes.grid(True, axis="y")
            axes.plot(steps, values.T, color=style.TRAINED, linewidth=0.6, alpha=0.3)
            axes.plot(steps, values.mean(0), "o-", color=style.TRAINED, linewidth=2, markersize=4)
            axes.set_title(title)
            axes.set_ylim(-0.04, 1.04)
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.tick_params(labelcolor=style.MUTED)
            axes.set_xlabel("step")
        figure.supylabel(label, fontsize=9.5)
    return Drawn(
        name,
        figure,
        f"{caption} Thin lines are seeds, the thick one is their mean. Late steps have few "
        "problems left.",
        f"Line charts over steps: {label}.",
        ["panel", "index of the seed", "step", "value"],
        [
            [title, seed, step + 1, value]
            for title, values in curves.items()
            for (seed, step), value in np.ndenumerate(values)
        ],
    )


def best_match(solutions: Solutions, name: str) -> Drawn:
    """Figure 3: the nearest reference and the seed that is nearest to it, on one problem."""
    return _maps(solutions, name, [_ranked(solutions)[0]], all_references=False)


def attention_in_full(solutions: Solutions, name: str) -> Drawn:
    """Figures 14 and 15: every step, all references, the nearest, middle and farthest seed."""
    ranked = _ranked(solutions)
    chosen = dict.fromkeys((ranked[0], ranked[len(ranked) // 2], ranked[-1]))
    return _maps(solutions, name, list(chosen), all_references=True)


def _ranked(solutions: Solutions) -> list[int]:
    """Indices of seeds, nearest to a reference first."""
    return np.argsort(solutions.internal(solutions.plan.sizes[0], "eq24"), kind="stable").tolist()


def _maps(solutions: Solutions, name: str, chosen: list[int], all_references: bool) -> Drawn:
    longest = int(np.argmax(solutions.batch.lengths))
    sample = slice(longest, longest + 1)
    batch, size = solutions.batch.take(sample), solutions.plan.sizes[0]
    nearest = solutions.seeds[chosen[0]]["sizes"][str(size)]["nearest"]
    exact = {r.name: r.recording for r in reference_class(batch)}
    shown_programs = dict.fromkeys([nearest, *exact]) if all_references else [nearest]
    recordings = {f"compiled {program}": exact[program] for program in shown_programs}
    scores, notes = {}, {}
    trained = solutions.recordings()
    for index in chosen:
        seed = solutions.seeds[index]
        label = f"seed {seed['seed']}"
        recordings[label] = trained[index].take(sample)
        scores[label], notes[label] = seed["test"], f"test {seed['test']:.2f}"
    shown = Shown([f"{solutions.plan.task} with {size} nodes"], batch, recordings)
    return attention.draw(shown, scores, notes, most_steps=_ALL_STEPS)._replace(name=name)


def between_solutions(solutions: Solutions, name: str) -> Drawn:
    """Figure 5: all solutions against each other, and the tree that joins the nearest first."""
    compared = between(solutions)
    shown = Distances(compared.names, compared.references, compared.total_variation)
    return distances.draw(shown)._replace(name=name)


_FIGURES = {
    "bfs": {
        "1": accuracy_against_faithfulness,
        "2": attention_over_time,
        "3": best_match,
        "4": traces_over_time,
        "5": between_solutions,
        "15": attention_in_full,
    },
    "bellman_ford": {
        "10": accuracy_against_faithfulness,
        "11": traces_over_time,
        "14": attention_in_full,
    },
}
"""By task and number in the paper."""


def figures(solutions: Solutions) -> dict[str, Drawn]:
    """The figures of a task, by their numbers."""
    task, weights = solutions.plan.task, solutions.weights
    end = "" if weights == BEST else f"-{weights}"
    return {
        number: draw(solutions, f"figure-{number}-{task}{end}")
        for number, draw in _FIGURES[task].items()
    }


def draw_all(solutions: Solutions, folder: pathlib.Path) -> list[str]:
    """Draws the figures of a task into a folder; returns their numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    for view in solutions.views:
        for figure in figures(view).values():
            style.save(figure, folder)
    return list(_FIGURES[solutions.plan.task])
