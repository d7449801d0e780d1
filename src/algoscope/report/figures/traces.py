"""The trace over time: when networks leave the algorithm, in what they say and what they read."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from algoscope.report.figures.style import (
    FULL,
    MUTED,
    REFERENCE,
    TRAINED,
    Drawn,
    columns,
    sheet,
    styled,
)
from algoscope.report.wording import PLACES

_APART = "how far attention is apart, at 16 nodes"


def draw(
    judgements: Mapping[str, dict[str, Any]], control: dict[str, Any] | None, width: float = FULL
) -> Drawn:
    curves = {
        f"share of the trace that is right, {label}": {
            name: _trace(judgement, place)
            for name, judgement in _everybody(judgements, control)
            if place in judgement["external"]
        }
        for place, label in PLACES.items()
    }
    curves[_APART] = {
        name: _attention(judgement)
        for name, judgement in _everybody(judgements, control)
        if judgement["internal"]
    }
    curves = {title: of for title, of in curves.items() if of}
    low = min(
        (np.nanmin(v) for title, of in curves.items() if title != _APART for v in of.values()),
        default=0.0,
    )
    across = columns(width)
    lines = -(-len(curves) // across)
    with styled():
        figure = sheet(width, 2.4 * lines + 0.1)
        panels = figure.subplots(lines, across, squeeze=False).ravel()
        for axes, (title, of) in zip(panels, curves.items(), strict=False):
            _panel(axes, of)
            axes.set_title(title)
            least = 0.0 if title == _APART else np.floor(10 * low) / 10
            axes.set_ylim(least - 0.04 * (1 - least), 1 + 0.04 * (1 - least))
        for axes in panels[len(curves) :]:
            axes.set_visible(False)
        for axes in panels[max(0, len(curves) - across) : len(curves)]:
            axes.set_xlabel("step")
    return Drawn(
        "traces",
        figure,
        "Trace: the share of entries within the margin of eq. 25, mean over hints. Attention: the "
        "mean total variation from the nearest reference, from 0 for the algorithm to 1. Thin "
        "lines are networks, the thick one is their mean, the blue one the compiled program. Late "
        "steps have few problems left.",
        "Line charts over steps: the share of the trace that is right, and how far attention is "
        "from the algorithm's, for each network and the compiled program.",
        ["panel", "subject", "step", "value"],
        [
            [title, name, step + 1, value]
            for title, of in curves.items()
            for name, values in of.items()
            for step, value in enumerate(values)
        ],
    )


def _everybody(judgements, control):
    return [*judgements.items(), *([("compiled", control)] if control else [])]


def _trace(judgement: dict[str, Any], place: str) -> np.ndarray:
    by_hint = judgement["external"][place]["by_hint"].values()
    return np.mean([np.array(hint["eq25_per_step"], float) for hint in by_hint], 0)


def _attention(judgement: dict[str, Any]) -> np.ndarray:
    nearest = judgement["internal"][judgement["reference"]]
    return np.array(nearest["total_variation_per_step"], float)


def _panel(axes, curves: Mapping[str, np.ndarray]) -> None:
    trained = [values for name, values in curves.items() if name != "compiled"]
    axes.grid(True, axis="y")
    for values in trained:
        axes.plot(np.arange(1, len(values) + 1), values, color=TRAINED, linewidth=0.8, alpha=0.55)
    if trained:
        mean = np.mean(trained, 0)
        axes.plot(np.arange(1, len(mean) + 1), mean, "o-", color=TRAINED, linewidth=2, markersize=4)
    if "compiled" in curves:
        values = curves["compiled"]
        axes.plot(
            np.arange(1, len(values) + 1), values, "D-", color=REFERENCE, markersize=4,
            markerfacecolor="none", clip_on=False,
        )  # fmt: skip
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(labelcolor=MUTED)
