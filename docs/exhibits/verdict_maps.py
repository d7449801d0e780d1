"""Where trained networks break: a column a network, a row a family of problems, from the lines of
results/words. Above them the word that each network got."""

import json
import pathlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from algoscope.markup import element, escape

Line = dict[str, Any]
_CELL, _ROW, _LEFT, _TOP, _RIGHT = 5, 13, 150, 62, 62
_ABOVE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 0.95)
"""Shares from which on a shade is the next darker one."""
_NAMES = {"bfs": "BFS", "bellman_ford": "Bellman-Ford"}
_STYLE = """
svg { --paper: #ffffff; --ink: #1c2530; --muted: #5b6675; --rule: #e7eaee; --wrong: #c8500a;
  --runs: #0a6fb0; --runs-up-to: #0a6fb0; --approximates: #3fa9a0; --shortcut: #ab4108;
  --fails: #5b6675; --undecided: #a98a1c; font-family: Helvetica, Arial, sans-serif; }
@media (prefers-color-scheme: dark) { svg { --paper: #12171e; --ink: #e4e8ee; --muted: #9aa6b5;
  --rule: #252e39; --wrong: #f0914e; --runs: #6cb8ec; --runs-up-to: #6cb8ec;
  --approximates: #1f8a7a; --shortcut: #f0914e; --fails: #aab4c0; --undecided: #e3c04f; } }
text { font-size: 10.5px; fill: var(--ink); }
.ground { fill: var(--paper); }
.title { font-size: 14px; font-weight: 600; }
.muted { fill: var(--muted); }
.end { text-anchor: end; }
.row { fill: var(--rule); }
.wrong { fill: var(--wrong); }
"""


def read(path: pathlib.Path) -> list[Line]:
    lines = map(json.loads, path.read_text().splitlines())
    return [line for line in lines if "about" not in line]


def shares(lines: Sequence[Line]) -> tuple[list[str], np.ndarray]:
    """Families, the worst first, and the share of their problems that each network has wrong, the
    best network first: [family, network]"""
    ordered = sorted(lines, key=lambda line: line["rate"]["value"])
    names = list(lines[0]["families"])
    counts = np.array([[line["families"][name] for name in names] for line in ordered])
    values = (counts[..., 0] / counts[..., 1]).T
    order = np.argsort(-values.mean(1), kind="stable")
    return [names[row] for row in order], values[order]


def last(lines: Sequence[Line]) -> list[Line]:
    """Those of the last weights of each seed."""
    return [line for line in lines if line["weights"] == "last"]


def draw(lines: Sequence[Line]) -> str:
    """Of the last weights."""
    lines = last(lines)
    ordered = sorted(lines, key=lambda line: line["rate"]["value"])
    families, values = shares(lines)
    wide = _LEFT + _CELL * len(lines) + _RIGHT
    high = _TOP + _ROW * len(families) + 30
    title = f"Where {len(lines)} trained networks of {_NAMES[lines[0]['task']]} break"
    parts = [
        element("rect", class_="ground", width=str(wide), height=str(high), rx="10"),
        _text(16, 26, title, "title"),
        *_words(ordered),
        *_rows(families, values),
        *_legend(high),
    ]
    head = element("title", escape(f"{title}: {_told(families, values)}"))
    size = {"viewBox": f"0 0 {wide} {high}", "width": str(wide), "height": str(high)}
    content = head + element("style", _STYLE) + "".join(parts)
    return element("svg", content, xmlns="http://www.w3.org/2000/svg", role="img", **size) + "\n"


def _told(families: Sequence[str], values: np.ndarray) -> str:
    worst, best = values.mean(1)[[0, -1]]
    return f"{families[0]} {worst:.1%} wrong, {families[-1]} {best:.1%}"


def _words(ordered: Sequence[Line]) -> list[str]:
    """A strip in the colours of the words, and how many there are of each."""
    y = _TOP - 14
    parts = [_text(_LEFT - 8, y + 9, "verdict", "muted end")]
    for place, line in enumerate(ordered):
        colour = f"fill:var(--{line['word'].replace(' ', '-')})"
        at = {"x": str(_LEFT + _CELL * place), "y": str(y), "width": str(_CELL), "height": "10"}
        parts.append(element("rect", style=colour, **at))
    counts = Counter(line["word"] for line in ordered)
    told = ", ".join(f"{word}: {count}" for word, count in counts.most_common())
    return [*parts, _text(_LEFT, y - 6, told, "muted")]


def _rows(families: Sequence[str], values: np.ndarray) -> list[str]:
    """One path for each shade."""
    parts = [_text(_LEFT + _CELL * values.shape[1] + 8, _TOP - 5, "wrong", "muted")]
    across = str(_CELL * values.shape[1])
    levels = (values[..., None] > _ABOVE).sum(-1)
    for row, family in enumerate(families):
        y = _TOP + _ROW * row
        at = {"x": str(_LEFT), "y": str(y), "width": across, "height": str(_ROW - 1)}
        parts.append(element("rect", class_="row", **at))
        parts.append(_text(_LEFT - 8, y + 10, family, "end"))
        share = f"{100 * values[row].mean():.1f} %"
        parts.append(_text(_LEFT + int(across) + 8, y + 10, share, "muted"))
    for level in range(1, len(_ABOVE) + 1):
        cells = "".join(
            f"M{_LEFT + _CELL * column} {_TOP + _ROW * row}h{_CELL}v{_ROW - 1}h-{_CELL}z"
            for row, column in np.argwhere(levels == level)
        )
        if cells:
            parts.append(element("path", class_="wrong", d=cells, opacity=_opacity(level)))
    return parts


def _opacity(level: int) -> str:
    return f"{level / len(_ABOVE):.2f}"


def _legend(high: int) -> list[str]:
    y, x = high - 20, _LEFT + 180
    parts = [_text(_LEFT, y + 10, "a column a network; wrong in more than", "muted")]
    for level, share in enumerate(_ABOVE, 1):
        x += 42
        at = {"x": str(x), "y": str(y), "width": "12", "height": "12"}
        parts.append(element("rect", class_="wrong", opacity=_opacity(level), **at))
        parts.append(_text(x + 15, y + 10, f"{share:.0%}".replace("%", " %"), "muted"))
    return parts


def _text(x: float, y: float, words: str, class_: str) -> str:
    return element("text", escape(words), class_=class_, x=f"{x:g}", y=f"{y:g}")
