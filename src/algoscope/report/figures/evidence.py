"""The numbers of a verdict against their thresholds, every network a dot."""

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from algoscope.measures import Judgement
from algoscope.measures.thresholds import CRITERIA, Criterion
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn

_HEIGHT = 0.34
_ROOM = 0.03
_TICKS = (0, 0.5, 0.8, 0.9, 0.95, 0.98, 1)


def _widened(values: np.ndarray) -> np.ndarray:
    """Thresholds lie near 1: distances from 1 + room on a logarithmic scale."""
    return -np.log(np.maximum(1 + _ROOM - np.asarray(values), 1e-9))


def _narrowed(places: np.ndarray) -> np.ndarray:
    return 1 + _ROOM - np.exp(-np.asarray(places))


def draw(
    judgements: Mapping[str, Judgement], control: Judgement, width: float = style.FULL
) -> Drawn:
    criteria = [
        c
        for c in CRITERIA.values()
        if any(not math.isnan(j.evidence.tested[c.key]) for j in judgements.values())
    ]
    with style.styled():
        roomy = width > style.NARROW
        around = 1.0 if roomy else 1.4
        figure = style.sheet(width, _HEIGHT * len(criteria) + around)
        axes = figure.subplots()
        signs = style.markers(judgements)
        for row, criterion in enumerate(criteria):
            values = [judgement.evidence.tested[criterion.key] for judgement in judgements.values()]
            points = list(zip(values, signs.values(), strict=True))
            _row(axes, row, criterion, points, control.evidence.tested[criterion.key])
        axes.set_ylim(len(criteria) - 0.45, -0.75)
        axes.set_xscale("function", functions=(_widened, _narrowed))
        axes.set_xlim(0.0, 1 + _ROOM / 4)
        axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        axes.set_yticks(range(len(criteria)), [c.label for c in criteria])
        space = " " if roomy else "\n"
        axes.set_xlabel(f"1 = what the algorithm does{space}(wider towards 1)")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        runs = Counter((style.run_of(name), sign) for name, sign in signs.items())
        kinds = [
            (sign, style.TRAINED, f"{style.label(run or 'trained')} ({count})")
            for (run, sign), count in runs.items()
        ]
        for sign, colour, text in [*kinds, ("D", style.REFERENCE, "compiled, the control")]:
            axes.plot([], [], sign, color=colour, markersize=5, linestyle="none", label=text)
        for colour, text in ((style.RUNS_ZONE, "runs"), (style.SHORTCUT_ZONE, "shortcut")):
            axes.fill([], [], color=colour, label=text)
        # A reader's letters may be wider than those that the legend is laid out with.
        across, apart = (4, 3.5) if roomy else (2, 2.0)
        figure.legend(
            loc="outside upper left", ncols=across, handletextpad=0.4, columnspacing=apart
        )
    return Drawn(
        "evidence",
        figure,
        "Each dot is a network, each row one of the numbers that the verdict rests on. A network "
        "<em>runs</em> the algorithm if all its dots are in the blue zones on the right. Of one "
        "that disagrees with the algorithm somewhere, a dot in an orange zone makes a "
        "<em>shortcut</em>.",
        f"{len(criteria)} rows, one a tested number from 0 to 1, with a dot for each of "
        f"{len(judgements)} networks, and the two thresholds of each number.",
        ["network", "number", "value", "runs_from", "shortcut_below"],
        [
            [name, c.key, judgement.evidence.tested[c.key], c.runs_from, c.shortcut_below]
            for name, judgement in [*judgements.items(), ("compiled", control)]
            for c in criteria
        ],
    )


def _row(
    axes, row: int, criterion: Criterion, points: list[tuple[float, str]], control: float
) -> None:
    if criterion.shortcut_below > 0:
        axes.barh(row, criterion.shortcut_below, 0.62, 0, color=style.SHORTCUT_ZONE)
    blue = 1 + _ROOM / 4 - criterion.runs_from
    axes.barh(row, blue, 0.62, criterion.runs_from, color=style.RUNS_ZONE)
    axes.axhline(row, color=style.RULE, linewidth=0.6, zorder=1)
    spread = np.linspace(-0.18, 0.18, len(points)) if len(points) > 1 else [0.0]
    for (value, sign), offset in zip(points, spread, strict=True):
        axes.plot(
            np.clip(value, 0, 1), row + offset, sign, color=style.TRAINED, markersize=5.2,
            markeredgecolor=style.PAPER, markeredgewidth=0.6, clip_on=False, zorder=4,
        )  # fmt: skip
    axes.plot(
        np.clip(control, 0, 1), row, "D",
        markerfacecolor=style.PAPER, markeredgecolor=style.REFERENCE,
        markersize=5, markeredgewidth=1.3, clip_on=False, zorder=3,
    )  # fmt: skip
