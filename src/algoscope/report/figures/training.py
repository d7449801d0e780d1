"""How training went: loss and validation over steps."""

import numpy as np

from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.runs import Run

_SMOOTHED_OVER = 0.02


def draw(run: Run, task: str, width: float = style.FULL) -> Drawn:
    metrics, place = run.metrics, run.tasks.index(task)
    losses = np.asarray(metrics.loss)[:, :, place]
    scores = np.asarray(metrics.validation)[:, :, place]
    window = max(1, round(len(losses) * _SMOOTHED_OVER))
    kernel = np.full(window, 1 / window)
    smooth = np.stack([np.convolve(values, kernel, "valid") for values in losses.T], 1)
    look = {"color": style.TRAINED, "linewidth": 0.9, "alpha": 0.7}
    with style.styled():
        figure, (left, right) = style.grid(2, width, style.columns(width), 2.5)
        left.plot(np.arange(len(smooth)) + window, smooth, **look)
        if (smooth > 0).all():
            left.set_yscale("log")
        left.set_title(f"loss, mean of {window} steps" if window > 1 else "loss")
        right.plot(metrics.validation_steps, scores, ".-", **look)
        right.set_title("score in validation")
        for axes in (left, right):
            axes.grid(True, axis="y")
            axes.set_xlabel("step")
    return Drawn(
        "training",
        figure,
        f"Each line is one of the {losses.shape[1]} seeds. The weights with the best validation "
        "are those that were examined.",
        "Two line charts over training steps: loss, and score in validation, a line a seed.",
        ["number", "step", "seed", "value"],
        [
            [name, int(step), seed, f"{values[row, k]:.6g}"]
            for name, steps, values in (
                ("loss", np.arange(1, len(losses) + 1), losses),
                ("validation", metrics.validation_steps, scores),
            )
            for row, step in enumerate(steps)
            for k, seed in enumerate(run.seeds)
        ],
    )
