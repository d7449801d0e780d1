"""Pictures of a network's parameters, as in Mind The Gap, figures 6 to 9.

Every matrix is a heat map from red (negative) over nothing to blue (positive), each on its own
scale, since weights differ by factors of millions; small matrices have their numbers in the cells.
The ground shines through where weights are small, so that pictures are for light and dark pages.
"""

import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from algoscope.programs.panels import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_CELLS_WITH_NUMBERS = 300
_ROOMY_CELL, _TIGHT_CELL = 0.42, 0.12
"""In inches, with and without numbers."""
_LEFT, _TOP, _GAP = 1.3, 1.5, 0.3
"""Room for the names of rows, for the names of columns with the title, and between panels."""
_PAGE = 14.0
_NEGATIVE, _POSITIVE = (0.70, 0.09, 0.17), (0.13, 0.40, 0.67)


def draw(
    subject: str, pictures: Mapping[str, list[Panel]], folder: pathlib.Path
) -> list[pathlib.Path]:
    """Writes each picture of the subject as SVG and PNG; returns the files."""
    written = []
    for name, of_picture in pictures.items():
        drawn = figure(f"{subject}: {name}", of_picture)
        for suffix, metadata in (("svg", {"Date": None}), ("png", {})):
            path = folder / f"{subject}-{name.replace('.', '-')}.{suffix}"
            drawn.savefig(path, dpi=100, metadata=metadata)
            written.append(path)
    return written


def figure(title: str, of_picture: list[Panel]) -> "Figure":
    """The panels from left to right, in rows as wide as a page, below a title if there is one."""
    from matplotlib.figure import Figure

    corners, x, y, height, right = [], 0.0, 0.5 if title else 0.0, 0.0, 0.0
    for panel in of_picture:
        down, across = (cells * _cell(panel) for cells in panel.values.shape)
        if x > 0 and x + _LEFT + across > _PAGE:
            x, y, height = 0.0, y + height, 0.0
        corners.append((x + _LEFT, y + _TOP, across, down))
        x += _LEFT + across + _GAP
        height, right = max(height, _TOP + down + _GAP), max(right, x)
    bottom = y + height
    drawn = Figure(figsize=(right, bottom))
    drawn.text(_GAP / right, 1 - _GAP / bottom, title, fontsize=12, va="top", weight="bold")
    for panel, (left, top, across, down) in zip(of_picture, corners, strict=True):
        place = (left / right, 1 - (top + down) / bottom, across / right, down / bottom)
        _heat_map(drawn.add_axes(place), panel)
    return drawn


def _cell(panel: Panel) -> float:
    return _ROOMY_CELL if panel.values.size <= _MOST_CELLS_WITH_NUMBERS else _TIGHT_CELL


def _heat_map(axes, panel: Panel) -> None:
    largest = float(np.abs(panel.values).max()) or 1.0
    roomy = _cell(panel) == _ROOMY_CELL
    size = 8 if roomy else 6
    axes.imshow(_coloured(panel.values / largest), aspect="auto", interpolation="none")
    axes.set_xticks(range(len(panel.columns)), panel.columns, rotation=90, fontsize=size)
    axes.set_yticks(range(len(panel.rows)), panel.rows, fontsize=size)
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axes.set_title(panel.title, fontsize=9, loc="left")
    if not roomy:
        return
    for (row, column), value in np.ndenumerate(panel.values):
        if value:
            strong = {"color": "white"} if abs(value) > 0.6 * largest else {}
            axes.text(
                column, row, f"{value:.3g}", ha="center", va="center", fontsize=5.5, **strong
            )


def _coloured(values: np.ndarray) -> np.ndarray:
    """Numbers from -1 to 1 as red and blue, the weaker the more transparent: [row, column, 4]."""
    image = np.empty((*values.shape, 4))
    image[..., :3] = np.where((values < 0)[..., None], _NEGATIVE, _POSITIVE)
    image[..., 3] = np.abs(values)
    return image
