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
import itertools
import pathlib
import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from algoscope.files import write_bytes
from algoscope.markup import escape
from algoscope.verdict import (
    APPROXIMATES,
    FAILS,
    NOT_JUDGED,
    RUNS,
    RUNS_UP_TO,
    SHORTCUT,
    UNDECIDED,
)

INK, MUTED, RULE, PAPER = "#1c2530", "#657082", "#d3d9e0", "#fefefe"
REFERENCE, TRAINED, NULL = "#0a6fb0", "#c8500a", "#8b939e"
RUNS_ZONE, SHORTCUT_ZONE = "#d7ebf7", "#fbe6d9"
WORDS = {
    RUNS: "#0a6fb1", RUNS_UP_TO: "#4f9cc9", APPROXIMATES: "#0b7285", SHORTCUT: "#ab4108",
    FAILS: "#5b6676", UNDECIDED: "#7a5c00", NOT_JUDGED: "#b3bac3",
}  # fmt: skip
"""Colours of verdicts; the style sheet has the same for dark pages."""
_VARIABLES = {
    INK: "ink", MUTED: "muted", RULE: "rule", PAPER: "paper",
    REFERENCE: "reference", TRAINED: "trained", NULL: "null",
    RUNS_ZONE: "runs-zone", SHORTCUT_ZONE: "shortcut-zone",
    **{colour: f"word-{word.replace(' ', '-')}" for word, colour in WORDS.items()},
}  # fmt: skip
_SIGNS = "os^vP*X"
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
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
    "savefig.dpi": 200,
}
for _axis in ("xtick", "ytick"):
    _SETTINGS |= {f"{_axis}.color": MUTED, f"{_axis}.labelcolor": INK, f"{_axis}.labelsize": 9}
    _SETTINGS |= {f"{_axis}.major.width": 0.7, f"{_axis}.major.size": 3}


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
    for suffix in _UNDATED:
        write_bytes(folder / f"{drawn.name}.{suffix}", image(drawn, suffix))
    data = io.StringIO()
    csv.writer(data, lineterminator="\n").writerows([drawn.columns, *drawn.rows])
    write_bytes(folder / f"{drawn.name}.csv", data.getvalue().encode())


def image(drawn: Drawn, suffix: str) -> bytes:
    """The figure as a file, an svg, pdf or png, that holds no date."""
    options = {"format": suffix, "metadata": _UNDATED[suffix], "facecolor": "white"}
    return _image(drawn, drawn.name, "path", options)


def _image(drawn: Drawn, salt: str, letters: str, options: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    salted: dict[Any, Any] = {"svg.hashsalt": salt, "svg.fonttype": letters}
    with styled(), matplotlib.rc_context(salted):
        _make_room(drawn.figure)
        drawn.figure.savefig(file, **options)
    return file.getvalue()


def _make_room(figure: Figure) -> None:
    """For labels. It takes as long as drawing: once is enough for all forms, and without any
    engine, even one that does nothing, each form is drawn once."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def inline(drawn: Drawn, class_: str = "full") -> str:
    """The figure as an SVG element in the page's colours and letters."""
    options = {"format": "svg", "metadata": {"Date": None}}
    text = _image(drawn, drawn.name + class_, "none", options).decode()
    text = text[text.index("<svg") :]
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    text = re.sub(r"(font: |font-family: )([^;\"]*?)'[^;\"]*", r"\1\2var(--figure-font)", text)
    text = _with_own_ids(text, drawn.name + class_)
    text = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    head = f'<svg class="{class_}" role="img" aria-label="{escape(drawn.alternative)}"'
    return text.replace("<svg", head, 1)


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
    ink = np.broadcast_to(to_rgb(colour), (*values.shape, 3))
    return np.concatenate([ink, np.clip(values, 0, 1)[..., None]], -1)


def markers(names: Collection[str]) -> dict[str, str]:
    """The sign of each network; those of one run, which comes before the comma, have the same."""
    signs = dict(zip(dict.fromkeys(map(run_of, names)), itertools.cycle(_SIGNS), strict=False))
    return {name: signs[run_of(name)] for name in names}


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
