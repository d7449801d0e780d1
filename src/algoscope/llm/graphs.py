"""Small graphs of who informs whom: heads, and places of a prompt; and what places know, by
layer."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from algoscope.llm.heads import Heads, number
from algoscope.llm.places import PLACES, Knowledge
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn

_GAP = 0.22
"""Between the middle of a box and the arrows that end there, in lines."""
_PADDING = 0.7
"""Round the words of a box, of their size: a page's font may be wider than the one it was drawn
for."""


class _Arrow(NamedTuple):
    sender: str
    receiver: str
    share: float


def heads_graph(heads: Heads, width: float = style.FULL) -> Drawn:
    """Heads that are used, by layer, with the paths between them; there has to be one."""
    used = heads.used
    ends = {end for path in heads.shown for end in path[1:3]} | used
    top = max(end[0] for end in ends if end) + 1
    labels, levels = {}, {}
    for end in sorted(ends, key=lambda end: end or (top, 0)):
        known = f"{number(end)} {heads.name(end)}" if end in used and end else heads.name(end)
        labels[end] = known
        levels.setdefault(end[0] if end else top, []).append(known)
    arrows = [
        _Arrow(labels[path.sender], labels[path.receiver], path.share.value) for path in heads.shown
    ]
    return _drawn(
        "heads",
        [levels[level] for level in sorted(levels)],
        arrows,
        "Which head feeds which, from the first layers up: the share of the answer that goes along "
        "an arrow, by path patching",
        width,
    )


def places_graph(knowledge: Knowledge, width: float = style.FULL) -> Drawn:
    """Places in the order of the text, with the links between them; there has to be one."""
    ends = {end for link in knowledge.shown for end in link[:2]}
    rows = [[place] for place in PLACES if place in ends and place != "last mention"]
    if "last mention" in ends:
        # Its tokens are among the mentions.
        beside = next((r for r in rows if r[0].startswith("mention")), None)
        rows.insert(1, ["last mention"]) if beside is None else beside.append("last mention")
    arrows = [_Arrow(*link[:2], link.share.value) for link in knowledge.shown]
    return _drawn(
        "places",
        rows,
        arrows,
        "Who informs whom, in the order of the text: the share of the answer that goes directly "
        "from the states of one place to those of another when an edge of the path is crossed",
        width,
    )


def _drawn(
    name: str,
    rows: Sequence[Sequence[str]],
    arrows: Sequence[_Arrow],
    caption: str,
    width: float,
) -> Drawn:
    """Boxes in rows from below, and arrows between them."""
    places: Mapping[str, tuple[float, float]] = {
        label: ((k + 0.5) / len(row), height)
        for height, row in enumerate(rows)
        for k, label in enumerate(row)
    }
    figure = style.sheet(width, 0.8 * len(rows) + 0.6)
    axes = figure.subplots()
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.5, len(rows) - 0.5)
    axes.set_axis_off()
    for sender, receiver, share in arrows:
        (x, y), (u, v) = places[sender], places[receiver]
        # What passes over a row is bent around it; what goes down is bent the other way.
        bend = 0.0 if v - y == 1 else (0.25 if v > y else -0.4) * (-1) ** int(v - y)
        side = np.sign(v - y)
        axes.annotate(
            "",
            (u, v - side * _GAP),
            (x, y + side * _GAP),
            arrowprops={
                "arrowstyle": "-|>",
                "connectionstyle": f"arc3,rad={bend}",
                "color": style.TRAINED,
                "linewidth": 0.8 + 2 * min(1.0, share),
            },
        )
        aside = 0.02 + bend * 0.13 * (v - y)
        axes.text((x + u) / 2 + aside, (y + v) / 2, f"{share:.2f}", va="center")
    for label, (x, y) in places.items():
        shape = f"round,pad={_PADDING},rounding_size=0.3"
        box = {"boxstyle": shape, "facecolor": style.PAPER, "edgecolor": style.REFERENCE}
        axes.text(x, y, label, ha="center", va="center", bbox=box)
    said = "; ".join(f"{a} to {b}, {share:.2f}" for a, b, share in arrows)
    return Drawn(
        name, figure, caption, f"graph: {said or 'no arrows'}", ["from", "to", "share"], arrows
    )


def known_by_layer(knowledge: Knowledge, width: float = style.FULL) -> Drawn:
    """What each place knows of a crossed edge after each layer."""
    values = np.array([[e.value for e in knowledge.known[place]] for place in PLACES])
    figure = style.sheet(width, 0.3 * len(PLACES) + 1.2)
    axes = figure.subplots()
    image = axes.imshow(values, aspect="auto", cmap="viridis", vmin=0, vmax=1)
    axes.set_yticks(range(len(PLACES)), PLACES)
    axes.set_xlabel("states exchanged after layer")
    figure.colorbar(image)
    return Drawn(
        "known",
        figure,
        "Where a crossed edge is known: the share of the way to the other answer when the states "
        f"of a place alone are exchanged; {knowledge.changes} changes",
        "heat map: share of the answer, by place and layer",
        ["place", "layer", "share"],
        [[p, k, v] for p, row in zip(PLACES, values, strict=True) for k, v in enumerate(row)],
    )
