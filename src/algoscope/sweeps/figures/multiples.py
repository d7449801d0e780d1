"""Small multiples: how validation went, a panel for each pair of values of the two axes that
matter most."""

import itertools

import numpy as np

from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.sweeps.harvest import Curve, Harvest

_MOST_VALUES = 4
"""Of an axis; of more, so many are drawn, first and last among them."""
_MOST_LINES = 24
"""In a panel; of more curves a band holds eight of ten."""


def draw(harvest: Harvest, width: float = style.FULL) -> Drawn:
    first, second = [*harvest.explained, None, None][:2]
    downs, rights = _shown(harvest, first), _shown(harvest, second)
    narrow = width <= style.NARROW
    cells = {
        (down, right): [
            curve
            for row in harvest.rows
            if (first is None or row.values[first] == down)
            and (second is None or row.values[second] == right)
            and (curve := harvest.curves.get((row.run, row.task)))
        ]
        for down, right in itertools.product(downs, rights)
    }
    levels = {place: _quantiles(curves) for place, curves in cells.items() if curves}
    last = max((int(c.steps[-1]) for curves in cells.values() for c in curves), default=0) or 1
    across = min(2, len(rights)) if narrow else len(rights)
    with style.styled():
        figure, panels = style.grid(len(cells), width, across, 1.5 if narrow else 1.75, sharey=True)
        for number, (panel, ((down, right), curves)) in enumerate(
            zip(panels, cells.items(), strict=True)
        ):
            _panel(panel, curves, levels.get((down, right)))
            said = [text for text in (down, right) if text]
            title = " · ".join(style.label(text, 14 if narrow else 18) for text in said)
            panel.set_title(title, fontsize=9)
            if number % across == 0:
                panel.set_ylabel("validation")
            if number < len(cells) - across:
                panel.set_xticklabels([])
            else:
                panel.set_xlabel("step")
            panel.locator_params(axis="x", nbins=3)
            panel.set_xlim(-0.05 * last, 1.05 * last)
    axes = " and ".join(f"<em>{axis}</em>" for axis in (first, second) if axis)
    what = f"A panel for each value of {axes}, the axes that matter most. " if axes else ""
    lines = max(map(len, cells.values()), default=0)
    many = "The band holds eight of ten runs." if lines > _MOST_LINES else "Thin lines are runs."
    fewer = any(len(harvest.axes[a]) > _MOST_VALUES for a in (first, second) if a)
    left_out = " Of axes with more values, four are shown." if fewer else ""
    return Drawn(
        "multiples",
        figure,
        f"{what}{many} The bold line is their median.{left_out}",
        f"{len(cells)} small panels of the validation score over steps.",
        [first or "axis", second or "axis_2", "step", "low", "median", "high"],
        [
            [down, right, int(step), *(float(f"{value:.5g}") for value in values)]
            for (down, right), found in levels.items()
            for step, values in zip(*found, strict=True)
        ],
    )


def _shown(harvest: Harvest, axis: str | None) -> list[str]:
    values = harvest.axes[axis] if axis else [""]
    count = min(len(values), _MOST_VALUES)
    return [values[k] for k in np.linspace(0, len(values) - 1, count).round().astype(int)]


def _quantiles(curves: list[Curve]) -> tuple[np.ndarray, np.ndarray]:
    """At the steps that all of them have: 10 %, median, 90 %, [step, 3]."""
    steps, same = curves[0].steps, True
    for curve in curves[1:]:
        if not np.array_equal(steps, curve.steps):
            steps, same = np.intersect1d(steps, curve.steps), False
    chosen = [c.scores if same else c.scores[np.isin(c.steps, steps)] for c in curves]
    return steps, np.quantile(chosen, (0.1, 0.5, 0.9), axis=0).T


def _panel(panel, curves: list[Curve], found: tuple[np.ndarray, np.ndarray] | None) -> None:
    panel.grid(True, axis="y")
    panel.set_axisbelow(True)
    panel.set_ylim(-0.03, 1.03)
    panel.set_yticks([0, 0.5, 1], ["0", "", "1"])
    if found is None:
        panel.text(0.5, 0.5, "no run yet", transform=panel.transAxes, ha="center", va="center",
                   color=style.MUTED, fontsize=8.5)  # fmt: skip
        return
    steps, levels = found
    dot = "o" if len(steps) == 1 else None
    if len(curves) > _MOST_LINES:
        panel.fill_between(
            steps, levels[:, 0], levels[:, 2], color=style.TRAINED, alpha=0.2, linewidth=0
        )
    else:
        for curve in curves:
            panel.plot(curve.steps, curve.scores, color=style.TRAINED, linewidth=0.7, alpha=0.5)
    panel.plot(steps, levels[:, 1], marker=dot, color=style.TRAINED, linewidth=1.8)
