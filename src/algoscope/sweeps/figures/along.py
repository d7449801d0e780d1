"""Scores, and what they cost, along every axis: a panel an axis, a dot a run."""

import numpy as np
from matplotlib.axes import Axes

from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.sweeps.harvest import Harvest, Row

MOST_DOTS = 400
"""Of a figure; of more runs a band shows where most of them lie."""
_SPREAD = 0.22
_TALL = 2.6


def scores(harvest: Harvest, width: float = style.FULL) -> Drawn:
    def value(row: Row) -> float:
        return row.score

    return _draw(
        harvest, value, f"{harvest.measure} score", "along",
        f"the mean {harvest.measure} score of its networks", width,
    )  # fmt: skip


def costs(harvest: Harvest, width: float = style.FULL) -> Drawn:
    def value(row: Row) -> float:
        return row.seconds / len(row.scores)

    return _draw(
        harvest, value, "seconds a network", "cost",
        "the time in which it was trained and scored, without pauses and verdicts, over its "
        "networks", width,
    )  # fmt: skip


def _draw(harvest: Harvest, value, label: str, name: str, meaning: str, width: float) -> Drawn:
    """`meaning` is what the value of a run is."""
    axes_of = harvest.axes
    across = (3 if len(axes_of) % 3 == 0 or len(axes_of) > 4 else 2) if width > style.NARROW else 1
    few = len(harvest.rows) <= MOST_DOTS
    rows = []
    with style.styled():
        figure, panels = style.grid(
            len(axes_of), width, min(across, len(axes_of)), _TALL, sharey=True
        )
        for panel, axis in zip(panels, axes_of, strict=True):
            by_value = harvest.along(axis)
            _panel(panel, [[value(row) for row in group] for group in by_value.values()], few)
            texts = [style.label(text, 14) for text in by_value]
            longest = max(map(len, texts)) * len(texts)
            slanted = longest > (34 if width > style.NARROW else 40)
            panel.set_xticks(
                range(len(texts)), texts, rotation=35 if slanted else 0,
                ha="right" if slanted else "center", rotation_mode="anchor",
            )  # fmt: skip
            panel.set_title(style.label(axis, 40))
            rows += [
                (axis, text, row.run, row.task, value(row))
                for text, group in by_value.items()
                for row in group
            ]
        for panel in panels[:: min(across, len(axes_of))]:
            panel.set_ylabel(label)
    runs = "Each small dot is a run" if few else "The band holds eight of ten runs, each"
    return Drawn(
        name,
        figure,
        f"{runs} at {meaning}; the line joins the means of the values.",
        f"{len(axes_of)} panels, one an axis, of {label} at each of its values, "
        f"with {len(harvest.rows)} runs.",
        ["axis", "value", "run", "task", label.replace(" ", "_")],
        rows,
    )


def _panel(panel: Axes, groups: list[list[float]], few: bool) -> None:
    panel.grid(True, axis="y")
    panel.set_axisbelow(True)
    filled = [(place, group) for place, group in enumerate(groups) if group]
    for place, group in filled if few else ():
        spread = np.linspace(-_SPREAD, _SPREAD, len(group)) if len(group) > 1 else [0.0]
        panel.plot(
            place + np.asarray(spread), group, "o", color=style.TRAINED, markersize=4.2,
            alpha=0.55, markeredgewidth=0, clip_on=False,
        )  # fmt: skip
    places = [place for place, _ in filled]
    if not few:
        low, high = np.transpose([np.quantile(group, (0.1, 0.9)) for _, group in filled])
        panel.fill_between(places, low, high, color=style.TRAINED, alpha=0.18, linewidth=0)
    means = [float(np.mean(group)) for _, group in filled]
    panel.plot(places, means, "o-", color=style.TRAINED, markersize=6, markeredgecolor=style.PAPER)
    panel.set_xlim(-0.5, len(groups) - 0.5)
