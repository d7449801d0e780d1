"""Accuracy against faithfulness, every network a point."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from algoscope.measures.across import Correlation, correlation
from algoscope.report.figures.style import (
    FULL,
    MUTED,
    PAPER,
    REFERENCE,
    RULE,
    TRAINED,
    Drawn,
    columns,
    markers,
    sheet,
    styled,
)
from algoscope.report.wording import LABELS

_LEAST_FOR_INTERVAL = 10
"""Networks, below which a bootstrap interval and a p-value say nothing."""
_KINDS = ("moves_large", "reads_large", "interchange")


def draw(
    judgements: Mapping[str, dict[str, Any]], control: dict[str, Any] | None, width: float = FULL
) -> Drawn:
    x = [judgement["accuracy"]["large"] for judgement in judgements.values()]
    with styled():
        across = columns(width)
        lines, wide = (1, len(_KINDS)) if across == 2 else (len(_KINDS), 1)
        figure = sheet(width, 3.3 if across == 2 else 7.2)
        panels = figure.subplots(lines, wide, sharex=True, sharey=True)
        notes, lowest = [], 0.8
        for axes, name in zip(panels, _KINDS, strict=True):
            y = [judgement["tested"].get(name) for judgement in judgements.values()]
            _panel(axes, x, y, list(judgements), control, name)
            axes.set_title(LABELS[name])
            lowest = min([lowest, *(value for value in y if value is not None)])
            notes.append(f"{LABELS[name]} {_correlated(x, y)}")
        for axes in panels if across == 2 else panels[-1:]:
            axes.set_xlabel("accuracy at 64 nodes")
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
        "Numbers are seeds, signs are runs. Rank correlation over networks: "
        + "; ".join(notes)
        + ".",
        "Three scatter plots of accuracy against faithfulness with a point for each of "
        f"{len(judgements)} networks and a diamond for the compiled program at 1, 1.",
        ["network", "accuracy_large", *_KINDS],
        [
            [name, j["accuracy"]["large"], *(j["tested"].get(kind) for kind in _KINDS)]
            for name, j in [*judgements.items(), *([("compiled", control)] if control else [])]
        ],
    )


def _panel(axes, x, y, names, control, name: str) -> None:
    axes.grid(True)
    axes.set_axisbelow(True)
    if control and control["tested"].get(name) is not None:
        axes.plot(
            control["accuracy"]["large"], control["tested"][name], "D", color=REFERENCE,
            markersize=8, markeredgecolor=PAPER, clip_on=False,
        )  # fmt: skip
    signs = markers(names)
    taken: list[tuple[float, float]] = []
    for own_x, own_y, network in zip(x, y, names, strict=True):
        if own_y is None:
            continue
        axes.plot(
            own_x, max(own_y, 0), signs[network], color=TRAINED, markersize=6.5,
            markeredgecolor=PAPER,
        )  # fmt: skip
        if all(abs(own_x - a) > 2e-3 or abs(own_y - b) > 0.06 for a, b in taken):
            axes.annotate(
                network.rpartition(" ")[2], (own_x, max(own_y, 0)), (5, 4),
                textcoords="offset points", fontsize=8, color=MUTED,
            )  # fmt: skip
        taken.append((own_x, own_y))
    axes.spines["left"].set_color(RULE)


def _correlated(x: list[float], y: list[float | None]) -> str:
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if b is not None]
    try:
        found: Correlation = correlation(*np.array(pairs).reshape(-1, 2).T.tolist())
    except ValueError as reason:
        return f"none ({str(reason).partition(';')[0]})"
    sure = (
        f" [{found.spearman_low:.2f}, {found.spearman_high:.2f}], p = {found.spearman_p:.2g}"
        if found.count >= _LEAST_FOR_INTERVAL
        else ""
    )
    return f"ρ = {found.spearman:.2f}{sure}, N = {found.count}".replace("-", "−")
