"""The trace over time: when networks leave the algorithm, in what they say and what they read."""

from collections.abc import Mapping

import numpy as np

from algoscope.measures import Judgement
from algoscope.measures.thresholds import PLACES
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn

_APART = f"how far attention is apart, {PLACES['small']}"


def draw(
    judgements: Mapping[str, Judgement], control: Judgement | None, width: float = style.FULL
) -> Drawn:
    subjects = [(name, judgement.evidence) for name, judgement in judgements.items()]
    if control:
        subjects.append(("compiled", control.evidence))
    curves = {
        f"share of the trace that is right, {problems}": {
            name: np.mean([h.eq25_per_step for h in evidence.external[place].by_hint.values()], 0)
            for name, evidence in subjects
            if place in evidence.external
        }
        for place, problems in PLACES.items()
    }
    curves[_APART] = {
        name: evidence.nearest.total_variation_per_step
        for name, evidence in subjects
        if evidence.internal
    }
    curves = {title: lines for title, lines in curves.items() if lines}
    low = min(
        (np.nanmin(v) for title, c in curves.items() if title != _APART for v in c.values()),
        default=0.0,
    )
    across = style.columns(width)
    with style.styled():
        figure, panels = style.grid(len(curves), width, across, 2.4)
        for axes, (title, subject_curves) in zip(panels, curves.items(), strict=True):
            _panel(axes, subject_curves)
            axes.set_title(title)
            least = 0.0 if title == _APART else min(0.9, np.floor(10 * low) / 10)
            axes.set_ylim(least - 0.04 * (1 - least), 1 + 0.04 * (1 - least))
        for axes in panels[-across:]:
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
            for title, subject_curves in curves.items()
            for name, values in subject_curves.items()
            for step, value in enumerate(values)
        ],
    )


def _panel(axes, curves: Mapping[str, np.ndarray]) -> None:
    trained = [values for name, values in curves.items() if name != "compiled"]
    steps = np.arange(1, len(next(iter(curves.values()))) + 1)
    axes.grid(True, axis="y")
    if trained:
        axes.plot(steps, np.transpose(trained), color=style.TRAINED, linewidth=0.8, alpha=0.55)
        mean = np.mean(trained, 0)
        axes.plot(steps, mean, "o-", color=style.TRAINED, linewidth=2, markersize=4)
    if "compiled" in curves:
        axes.plot(
            steps, curves["compiled"], "D-", color=style.REFERENCE, markersize=4,
            markerfacecolor="none", clip_on=False,
        )  # fmt: skip
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(labelcolor=style.MUTED)
