"""Causal tests: change what a hypothesis says matters, and something matched that should not.

| test    | changed                                            | control                          |
|---------|----------------------------------------------------|----------------------------------|
| `heads` | what the heads of the alignment say, to the twin's | as many others, same layers first |
| `nodes` | states of nodes on the way, from the item's twin   | those of their mirror images     |
| `edges` | the sentence of an edge of the path is taken away  | one of another edge nearby       |

Each item gives an effect and its control's; their difference has a bootstrap interval. Heads are
ablated by what they say on the twin, not by zeros: zeros are nothing that later layers ever see,
and a small model without any one of its heads gives other answers, whatever the head is for.
"""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.capture import Patch, Swap
from algoscope.llm.observe import Observation, answer_tokens, log_odds, observe
from algoscope.llm.order import BY_HEADS, Match
from algoscope.llm.prompts import Item, without_edge
from algoscope.llm.subjects import Subject

Changes = dict[str, Any]
"""What is changed in a subject, as options of `capture.read`."""


class Effect(NamedTuple):
    test: str
    measure: str
    effect: statistics.Estimate
    control: statistics.Estimate
    difference: statistics.Estimate
    count: int
    """Items that it was measured on."""

    @property
    def holds(self) -> bool:
        """Whether the change surely does more than its control."""
        return self.difference.low > 0


def _effect(test: str, measure: str, values: Sequence[Sequence[float]]) -> Effect:
    """values [item, 2]: with the change, and with its control"""
    a, b = np.array(values, float).reshape(-1, 2).T
    changed, control, difference = (statistics.bootstrap(x) for x in (a, b, a - b))
    return Effect(test, measure, changed, control, difference, len(a))


def causal_tests(
    subject: Subject, observations: Sequence[Observation], match: Match, most: int = 24
) -> list[Effect]:
    """All three, on at most `most` items that are answered right; the match is of a channel in
    `order.BY_HEADS`."""
    right = [o for o in observations if o.right]
    rng = np.random.default_rng(0)
    chosen = [right[i] for i in sorted(rng.permutation(len(right))[:most])]
    yes = [o for o in right if o.item.reachable]
    reachable = [yes[i] for i in sorted(rng.permutation(len(yes))[:most])]
    pairs = _with_twins(chosen, observations)
    return [
        exchange_heads(subject, pairs, match),
        patch_nodes(subject, pairs, max(0, match.alignment[0][0] - 1)),
        remove_edges(subject, reachable),
    ]


class Pair(NamedTuple):
    """An item and its twin, which is answered otherwise, with the same tokens but for two names."""

    item: Observation
    twin: Observation


def _with_twins(
    observations: Sequence[Observation], candidates: Sequence[Observation]
) -> list[Pair]:
    """Items whose twin has other token positions, or the same answer, are left out."""
    twins = {(o.item.pair, o.item.reachable): o for o in candidates}
    pairs = ((o, twins.get((o.item.pair, not o.item.reachable))) for o in observations)
    return [
        Pair(o, twin)
        for o, twin in pairs
        if twin is not None
        and np.array_equal(o.places.membership, twin.places.membership)
        and abs(twin.log_odds - o.log_odds) > 1e-6
    ]


def _share_moved(
    test: str, subject: Subject, pairs: Sequence[Pair], changes: Callable[[Pair], list[Changes]]
) -> Effect:
    """The share of the way from the item's log-odds to the twin's, when the subject is changed so,
    and by the control."""
    yes, no = answer_tokens(subject)
    moved = []
    for pair in pairs:
        readings = [subject.read(pair.item.places.ids, **change) for change in changes(pair)]
        start, end = pair.item.log_odds, pair.twin.log_odds
        moved.append([(log_odds(r.logits, yes, no) - start) / (end - start) for r in readings])
    return _effect(test, "share of the way to the twin's answer", moved)


def exchange_heads(subject: Subject, pairs: Sequence[Pair], match: Match) -> Effect:
    """What the heads of the alignment pass on to the readout is replaced by what they pass on to it
    in the twin."""
    aligned = sorted(set(match.alignment))
    layers, heads = pairs[0].item.recording.attention.shape[1:3] if pairs else (0, 0)
    every = itertools.product(range(layers), range(heads))
    others = [head for head in every if head not in aligned]
    aligned_layers = {layer for layer, _ in aligned}
    shuffled = [others[i] for i in np.random.default_rng(1).permutation(len(others))]
    control = sorted(shuffled, key=lambda head: head[0] not in aligned_layers)[: len(aligned)]

    def swaps(pair: Pair) -> list[Changes]:
        token = pair.item.places.readouts[BY_HEADS[match.channel]]
        outputs = subject.read(pair.twin.places.ids, rows=[token]).outputs
        return [
            {"swaps": [Swap(layer, head, [token], outputs[layer, head]) for layer, head in chosen]}
            for chosen in (aligned, control)
        ]

    return _share_moved("heads", subject, pairs, swaps)


def patch_nodes(subject: Subject, pairs: Sequence[Pair], layer: int) -> Effect:
    """Nodes' states are replaced by the twin's after so many layers."""

    def patches(pair: Pair) -> list[Changes]:
        item, ids = pair.item.item, pair.twin.places.ids
        states = subject.read(ids, positions=range(len(ids))).states[layer]
        nodes = _way(item)
        changes = []
        for patched in (nodes, [item.mirror[node] for node in nodes]):
            tokens = np.flatnonzero(pair.item.places.membership[patched].any(0)).tolist()
            changes.append({"patches": [Patch(layer, tokens, states[tokens])]})
        return changes

    return _share_moved("nodes", subject, pairs, patches)


def _way(item: Item) -> list[int]:
    """The nodes after the start on the way to the goal, or to the goal's image, which lies where
    the goal is in the twin: what a search has to look at to tell the twins apart."""
    target = item.goal if item.reachable else item.mirror[item.goal]
    return dataclasses.replace(item, goal=target).path()[1:]


def remove_edges(subject: Subject, observations: Sequence[Observation]) -> Effect:
    """The share of items whose Yes becomes a No."""
    lost = []
    for o in observations:
        edges = _edges_to_cut(o.item)
        if edges is not None:
            changed = observe(subject, [without_edge(o.item, edge) for edge in edges])
            lost.append([not observed.says_yes for observed in changed])
    return _effect("edges", "Yes that becomes No", lost)


def _edges_to_cut(item: Item) -> tuple[int, int] | None:
    """An edge without which the goal is out of reach, and one of the same component without which
    it is not; no node may lose its last mention. None if there are no such."""
    counts, inside = item.mention_counts(), set(range(item.nodes // 2))
    kept = {
        number: without_edge(item, number).reachable
        for number, edge in enumerate(item.edges)
        if set(edge) <= inside and all(counts[node] > 1 for node in edge)
    }
    needed, others = ([n for n in kept if kept[n] == reachable] for reachable in (False, True))
    return (needed[0], others[0]) if needed and others else None
