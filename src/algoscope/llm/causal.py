"""Causal tests: change what a hypothesis says matters, and something matched that should not.

| test    | changed                                            | control                          |
|---------|----------------------------------------------------|----------------------------------|
| `heads` | the heads of the alignment add nothing             | as many others, same layers first |
| `nodes` | states of nodes on the way, from the item's twin   | those of their mirror images     |
| `edges` | the sentence of an edge of the path is taken away  | one of another edge nearby       |

Each item gives an effect and its control's; their difference has a bootstrap interval.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope.llm import nulls
from algoscope.llm.capture import Patch
from algoscope.llm.observe import Observation, Places, answer_tokens, log_odds, observe
from algoscope.llm.order import Match
from algoscope.llm.prompts import Item, without_edge
from algoscope.llm.subjects import Subject


class Effect(NamedTuple):
    test: str
    measure: str
    effect: nulls.Estimate
    control: nulls.Estimate
    difference: nulls.Estimate
    count: int
    """Items that it was measured on."""

    @property
    def holds(self) -> bool:
        """Whether the change surely does more than its control."""
        return self.difference.low > 0


def _effect(test: str, measure: str, changed: list[float], control: list[float]) -> Effect:
    a, b = np.array(changed, float), np.array(control, float)
    return Effect(
        test, measure, nulls.bootstrap(a), nulls.bootstrap(b), nulls.bootstrap(a - b), len(a)
    )


def causal_tests(
    subject: Subject, observations: Sequence[Observation], match: Match, most: int = 24
) -> list[Effect]:
    """All three, on at most `most` items that are answered right."""
    right = [o for o in observations if o.right]
    rng = np.random.default_rng(0)
    chosen = [right[i] for i in sorted(rng.permutation(len(right))[:most])]
    yes = [o for o in right if o.item.reachable]
    reachable = [yes[i] for i in sorted(rng.permutation(len(yes))[:most])]
    return [
        ablate_heads(subject, chosen, match),
        patch_nodes(subject, chosen, observations, max(0, match.alignment[0][0] - 1)),
        remove_edges(subject, reachable),
    ]


def ablate_heads(subject: Subject, observations: Sequence[Observation], match: Match) -> Effect:
    """The share of right answers that are lost."""
    named = frozenset(match.alignment)
    layers, heads = observations[0].attention["last"].shape[:2] if observations else (0, 0)
    rng = np.random.default_rng(1)
    others = [(x, h) for x in range(layers) for h in range(heads) if (x, h) not in named]
    of_named = {layer for layer, _ in named}
    shuffled = [others[i] for i in rng.permutation(len(others))]
    control = frozenset(sorted(shuffled, key=lambda at: at[0] not in of_named)[: len(named)])
    items = [o.item for o in observations]
    lost = {
        which: [float(not o.right) for o in observe(subject, items, ablated=which)]
        for which in (named, control)
    }
    return _effect("heads", "right answers lost", lost[named], lost[control])


def patch_nodes(
    subject: Subject,
    observations: Sequence[Observation],
    everything: Sequence[Observation],
    layer: int,
) -> Effect:
    """The share of the way to the twin's log-odds, when nodes' states are replaced by the twin's
    after so many layers. Items whose twin has other token positions are left out."""
    twins = {(o.item.pair, o.item.reachable): o for o in everything}
    yes, no = answer_tokens(subject)
    moved, control = [], []
    for o in observations:
        twin = twins.get((o.item.pair, not o.item.reachable))
        if twin is None or not _same_positions(o.places, twin.places):
            continue
        states = subject.read(twin.places.ids, positions=range(len(twin.places.ids))).states
        way = twin.log_odds - o.log_odds
        if abs(way) < 1e-6:
            continue
        image = [o.item.mirror[node] for node in _way(o.item)]
        for nodes, into in ((_way(o.item), moved), (image, control)):
            at = np.flatnonzero(o.places.membership[nodes].any(0)).tolist()
            patch = Patch(layer, at, states[layer][at])
            reading = subject.read(o.places.ids, patches=[patch])
            into.append((log_odds(reading.logits, yes, no) - o.log_odds) / way)
    return _effect("nodes", "share of the way to the twin's answer", moved, control)


def _same_positions(a: Places, b: Places) -> bool:
    return a.membership.shape == b.membership.shape and np.array_equal(a.membership, b.membership)


def _way(item: Item) -> list[int]:
    """The nodes after the start on the way to the goal, or to the goal's image, which lies where
    the goal is in the twin: what a search has to look at to tell the twins apart."""
    target = item.goal if item.reachable else item.mirror[item.goal]
    return dataclasses.replace(item, goal=target).path()[1:]


def remove_edges(subject: Subject, observations: Sequence[Observation]) -> Effect:
    """The share of items whose Yes becomes a No."""
    cut, control = [], []
    for o in observations:
        pair = _edges_to_cut(o.item)
        if pair is None:
            continue
        changed = observe(subject, [without_edge(o.item, edge) for edge in pair])
        for observed, into in zip(changed, (cut, control), strict=True):
            into.append(float(not observed.says_yes))
    return _effect("edges", "Yes that becomes No", cut, control)


def _edges_to_cut(item: Item) -> tuple[int, int] | None:
    """An edge without which the goal is out of reach, and one of the same component without which
    it is not; no node may lose its last mention. None if there are no such."""
    counts = item.mention_counts()
    inside = set(np.flatnonzero([n < item.nodes // 2 for n in range(item.nodes)]))
    candidates = [
        number
        for number, edge in enumerate(item.edges)
        if set(edge) <= inside and all(counts[node] > 1 for node in edge)
    ]
    needed = [n for n in candidates if not without_edge(item, n).reachable]
    others = [n for n in candidates if without_edge(item, n).reachable]
    return (needed[0], others[0]) if needed and others else None
