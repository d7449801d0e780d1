"""What the case study sees in its pictures, as numbers: each observation by layer, against the
mirror image, and (by the caller) against random weights.

| seen                               | number of a layer                                         |
|------------------------------------|-----------------------------------------------------------|
| rooms begin as one tight cluster   | mean distance of two rooms                                |
| the start diverges                 | distance of the start from rooms, less that of two rooms  |
| the goal leaves the other rooms    | the same of the goal                                      |
| other rooms keep their subgroups   | rank correlation of their distances with the next layer's |
| goal and sibling separate          | their distance, less that of two rooms                    |
| the goal's sibling gets attention  | attention to a mention of it, less that to one of a room  |

Distance is 1 - cosine of states at a room's last mention. Rooms are nodes that are neither start
nor goal. The image of a number is the same of the mirror images; both are equal in expectation for
a model that does not search, and, since a mention that comes before the question cannot know of it,
for distances in every causal model whose question comes last.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import mazes
from algoscope.llm.observe import READOUTS, Observation
from algoscope.llm.prompts import Item
from algoscope.llm.representation import cosine


class Cast(NamedTuple):
    """Who plays which part: as the question says, or in the mirror image."""

    start: int
    goal: int
    siblings: list[int]
    """Nodes as far as the goal that one gets to from the same node."""
    rooms: list[int]
    """Neither start nor goal nor their images."""


class Observed(NamedTuple):
    seen: str
    plain: list[statistics.Estimate]
    """By layer, mean over items."""
    trend: statistics.Estimate
    """Spearman correlation of the number with the layer, mean over items."""
    mirrored: list[statistics.Estimate]
    """The same, less that of the mirror image; empty where there is none."""
    p: float
    """For the largest `mirrored` of all layers, by flipping mazes, corrected for all that is
    observed; NaN where there is no mirror image."""

    @property
    def best(self) -> statistics.Estimate:
        """The largest `mirrored` of all layers."""
        return max(self.mirrored, key=lambda e: np.nan_to_num(e.value, nan=-np.inf))


def cast(item: Item, image: bool = False) -> Cast:
    start, goal = item.source, item.goal
    named = {start, goal}
    if item.mirror:
        named |= {item.mirror[node] for node in named}
    if image:
        start, goal = item.mirror[start], item.mirror[goal]
    rooms = [node for node in range(item.nodes) if node not in named]
    return Cast(start, goal, _siblings(item, goal), rooms)


def _siblings(item: Item, goal: int) -> list[int]:
    A = item.adjacency()
    starts = [item.source, *([item.mirror[item.source]] if item.mirror else [])]
    depth = np.max([mazes.distances(A, start) for start in starts], 0)
    before = A[:, goal] & (depth < depth[goal]) if depth[goal] >= 0 else A[:, goal]
    beside = A[before].any(0) & (depth == depth[goal])
    return [int(node) for node in np.flatnonzero(beside) if node != goal]


def _spread(D: np.ndarray, cast: Cast) -> np.ndarray:
    return _between(D, cast.rooms, cast.rooms)


def _between(D: np.ndarray, some: Sequence[int], others: Sequence[int]) -> np.ndarray:
    """Mean distance of different nodes, D [layer, node, node] -> [layer]; NaN if there are none."""
    pairs = [(a, b) for a in some for b in others if a != b]
    if not pairs:
        return np.full(len(D), np.nan)
    a, b = zip(*pairs, strict=True)
    return D[:, a, b].mean(1)


def _subgroups(D: np.ndarray, cast: Cast) -> np.ndarray:
    """[layer]; the last one has no next."""
    a, b = np.triu_indices(len(cast.rooms), 1)
    rooms = np.array(cast.rooms, int)
    distances = D[:, rooms[a], rooms[b]]
    if distances.shape[1] < 3:
        return np.full(len(D) - 1, np.nan)
    return np.array([statistics.spearman(*pair) for pair in itertools.pairwise(distances)])


STATES: dict[str, Callable[[np.ndarray, Cast], np.ndarray]] = {
    "rooms begin as one tight cluster": _spread,
    "the start diverges": lambda D, c: _between(D, [c.start], c.rooms) - _spread(D, c),
    "the goal leaves the other rooms": lambda D, c: _between(D, [c.goal], c.rooms) - _spread(D, c),
    "other rooms keep their subgroups": _subgroups,
    "goal and sibling separate": lambda D, c: _between(D, [c.goal], c.siblings) - _spread(D, c),
}
"""Of distances [layer + 1, node, node], the embedding first."""
_WHOLE = ("rooms begin as one tight cluster", "other rooms keep their subgroups")
"""Of all rooms at once: they are their own image."""


def _curves(observation: Observation, image: bool) -> dict[str, np.ndarray]:
    """[layer] of each."""
    who = cast(observation.item, image)
    D = 1 - cosine(observation.states.astype(float))
    curves = {seen: measure(D, who) for seen, measure in STATES.items()}
    for readout in READOUTS:
        attention = observation.per_mention(readout).mean(1)
        others = [room for room in who.rooms if room not in who.siblings]
        known = bool(who.siblings and others)
        excess = (
            attention[:, who.siblings].mean(1) - attention[:, others].mean(1)
            if known
            else (np.full(len(attention), np.nan))
        )
        curves[f"the goal's sibling gets attention from the {readout} token"] = excess
    return curves


def observed(observations: Sequence[Observation], seed: int = 0) -> list[Observed]:
    """Every observation of the case study on these items."""
    matched = all(o.item.mirror for o in observations)
    plain = [_curves(o, image=False) for o in observations]
    images = [_curves(o, image=True) for o in observations] if matched else []
    rows = []
    for seen in plain[0]:
        curves = np.array([curve[seen] for curve in plain])
        layers = np.arange(curves.shape[1])
        trend = [statistics.spearman(c, layers) for c in curves if np.isfinite(c).all()]
        estimates = [statistics.bootstrap(column, seed) for column in curves.T]
        mirrored, p = [], np.nan
        if images and seen not in _WHOLE:
            contrast: dict[int, list[np.ndarray]] = {}
            for o, mine, theirs in zip(observations, plain, images, strict=True):
                contrast.setdefault(o.item.pair, []).append(mine[seen] - theirs[seen])
            values = np.array([np.mean(twins, 0) for twins in contrast.values()])
            values = values[np.isfinite(values).all(1)]
            if len(values):
                mirrored = [statistics.bootstrap(column, seed) for column in values.T]
                null = statistics.flip_null(values, 999, seed)
                p = statistics.p_value(float(values.mean(0).max()), null)
        rows.append(
            Observed(seen, estimates, statistics.bootstrap(np.array(trend), seed), mirrored, p)
        )
    judged = [row for row in rows if np.isfinite(row.p)]
    corrected = dict(
        zip([r.seen for r in judged], statistics.holm([r.p for r in judged]), strict=True)
    )
    return [row._replace(p=float(corrected.get(row.seen, np.nan))) for row in rows]
