"""Accuracy against faithfulness, every network a point."""

import math
from collections.abc import Mapping

import numpy as np

from algoscope.measures import Judgement
from algoscope.measures.across import correlation
from algoscope.measures.thresholds import CRITERIA, PLACES
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn

_LEAST_FOR_INTERVAL = 10
"""Networks, below which a bootstrap interval and a p-value say nothing."""
_FEWEST = 3
"""Networks of which there is a correlation."""
_KEYS = ("moves_large", "reads_large", "agreement")


def draw(
    judgements: Mapping[str, Judgement], control: Judgement, width: float = style.FULL
) -> Drawn:
    subjects = [*judgements.items(), ("compiled", control)]
    x = [judgement.evidence.accuracy["large"] for judgement in judgements.values()]
    with style.styled():
        across = style.columns(width)
        lines, wide = (1, len(_KEYS)) if across == 2 else (len(_KEYS), 1)
        figure = style.sheet(width, 3.3 if across == 2 else 7.2)
        panels = figure.subplots(lines, wide, sharex=True, sharey=True)
        notes, lowest = [], 0.8
        for axes, key in zip(panels, _KEYS, strict=True):
            y = [judgement.evidence.tested[key] for judgement in judgements.values()]
            _panel(axes, x, y, list(judgements), control, key)
            axes.set_title(CRITERIA[key].label)
            lowest = min([lowest, *(value for value in y if not math.isnan(value))])
            notes.append(f"{CRITERIA[key].label} {_correlated(x, y)}")
        for axes in panels if across == 2 else panels[-1:]:
            axes.set_xlabel(f"accuracy large ({PLACES['large']})")
        for axes in panels[:1] if across == 2 else panels:
            axes.set_ylabel("faithfulness")
        low = min([*x, 1.0])
        panels[0].set_xlim(low - 0.12 * (1 - low) - 0.01, 1 + 0.12 * (1 - low) + 0.005)
        bottom = max(0.0, np.floor(10 * lowest) / 10)
        panels[0].set_ylim(bottom - 0.06 * (1 - bottom), 1 + 0.1 * (1 - bottom))
        panels[0].set_xticks([tick for tick in panels[0].get_xticks() if tick <= 1 + 1e-9][-5:])
    return Drawn(
        "accuracy",
        figure,
        "A network can be right without doing what the algorithm does: the farther below the "
        "diamond, which is the compiled program, the less its inside has to do with its answers. "
        f"Numbers are seeds, signs are runs.{_correlations(notes, len(judgements))}",
        "Three scatter plots of accuracy against faithfulness with a point for each of "
        f"{len(judgements)} networks and a diamond for the compiled program at 1, 1.",
        ["network", "accuracy_large", *_KEYS],
        [
            [name, j.evidence.accuracy["large"], *(j.evidence.tested[key] for key in _KEYS)]
            for name, j in subjects
        ],
    )


def _panel(axes, x, y, names, control: Judgement, key: str) -> None:
    axes.grid(True)
    axes.set_axisbelow(True)
    axes.plot(
        control.evidence.accuracy["large"], control.evidence.tested[key], "D",
        color=style.REFERENCE, markersize=8, markeredgecolor=style.PAPER, clip_on=False,
    )  # fmt: skip
    signs = style.markers(names)
    taken: list[tuple[float, float]] = []
    for at_x, at_y, network in zip(x, y, names, strict=True):
        if math.isnan(at_y):
            continue
        axes.plot(
            at_x, max(at_y, 0), signs[network], color=style.TRAINED, markersize=6.5,
            markeredgecolor=style.PAPER,
        )  # fmt: skip
        if all(abs(at_x - a) > 2e-3 or abs(at_y - b) > 0.06 for a, b in taken):
            axes.annotate(
                network.rpartition(" ")[2], (at_x, max(at_y, 0)), (5, 4),
                textcoords="offset points", fontsize=8, color=style.MUTED,
            )  # fmt: skip
        taken.append((at_x, at_y))
    axes.spines["left"].set_color(style.RULE)


def _correlations(notes: list[str], networks: int) -> str:
    if networks < _FEWEST:
        return f" Correlations need {_FEWEST} networks or more."
    return f" Rank correlation over networks: {'; '.join(notes)}."


def _correlated(x: list[float], y: list[float]) -> str:
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if not math.isnan(b)]
    try:
        ranked = correlation(*np.array(pairs).reshape(-1, 2).T.tolist())
    except ValueError as reason:
        return f"none ({str(reason).partition(';')[0]})"
    sure = (
        f" [{ranked.spearman_low:.2f}, {ranked.spearman_high:.2f}], p = {ranked.spearman_p:.2g}"
        if ranked.count >= _LEAST_FOR_INTERVAL
        else ""
    )
    return f"ρ = {ranked.spearman:.2f}{sure}, N = {ranked.count}".replace("-", "−")
