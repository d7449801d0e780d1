"""The mazes of a study as graphs, and what the last token and the goal's read of them, for its
page: the part that can be reached, and its mirror image beside it."""

from collections.abc import Sequence

import numpy as np

from algoscope.llm.figures import READERS
from algoscope.llm.hypotheses import by_name, trace
from algoscope.llm.observe import READOUTS, Observation
from algoscope.llm.order import Match
from algoscope.llm.prompts import Item
from algoscope.report import reading
from algoscope.report.graph_layout import places
from algoscope.report.reading import Panel, Reader

_PAIRS = 3
"""Twins that are shown, each of another depth."""


def shown(observations: Sequence[Observation]) -> list[Observation]:
    """A pair of twins of each depth, the deepest first, rightly answered ones before others."""
    by_pair: dict[int, list[Observation]] = {}
    for observation in observations:
        by_pair.setdefault(observation.item.pair, []).append(observation)
    best: dict[int, list[Observation]] = {}
    for twins in by_pair.values():
        depth = max(o.item.depth for o in twins)
        if depth not in best or _right(twins) > _right(best[depth]):
            best[depth] = twins
    chosen = sorted(best, reverse=True)[:_PAIRS]
    return [o for depth in chosen for o in sorted(best[depth], key=lambda o: not o.item.reachable)]


def _right(twins: Sequence[Observation]) -> int:
    return sum(o.right for o in twins)


def item_of(observation: Observation, match: Match) -> reading.Item:
    """With the nodes marked that the hypothesis visits in the step that a layer is aligned with."""
    item = observation.item
    attention = np.stack([observation.attention(readout) for readout in READOUTS], 2)
    start, depth = item.names[item.source], f"depth {item.depth}"
    said = "Yes" if observation.says_yes else "No"
    verdict = "right" if observation.right else "wrong"
    return reading.Item(
        f"{start} to {item.names[item.goal]}: {depth}; it says {said}, {verdict}",
        item.names,
        {item.goal: "goal", item.source: "start"},
        item.edges,
        item.directed,
        _panels(item),
        _places(item),
        [Reader(READERS[readout], _text(item, readout)) for readout in READOUTS],
        attention,
        marked=_marked(item, match, len(attention)),
    )


def _text(item: Item, readout: str) -> str:
    return item.names[item.goal] if readout == "goal" else item.prompt.split()[-1]


def _panels(item: Item) -> list[Panel]:
    if not item.mirror:
        return [Panel("the maze", range(item.nodes))]
    near = _near(item)
    return [
        Panel("the part of the start", near),
        Panel("its mirror image, out of reach", [item.mirror[node] for node in near]),
    ]


def _near(item: Item) -> list[int]:
    """One node of each pair of mirror images, the start among them."""
    half = item.nodes // 2
    return list(range(half)) if item.source < half else list(range(half, item.nodes))


def _places(item: Item) -> np.ndarray:
    """A node and its mirror image stand at the same place of their panels."""
    adjacency = item.adjacency()
    if not item.mirror:
        return reading.lying(places(adjacency))
    near = _near(item)
    spots = np.zeros((item.nodes, 2))
    spots[near] = reading.lying(places(adjacency[np.ix_(near, near)]))
    spots[[item.mirror[node] for node in near]] = spots[near]
    return spots


def _marked(item: Item, match: Match, layers: int) -> list[list[int]]:
    steps = trace(by_name(match.hypothesis), item)
    marked: list[list[int]] = [[] for _ in range(layers)]
    for step, (layer, _) in zip(steps, match.alignment, strict=False):
        marked[layer] += np.flatnonzero(step).tolist()
    return marked
