"""Who reads what of a graph, layer by layer: the part of a page in which tokens are readers.

A language model's tokens read the rooms of a maze, a hybrid's the nodes and pairs of nodes of its
reasoner. What was recorded lies in the page, attention rounded to 255ths; no model is in it.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope.markup import element

SCRIPTS = ("page.js", "reading.js")
_LEVELS = 255


class Panel(NamedTuple):
    """Nodes that are drawn together."""

    title: str
    nodes: Sequence[int]


class Reader(NamedTuple):
    """A token."""

    name: str
    """What it is, such as `the last token`."""
    text: str
    """As it stands in the prompt or the answer."""


class Item(NamedTuple):
    """A problem, and what was read of it."""

    title: str
    names: Sequence[str]
    """Of the nodes."""
    roles: Mapping[int, str]
    """Nodes that are something special, such as the goal."""
    edges: Sequence[tuple[int, int]]
    directed: bool
    panels: Sequence[Panel]
    places: np.ndarray
    """Of each node in its panel, within the unit square: [node, 2]"""
    readers: Sequence[Reader]
    attention: np.ndarray
    """[layer, head, reader, node]"""
    pairs: np.ndarray | None = None
    """To pairs of nodes, mean of heads: [layer, reader, node, node]"""
    marked: Sequence[Sequence[int]] = ()
    """Of each layer, the nodes that something says are read there."""
    gates: Sequence[float] = ()
    """Of each layer, how far it lets in what is read."""


def data(items: Sequence[Item], *, choose: bool, mark: str = "") -> dict[str, Any]:
    """For the page. A reader is chosen, if that is told, and else all are shown; `mark` says what
    marked nodes are."""
    return {"levels": _LEVELS, "choose": choose, "mark": mark, "items": [_item(i) for i in items]}


def element_of(data_id: str) -> str:
    """Where the page shows the data that has this id. HTML."""
    return (
        element("div", class_="explorer reading", data_from=data_id, role="group",
                aria_label="who reads what, layer by layer")
        + "<noscript><p>This part needs JavaScript.</p></noscript>"
    )  # fmt: skip


def lying(places: np.ndarray) -> np.ndarray:
    """The places [node, 2] turned so that they are wider than high, and filling their square."""
    extent = np.ptp(places, 0)
    turned = places[:, ::-1] if extent[1] > extent[0] else places
    low, extent = turned.min(0), np.ptp(turned, 0)
    # What is nearly a line stays one, and a single node stands in the middle.
    filled = np.divide(turned - low, extent, out=np.full_like(turned, 0.5), where=extent > 0.2)
    return filled


def _item(item: Item) -> dict[str, Any]:
    layers, heads = item.attention.shape[:2]
    return {
        "title": item.title,
        "names": list(item.names),
        "roles": {str(node): role for node, role in item.roles.items()},
        "edges": [list(map(int, edge)) for edge in item.edges],
        "directed": item.directed,
        "panels": [{"title": p.title, "nodes": list(map(int, p.nodes))} for p in item.panels],
        "places": np.round(item.places, 3).tolist(),
        "readers": [reader._asdict() for reader in item.readers],
        "layers": layers,
        "heads": heads,
        "attention": _packed(item.attention),
        "pairs": None if item.pairs is None else _packed(item.pairs),
        "marked": [list(map(int, nodes)) for nodes in item.marked],
        "gates": [round(float(gate), 3) for gate in item.gates],
    }


def _packed(shares: np.ndarray) -> str:
    octets = np.rint(np.clip(shares, 0, 1) * _LEVELS).astype(np.uint8).tobytes()
    return base64.b64encode(octets).decode()
