"""The loss around compiled and trained weights, along two random directions."""

import numpy as np

from algoscope.report.figures.style import FULL, INK, Drawn, sheet, styled
from algoscope.report.findings import Hill

_LEVELS = 14


def draw(hills: list[Hill]) -> Drawn:
    logs = [np.log10(np.maximum(hill.losses, 1e-12)) for hill in hills]
    finite = np.concatenate([log[np.isfinite(log)].ravel() for log in logs])
    low, high = np.percentile(finite, (0, 99)) if finite.size else (0.0, 1.0)
    levels = np.linspace(low, max(high, low + 1e-6), _LEVELS)
    with styled():
        figure = sheet(FULL, 3.4)
        panels = figure.subplots(1, len(hills), squeeze=False)[0]
        filled = None
        for axes, hill, log in zip(panels, hills, logs, strict=True):
            filled = axes.contourf(
                hill.offsets, hill.offsets, log.T, levels=levels, cmap="cividis", extend="both"
            )
            axes.plot(0, 0, "+", color="white", markersize=10, markeredgewidth=1.5)
            axes.set_aspect("equal")
            axes.set_title(hill.name)
            axes.set_xlabel("first direction")
        panels[0].set_ylabel("second direction")
        bar = figure.colorbar(filled, ax=list(panels), shrink=0.85, aspect=24, pad=0.02)
        bar.set_label("log₁₀ of the loss", color=INK)
        bar.outline.set_visible(False)
    sharp = "; ".join(
        f"{hill.name} {_at_middle(hill):.2g} and {hill.largest_eigenvalue:.3g} "
        f"(± {hill.residual:.1g})"
        for hill in hills
    )
    return Drawn(
        "landscape",
        figure,
        "The training loss on a plane through the weights (the cross), along two random "
        "directions, each filter as long as the network’s own (Li et al., 2018). Loss at the cross "
        f"and largest eigenvalue of the Hessian: {sharp}. The eigenvalue depends on the scale of "
        "weights, the picture does not.",
        "Contour maps of the loss around " + " and ".join(hill.name for hill in hills) + ".",
        ["network", "first", "second", "loss"],
        [
            [hill.name, f"{hill.offsets[i]:.4g}", f"{hill.offsets[j]:.4g}", f"{loss:.6g}"]
            for hill in hills
            for (i, j), loss in np.ndenumerate(hill.losses)
        ],
    )


def _at_middle(hill: Hill) -> float:
    middle = len(hill.offsets) // 2
    return float(hill.losses[middle, middle])
