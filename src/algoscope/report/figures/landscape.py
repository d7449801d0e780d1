"""The loss around compiled and trained weights, along two random directions."""

import numpy as np

from algoscope.report.figures.style import FULL, INK, Drawn, columns, sheet, styled
from algoscope.report.findings import Hill

_LEVELS = 13
_LEAST = 1e-8


def draw(hills: list[Hill], width: float = FULL) -> Drawn:
    with styled():
        across = min(columns(width), len(hills))
        lines = -(-len(hills) // across)
        figure = sheet(width, (3.6 if columns(width) == 2 else 2.9) * lines)
        panels = figure.subplots(lines, across, squeeze=False).ravel()
        for axes, hill in zip(panels, hills, strict=False):
            _panel(figure, axes, hill)
    sharp = "; ".join(
        f"{hill.name} {_at_middle(hill):.2g} and {hill.largest_eigenvalue:.3g} "
        f"(± {hill.residual:.1g})"
        + (", since no small step changes a choice that sharp" * (not hill.largest_eigenvalue))
        for hill in hills
    )
    return Drawn(
        "landscape",
        figure,
        "The training loss on a plane through the weights (the cross), along two random "
        "directions, each filter as long as the network’s own (Li et al., 2018). Loss at the cross "
        f"and largest eigenvalue of the Hessian: {sharp}. The eigenvalue depends on the scale of "
        "weights, the picture does not. Each picture has its own scale of colours.",
        "Contour maps of the loss around " + " and ".join(hill.name for hill in hills) + ".",
        ["network", "first", "second", "loss"],
        [
            [hill.name, f"{hill.offsets[i]:.4g}", f"{hill.offsets[j]:.4g}", f"{loss:.6g}"]
            for hill in hills
            for (i, j), loss in np.ndenumerate(hill.losses)
        ],
    )


def _panel(figure, axes, hill: Hill) -> None:
    log = np.log10(np.maximum(hill.losses, _LEAST))
    finite = log[np.isfinite(log)]
    low, high = np.percentile(finite, (0, 99)) if finite.size else (0.0, 1.0)
    levels = np.linspace(low, max(high, low + 1e-6), _LEVELS)
    filled = axes.contourf(
        hill.offsets, hill.offsets, log.T, levels=levels, cmap="cividis", extend="both"
    )
    axes.plot(0, 0, "+", color="white", markersize=10, markeredgewidth=1.5)
    axes.set_aspect("equal")
    axes.set_title(hill.name)
    axes.set_xlabel("first direction")
    axes.set_ylabel("second direction")
    bar = figure.colorbar(filled, ax=axes, shrink=0.85, aspect=24, pad=0.02, format="%.1f")
    bar.set_label("log$_{10}$ of the loss", color=INK)
    bar.outline.set_visible(False)


def _at_middle(hill: Hill) -> float:
    middle = len(hill.offsets) // 2
    return float(hill.losses[middle, middle])
