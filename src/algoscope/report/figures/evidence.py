"""The numbers of a verdict against their thresholds, every network a dot."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from algoscope.measures.verdict import THRESHOLDS
from algoscope.report.figures.style import (
    FULL,
    MUTED,
    NARROW,
    PAPER,
    REFERENCE,
    RULE,
    RUNS_ZONE,
    SHORTCUT_ZONE,
    TRAINED,
    Drawn,
    label,
    markers,
    run_of,
    sheet,
    styled,
)
from algoscope.report.wording import LABELS

_HEIGHT = 0.34


def draw(
    judgements: Mapping[str, dict[str, Any]], control: dict[str, Any] | None, width: float = FULL
) -> Drawn:
    names = [n for n in THRESHOLDS if any(_number(j, n) is not None for j in judgements.values())]
    with styled():
        figure = sheet(width, _HEIGHT * len(names) + (1.0 if width > NARROW else 1.3))
        axes = figure.subplots()
        for row, name in enumerate(names):
            _row(axes, row, name, judgements, control)
        axes.set_ylim(len(names) - 0.45, -0.75)
        axes.set_xlim(-0.02, 1.02)
        axes.set_yticks(range(len(names)), [LABELS[name] for name in names])
        axes.set_xlabel("1 = what the algorithm does")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        signs = markers(judgements)
        kinds = [
            (sign, TRAINED, f"{label(run or 'trained')} ({list(signs.values()).count(sign)})")
            for run, sign in {run_of(name): sign for name, sign in signs.items()}.items()
        ]
        if control:
            kinds.append(("D", REFERENCE, "compiled, the control"))
        for sign, colour, text in kinds:
            axes.plot([], [], sign, color=colour, markersize=5, linestyle="none", label=text)
        for colour, text in ((RUNS_ZONE, "runs"), (SHORTCUT_ZONE, "shortcut")):
            axes.fill([], [], color=colour, label=text)
        figure.legend(loc="outside upper left", ncols=4 if width > NARROW else 2, handletextpad=0.4)
    return Drawn(
        "evidence",
        figure,
        "Each dot is a network, each row one of the numbers that the verdict rests on. A network "
        "<em>runs</em> the algorithm if all its dots are in the blue zones on the right; one dot "
        "in an orange zone is enough for <em>shortcut</em>.",
        f"{len(names)} rows, one a tested number from 0 to 1, with a dot for each of "
        f"{len(judgements)} networks, and the two thresholds of each number.",
        ["network", "number", "value", "runs_from", "shortcut_below"],
        [
            [network, name, judgement["tested"].get(name), *THRESHOLDS[name]]
            for network, judgement in [*judgements.items(), *_named(control)]
            for name in names
        ],
    )


def _named(control: dict[str, Any] | None) -> list[tuple[str, dict[str, Any]]]:
    return [("compiled", control)] if control else []


def _number(judgement: dict[str, Any], name: str) -> float | None:
    return judgement["tested"].get(name)


def _row(axes, row: int, name: str, judgements, control) -> None:
    limits = THRESHOLDS[name]
    if limits.shortcut_below > 0:
        axes.barh(row, limits.shortcut_below + 0.02, 0.62, -0.02, color=SHORTCUT_ZONE)
    axes.barh(row, 1.02 - limits.runs_from, 0.62, limits.runs_from, color=RUNS_ZONE)
    axes.axhline(row, color=RULE, linewidth=0.6, zorder=1)
    values = [_number(judgement, name) for judgement in judgements.values()]
    spread = np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else [0.0]
    for value, offset, sign in zip(values, spread, markers(judgements).values(), strict=True):
        if value is not None:
            axes.plot(
                np.clip(value, 0, 1), row + offset, sign, color=TRAINED, markersize=5.2,
                markeredgecolor=PAPER, markeredgewidth=0.6, clip_on=False, zorder=4,
            )  # fmt: skip
    own = control and _number(control, name)
    if own is not None:
        axes.plot(
            np.clip(own, 0, 1), row, "D", markerfacecolor=PAPER, markeredgecolor=REFERENCE,
            markersize=5, markeredgewidth=1.3, clip_on=False, zorder=3,
        )  # fmt: skip
    elif all(value is None for value in values):
        axes.text(0.5, row, "does not apply", color=MUTED, ha="center", va="center")
