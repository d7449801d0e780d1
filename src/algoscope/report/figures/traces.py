"""The trace over time: when networks leave the algorithm, in what they say and what they read."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from algoscope.report.figures.style import FULL, MUTED, REFERENCE, TRAINED, Drawn, sheet, styled

_PLACES = {"small": "16 nodes", "large": "64 nodes", "deep": "deep graphs, 16 nodes"}


def draw(judgements: Mapping[str, dict[str, Any]], control: dict[str, Any] | None) -> Drawn:
    curves = {
        f"trace right, {label}": {
            name: _trace(judgement, place)
            for name, judgement in _everybody(judgements, control)
            if place in judgement["external"]
        }
        for place, label in _PLACES.items()
    }
    curves["attention apart, 16 nodes"] = {
        name: _attention(judgement)
        for name, judgement in _everybody(judgements, control)
        if judgement["internal"]
    }
    curves = {title: of for title, of in curves.items() if of}
    columns = min(2, max(1, len(curves)))
    lines = -(-len(curves) // columns)
    with styled():
        figure = sheet(FULL, 2.5 * lines + 0.1)
        panels = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
        for axes, (title, of) in zip(panels, curves.items(), strict=False):
            _panel(axes, of)
            axes.set_title(title)
        for axes in panels[len(curves) :]:
            axes.set_visible(False)
        for axes in panels[:: 2 if columns == 2 else 1]:
            axes.set_ylabel("share")
        for axes in panels[max(0, len(curves) - columns) : len(curves)]:
            axes.set_xlabel("step")
    return Drawn(
        "traces",
        figure,
        "Above the share of trace entries within the margin of eq. 25, mean over hints; "
        "<em>attention apart</em> is the mean total variation from the nearest reference, 0 for "
        "the algorithm. Thin lines are networks, the thick one is their mean, the blue one the "
        "compiled program. Late steps have few problems left.",
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
    axes.set_ylim(-0.03, 1.05)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(labelcolor=MUTED)
