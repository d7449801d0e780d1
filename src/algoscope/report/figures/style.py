"""How all figures look, and the forms they are saved in.

A figure is drawn once, in the colours of the light page. In a page its colours become variables of
the style sheet, so that the same SVG serves light and dark, and its letters the page's letters. In
files letters are outlines, which every program shows alike.

    reference   the compiled program, and what it is compared by
    trained     what was learnt
    null        what no mechanism would have
"""

import csv
import hashlib
import io
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from algoscope.files import place
from algoscope.markup import escape

INK, MUTED, RULE, PAPER = "#1c2530", "#657082", "#d3d9e0", "#fefefe"
REFERENCE, TRAINED, NULL = "#0a6fb0", "#c8500a", "#8b939e"
RUNS_ZONE, SHORTCUT_ZONE = "#d7ebf7", "#fbe6d9"
_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    PAPER: "paper",
    REFERENCE: "reference",
    TRAINED: "trained",
    NULL: "null",
    RUNS_ZONE: "runs-zone",
    SHORTCUT_ZONE: "shortcut-zone",
}
_SIGNS = "os^vP*X"
FULL, NARROW = 9.4, 3.7
"""Widths in inches: of a page, and of a telephone."""
_SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Inter", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans"],
    "font.size": 9.5,
    "mathtext.default": "regular",
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.4,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "savefig.dpi": 200,
}


class Drawn(NamedTuple):
    """A figure, with what is said about it and the numbers that it shows."""

    name: str
    figure: Figure
    caption: str
    """HTML."""
    alternative: str
    """For those who do not see it: what there is to see, in words."""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    """The data, for `save`: one table, a number a row where that is possible."""


def styled():
    """A context in which figures are drawn."""
    return matplotlib.rc_context(_SETTINGS)


def columns(width: float) -> int:
    """How many panels stand side by side, of figures that have two or more."""
    return 2 if width > NARROW else 1


def sheet(width: float, height: float, pad: float = 0.04) -> Figure:
    """An empty figure of this size in inches, whose panels make room for their labels."""
    return Figure((width, height), layout=ConstrainedLayoutEngine(w_pad=pad, h_pad=pad))


def grid(
    count: int, width: float, across: int, height: float, sharey: bool = False
) -> tuple[Figure, np.ndarray]:
    """A figure of so many panels, so many of them side by side, in lines of this height."""
    lines = -(-count // across)
    figure = sheet(width, height * lines)
    panels = figure.subplots(lines, across, squeeze=False, sharey=sharey).ravel()
    for axes in panels[count:]:
        axes.set_visible(False)
    return figure, panels[:count]


def save(drawn: Drawn, folder: pathlib.Path) -> None:
    """NAME.svg, .pdf and .png, and NAME.csv with the data."""
    fixed = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    for suffix, metadata in fixed.items():

        def fill(path: pathlib.Path, suffix=suffix, metadata=metadata) -> None:
            salted: dict[Any, Any] = {"svg.hashsalt": drawn.name, "svg.fonttype": "path"}
            with styled(), matplotlib.rc_context(salted):
                drawn.figure.savefig(path, format=suffix, metadata=metadata, facecolor="white")

        place(folder / f"{drawn.name}.{suffix}", fill)
    place(folder / f"{drawn.name}.csv", lambda path: _write_csv(drawn, path))


def _write_csv(drawn: Drawn, path: pathlib.Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(drawn.columns)
        writer.writerows(drawn.rows)


def inline(drawn: Drawn, class_: str = "full") -> str:
    """The figure as an SVG element in the page's colours and letters."""
    file = io.StringIO()
    salted: dict[Any, Any] = {"svg.hashsalt": drawn.name + class_, "svg.fonttype": "none"}
    with styled(), matplotlib.rc_context(salted):
        drawn.figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    text = re.sub(r"(font: |font-family: )([^;\"]*?)'[^;\"]*", _plain_font, text)
    text = _with_own_ids(text, drawn.name + class_)
    text = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    head = f'<svg class="{class_}" role="img" aria-label="{escape(drawn.alternative)}"'
    return text.replace("<svg", head, 1)


def _plain_font(match: re.Match) -> str:
    return f"{match[1]}{match[2]}var(--figure-font)"


def _with_own_ids(text: str, name: str) -> str:
    """Keeps the ids that are referred to, made different from those of other figures."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", text))
    start = hashlib.sha256(name.encode()).hexdigest()[:6]

    def renamed(match: re.Match) -> str:
        return f' id="{start}-{match[1]}"' if match[1] in used else ""

    text = re.sub(r' id="([^"]+)"', renamed, text)
    return re.sub(r"(url\(#|href=\"#)([^)\"]+)", rf"\g<1>{start}-\g<2>", text)


def shaded(values: np.ndarray, colour: str) -> np.ndarray:
    """Numbers from 0 to 1 as the colour, the ground shining through: [..., 4]."""
    red_green_blue = to_rgb(colour)
    image = np.empty((*values.shape, 4))
    image[..., :3] = red_green_blue
    image[..., 3] = np.clip(values, 0, 1)
    return image


def markers(names: Iterable[str]) -> dict[str, str]:
    """The sign of each network; those of one run, which comes before the comma, have the same."""
    runs_by_name = {name: run_of(name) for name in names}
    runs = list(dict.fromkeys(runs_by_name.values()))
    return {name: _SIGNS[runs.index(run) % len(_SIGNS)] for name, run in runs_by_name.items()}


def run_of(name: str) -> str:
    return name.rpartition(", ")[0]


def label(text: str, longest: int = 24) -> str:
    """A text of any content for a figure, in which dollars mean nothing."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return cut.replace("$", r"\$")


def bare(axes: Axes) -> None:
    """No ticks; a thin frame all around."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(RULE)
