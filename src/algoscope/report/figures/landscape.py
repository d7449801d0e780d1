"""The loss around compiled and trained weights, along two random directions."""

import numpy as np

from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.findings import Surroundings

_LEVELS = 13
_LEAST = 1e-8


def draw(networks: list[Surroundings], width: float = style.FULL) -> Drawn:
    with style.styled():
        across = style.columns(width)
        height = 3.6 if across == 2 else 2.9
        figure, panels = style.grid(len(networks), width, min(across, len(networks)), height)
        for axes, around in zip(panels, networks, strict=True):
            _panel(figure, axes, around)
    sharp = "; ".join(map(_sharpness, networks))
    return Drawn(
        "landscape",
        figure,
        "The training loss on a plane through the weights (the cross), along two random "
        "directions, each filter as long as the network’s own (Li et al., 2018). Loss at the cross "
        f"and largest eigenvalue of the Hessian: {sharp}. The eigenvalue depends on the scale of "
        "weights, the picture does not. Each picture has its own scale of colours.",
        "Contour maps of the loss around " + " and ".join(around.name for around in networks) + ".",
        ["network", "first", "second", "loss"],
        [
            [around.name, f"{offsets[i]:.4g}", f"{offsets[j]:.4g}", f"{loss:.6g}"]
            for around in networks
            for offsets, losses in [around.landscape]
            for (i, j), loss in np.ndenumerate(losses)
        ],
    )


def _panel(figure, axes, around: Surroundings) -> None:
    offsets, losses = around.landscape
    log = np.log10(np.maximum(losses, _LEAST))
    finite = log[np.isfinite(log)]
    low, high = np.percentile(finite, (0, 99)) if finite.size else (0.0, 1.0)
    levels = np.linspace(low, max(high, low + 1e-6), _LEVELS)
    filled = axes.contourf(offsets, offsets, log.T, levels=levels, cmap="cividis", extend="both")
    axes.plot(0, 0, "+", color="white", markersize=10, markeredgewidth=1.5)
    axes.set_aspect("equal")
    axes.set_title(around.name)
    axes.set_xlabel("first direction")
    axes.set_ylabel("second direction")
    bar = figure.colorbar(filled, ax=axes, shrink=0.85, aspect=24, pad=0.02, format="%.1f")
    bar.set_label("log$_{10}$ of the loss", color=style.INK)
    bar.outline.set_visible(False)


def _sharpness(around: Surroundings) -> str:
    offsets, losses = around.landscape
    middle = len(offsets) // 2
    largest, residual = around.sharpness.largest_eigenvalue, around.sharpness.residual
    why = "" if largest else ", since no small step changes a choice that sharp"
    return f"{around.name} {losses[middle, middle]:.2g} and {largest:.3g} (± {residual:.1g}){why}"
