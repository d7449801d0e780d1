"""Pictures of a network's parameters, as in Mind The Gap, figures 6 to 9.

Every matrix is a heat map from red (negative) over nothing to blue (positive), each on its own
scale, since weights differ by factors of millions; small matrices have their numbers in the cells.
The ground shines through where weights are small, so that pictures are for light and dark pages.
"""

import io
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from algoscope.programs.panels import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_CELLS_WITH_NUMBERS = 300
_ROOMY_CELL, _TIGHT_CELL = 0.36, 0.12
"""In inches, with and without numbers."""
_LETTER, _TITLE, _GAP = 0.082, 0.5, 0.3
"""The width of a letter, about, and room for the title of a picture and between panels."""
_PAGE = 14.0
_NEGATIVE, _POSITIVE = (0.70, 0.09, 0.17), (0.13, 0.40, 0.67)


def draw(
    subject: str, pictures: Mapping[str, list[Panel]], folder: pathlib.Path
) -> list[pathlib.Path]:
    """Writes each picture of the subject as SVG and PNG; returns the files."""
    paths = []
    for name, panels in pictures.items():
        drawn = figure(f"{subject}: {name}", panels)
        for suffix, metadata in (("svg", {"Date": None}), ("png", {})):
            path = folder / f"{subject}-{name.replace('.', '-')}.{suffix}"
            drawn.savefig(path, dpi=100, metadata=metadata)
            paths.append(path)
    return paths


def image(panels: list[Panel], name: str) -> bytes:
    """The panels as SVG on white; of one name, the same bytes each time."""
    import matplotlib

    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        drawn = figure("", panels)
        drawn.savefig(file, format="svg", metadata={"Date": None}, facecolor="white")
    return file.getvalue()


def figure(title: str, panels: list[Panel], page: float = _PAGE) -> "Figure":
    """The panels from left to right, in rows as wide as a page, below a title if there is one."""
    from matplotlib.figure import Figure

    rows: list[list[Panel]] = [[]]
    for panel in panels:
        if rows[-1] and sum(map(_width, [*rows[-1], panel])) > page:
            rows.append([])
        rows[-1].append(panel)
    width = max(sum(map(_width, row)) for row in rows)
    heights = [max(map(_above, row)) + max(map(_down, row)) + _GAP for row in rows]
    height = sum(heights) + (_TITLE if title else 0.0)
    drawn = Figure(figsize=(width, height))
    drawn.text(_GAP / width, 1 - _GAP / height, title, fontsize=12, va="top", weight="bold")
    top = height - sum(heights)
    for row, row_height in zip(rows, heights, strict=True):
        left, start = 0.0, top + max(map(_above, row))
        for panel in row:
            across, down = panel.values.shape[1] * _cell(panel), _down(panel)
            place = (left + _left(panel), height - start - down, across, down)
            scaled = (place[0] / width, place[1] / height, place[2] / width, place[3] / height)
            _heat_map(drawn.add_axes(scaled), panel)
            left += _width(panel)
        top += row_height
    return drawn


def _left(panel: Panel) -> float:
    """Room for the names of rows."""
    return 0.2 + _LETTER * max(map(len, panel.rows))


def _above(panel: Panel) -> float:
    """Room for the title and the names of columns."""
    return 0.45 + _LETTER * max(map(len, panel.columns))


def _down(panel: Panel) -> float:
    return panel.values.shape[0] * _cell(panel)


def _width(panel: Panel) -> float:
    """With room for a title that is wider than the matrix."""
    across = max(panel.values.shape[1] * _cell(panel), 1.1 * _LETTER * len(panel.title))
    return _left(panel) + across + _GAP


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
    axes.set_title(panel.title, fontsize=9, loc="left", y=1, pad=72 * (_above(panel) - 0.3))
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.5)
    if not roomy:
        return
    for (row, column), value in np.ndenumerate(panel.values):
        if value:
            strong = {"color": "white"} if abs(value) > 0.6 * largest else {}
            axes.text(column, row, _short(value), ha="center", va="center", fontsize=6, **strong)


def _short(value: float) -> str:
    return f"{value:.2g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _coloured(values: np.ndarray) -> np.ndarray:
    """Numbers from -1 to 1 as red and blue, the weaker the more transparent: [row, column, 4]."""
    image = np.empty((*values.shape, 4))
    image[..., :3] = np.where((values < 0)[..., None], _NEGATIVE, _POSITIVE)
    image[..., 3] = np.abs(values)
    return image
