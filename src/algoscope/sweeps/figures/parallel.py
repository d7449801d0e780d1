"""Parallel coordinates: every run a line through its values, the best ones in colour."""

import itertools

import numpy as np

from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.sweeps.harvest import Harvest, Row

_BEST = 0.1
"""Of the runs of each task, which are drawn in colour; at least two."""
_MOST_BEST, _MOST_OTHERS = 60, 200
_LINE, _BETWEEN_LINES = 46, 0.17
"""Characters that fit along a narrow axis; values that are longer together stand in several lines,
so far apart where axes are 1 apart."""
_SPREAD = 0.62
"""Of the distance between two values: lines through one value lie side by side, by their score."""


def draw(harvest: Harvest, width: float = style.FULL) -> Drawn:
    ranked = harvest.ranked
    best = []
    for task in harvest.tasks:
        rows = [row for row in ranked if row.task == task]
        best += rows[: max(2, round(_BEST * len(rows)))]
    known = {(row.run, row.task) for row in best}
    others = [row for row in ranked if (row.run, row.task) not in known]
    drawn_best = best[:: -(-len(best) // _MOST_BEST)]
    drawn_others = others[:: -(-len(others) // _MOST_OTHERS)] if others else []
    axes_of = {axis: _ordered(harvest, axis) for axis in reversed(harvest.explained)}
    places = _Places(ranked, axes_of)
    narrow = width <= style.NARROW
    with style.styled():
        height = 1.0 * (len(axes_of) + 1) + 0.6 if narrow else 4.0
        figure = style.sheet(width, height)
        panel = figure.subplots()
        for rows, colour, thick, alpha, order in (
            (drawn_others, style.NULL, 0.8, 0.45, 2),
            (drawn_best[::-1], style.TRAINED, 1.5, 0.85, 3),
        ):
            for row in rows:
                across, along = _smooth(places.of(row))
                x, y = (along, across) if narrow else (across, along)
                panel.plot(x, y, color=colour, linewidth=thick, alpha=alpha, zorder=order)
        _frame(panel, harvest, places, axes_of, narrow)
    left_out = len(ranked) - len(drawn_best) - len(drawn_others)
    fewer = f" {left_out:,} of the lines are left out, evenly over scores." if left_out else ""
    of_each = ", the same share of each task" if len(harvest.tasks) > 1 else ""
    return Drawn(
        "parallel",
        figure,
        "Each line is a run: its value of each axis, the one that matters least first, and at the "
        f"end its {harvest.measure} score. In colour the best {len(best):,} of {len(ranked):,}"
        f"{of_each}. Names are in the order of their mean scores, and lines through one value lie "
        f"side by side in the order of theirs.{fewer}",
        f"Parallel coordinates of {len(ranked)} runs over {len(axes_of)} axes and the score.",
        ["run", "task", *harvest.axes, "score"],
        [(r.run, r.task, *(r.values[a] for a in harvest.axes), r.score) for r in ranked],
    )


def _ordered(harvest: Harvest, axis: str) -> list[str]:
    """Numbers as in the sweep; names by their mean scores, so that lines cross less."""
    values = harvest.sweep.axes[axis]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return harvest.axes[axis]
    along = harvest.along(axis)
    means = {v: np.mean([r.score for r in rows]) if rows else 0.0 for v, rows in along.items()}
    return sorted(means, key=lambda value: means[value])


class _Places:
    """Where a run's line crosses the axes: 0 to 1 along each."""

    def __init__(self, ranked: list[Row], axes: dict[str, list[str]]):
        self._axes = axes
        scores = [row.score for row in ranked]
        self.low, self.high = min(scores), max(scores)
        self._ranks: dict[tuple[str, str, str, str], float] = {}
        for axis, values in axes.items():
            for value in values:
                group = [row for row in ranked if row.values[axis] == value][::-1]
                for rank, row in enumerate(group):
                    share = rank / (len(group) - 1) - 0.5 if len(group) > 1 else 0.0
                    self._ranks[axis, value, row.run, row.task] = share

    def value(self, axis: str, value: str) -> float:
        values = self._axes[axis]
        return (values.index(value) + 0.5) / len(values)

    def score(self, score: float) -> float:
        return (score - self.low) / (self.high - self.low) if self.high > self.low else 0.5

    def of(self, row: Row) -> list[float]:
        places = []
        for axis, values in self._axes.items():
            value = row.values[axis]
            beside = self._ranks[axis, value, row.run, row.task] * _SPREAD / len(values)
            places.append(self.value(axis, value) + beside)
        return [*places, self.score(row.score)]


def _smooth(heights: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """A line that leaves and reaches each axis straight, so that it can be followed."""
    share = np.linspace(0, 1, 12)
    eased = share * share * (3 - 2 * share)
    pairs = list(itertools.pairwise(heights))
    across = np.concatenate([number + share for number in range(len(pairs))])
    return across, np.concatenate([a + (b - a) * eased for a, b in pairs])


def _frame(
    panel, harvest: Harvest, places: _Places, axes: dict[str, list[str]], narrow: bool
) -> None:
    box = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.2, "alpha": 0.85}

    def write(across: float, along: float, text: str, **look) -> None:
        x, y = (along, across) if narrow else (across, along)
        panel.text(x, y, text, zorder=5, **look)

    names = [*axes, f"{harvest.measure} score"]
    for number, name in enumerate(names):
        line = {"color": style.MUTED, "linewidth": 0.9, "zorder": 4}
        if narrow:
            panel.plot([0, 1], [number, number], **line)
            panel.text(0, number - 0.3, style.label(name, 34), color=style.INK, fontsize=9.5,
                       va="center", zorder=6, bbox=box)  # fmt: skip
        else:
            panel.plot([number, number], [0, 1], **line)
            panel.text(number, 1.05, style.label(name, 22), color=style.INK, fontsize=9.5,
                       ha="center", va="bottom", zorder=5)  # fmt: skip
    for number, (axis, values) in enumerate(axes.items()):
        shown = values[:: -(-len(values) // 12)]
        texts = [style.label(value, 14) for value in shown]
        lines = -(-sum(len(text) + 2 for text in texts) // _LINE) if narrow else 1
        for place, (value, text) in enumerate(zip(shown, texts, strict=True)):
            aside = (place % lines - (lines - 1) / 2) * _BETWEEN_LINES
            write(number + aside, places.value(axis, value), text, fontsize=8.5,
                  ha="center", va="center", bbox=box)  # fmt: skip
    for place, score in ((0.0, places.low), (1.0, places.high)):
        offset = {"ha": "left" if place == 0 else "right", "va": "top"} if narrow else {
            "ha": "left", "va": "center"}  # fmt: skip
        write(len(axes) + (0.08 if narrow else 0.03), place, f"{score:.3f}", fontsize=8.5, **offset)
    ends = (-0.45, len(axes) + 0.3) if narrow else (-0.35, len(axes) + 0.25)
    panel.set_axis_off()
    if narrow:
        panel.set_ylim(*reversed(ends))
        panel.set_xlim(-0.02, 1.02)
    else:
        panel.set_xlim(*ends)
        panel.set_ylim(-0.03, 1.12)
