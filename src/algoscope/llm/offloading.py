"""What is offloaded to text, and what happens inside: written steps and internal evidence, on the
same mazes.

Each maze is asked twice: for steps, which are written, and for Yes or No at once, which has to be
found inside. Nodes that a search from the start visits are those on the way to the goal and those
beside it, start and goal left out.

    written = share of a maze's nodes that the text names
    inside  = attention of the last token to a mention of a node, less that to its mirror image's,
              mean over heads, at the layer where it is largest
    follows = share of the edges of the way which, when they are crossed, turn the answer that is
              given at once from Yes to No

`inside` has a p-value by flipping mazes, which includes the choice of the layer, corrected for
kinds of nodes (Holm). Attention alone is a lead: heads can look like a search whose result nobody
uses. So nodes are said to be dealt with inside only where answers follow the edges, too.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import mazes, prompts
from algoscope.llm.capture import Request
from algoscope.llm.chain_of_thought import read_steps, right
from algoscope.llm.exchange import path_edges, read
from algoscope.llm.observe import Observation, observe
from algoscope.llm.prompts import Item
from algoscope.llm.subjects import Subject
from algoscope.statistics import Estimate

KINDS = ("on the way", "beside it")
_SIGNIFICANT, _WRITTEN, _FOLLOWS = 0.05, 0.5, 0.5


class Joined(NamedTuple):
    """Of one kind of nodes."""

    nodes: str
    written: Estimate
    inside: Estimate
    p: float
    follows: Estimate
    mazes: int

    @property
    def where(self) -> str:
        """Where these nodes are dealt with: written and inside, text, inside, or neither."""
        looks = self.p < _SIGNIFICANT and self.inside.low > 0
        inside = looks and self.follows.low > _FOLLOWS
        if self.written.value >= _WRITTEN:
            return "written and inside" if inside else "offloaded to text"
        return "inside" if inside else "neither"


class Answers(NamedTuple):
    """How many mazes are answered right inside, and right in writing."""

    both: int
    inside_alone: int
    written_alone: int
    neither: int


class Offloading(NamedTuple):
    kinds: list[Joined]
    answers: Answers


def offloading(
    subject: Subject, items: Sequence[Item], texts: Sequence[str], seed: int = 0
) -> Offloading:
    """`texts` are what was written on `items`; all need mirror images."""
    if not all(item.mirror for item in items):
        raise ValueError("items: got some without a mirror image, needed those of `navigation`")
    at_once = [
        prompts.asked(dataclasses.replace(item, question="reach"), item.source, item.goal)
        for item in items
    ]
    seen = observe(subject, at_once)
    pairs = [(o.right, right(text, item)) for o, text, item in zip(seen, texts, items, strict=True)]
    answers = Answers(*(pairs.count((a, b)) for a in (True, False) for b in (True, False)))
    follows = statistics.bootstrap(
        np.array([_follows(subject, item) for item in at_once if item.reachable]), seed
    )
    rows = []
    for kind in KINDS:
        written, inside = [], []
        for observation, text, item in zip(seen, texts, items, strict=True):
            nodes = _nodes(item)[kind] if item.reachable else []
            if nodes:
                named = set(read_steps(text, item))
                written.append(float(np.mean([node in named for node in nodes])))
                inside.append(_contrast(observation, nodes))
        if not inside:
            continue
        values = np.array(inside)
        best = int(values.mean(0).argmax())
        p = statistics.p_value(float(values.mean(0).max()), statistics.flip_null(values, 999, seed))
        rows.append(
            Joined(
                kind,
                statistics.bootstrap(np.array(written), seed),
                statistics.bootstrap(values[:, best], seed),
                p,
                follows,
                len(values),
            )
        )
    return Offloading(statistics.with_corrected_p(rows) if rows else [], answers)


def _nodes(item: Item) -> dict[str, list[int]]:
    """Those that can be reached, on the way and beside it."""
    reached = np.flatnonzero(mazes.distances(item.adjacency(), item.source) >= 0).tolist()
    asked, way = {item.source, item.goal}, set(item.path())
    inner = [node for node in reached if node not in asked]
    return {
        "on the way": [node for node in inner if node in way],
        "beside it": [node for node in inner if node not in way],
    }


def _contrast(observation: Observation, nodes: Sequence[int]) -> np.ndarray:
    """Attention above the mirror images', by layer: [layer]."""
    attention = observation.per_mention("last").mean(1)
    images = [observation.item.mirror[node] for node in nodes]
    return attention[:, nodes].mean(1) - attention[:, images].mean(1)


def _follows(subject: Subject, item: Item) -> float:
    """The share of the way's edges that the answer depends on."""
    others = [prompts.crossed(item, [edge]) for edge in path_edges(item)]
    asked = [Request(subject.encode(one.prompt).ids) for one in (item, *others)]
    says_yes = [answered.odds > 0 for answered in read(subject, asked)]
    return float(np.mean([says_yes[0] and not other for other in says_yes[1:]]))
