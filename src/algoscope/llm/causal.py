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
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.capture import Patch, Swap
from algoscope.llm.observe import Observation, Places, answer_tokens, log_odds, observe
from algoscope.llm.order import BY_HEADS, Match
from algoscope.llm.prompts import Item, without_edge
from algoscope.llm.subjects import Subject


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


def _effect(test: str, measure: str, changed: list[float], control: list[float]) -> Effect:
    a, b = np.array(changed, float), np.array(control, float)
    return Effect(
        test,
        measure,
        statistics.bootstrap(a),
        statistics.bootstrap(b),
        statistics.bootstrap(a - b),
        len(a),
    )


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

    def moved(self, subject: Subject, **changes: Any) -> float:
        """The share of the way from the item's log-odds to the twin's, when the subject is changed
        so (see `capture.read`)."""
        yes, no = answer_tokens(subject)
        changed = log_odds(subject.read(self.item.places.ids, **changes).logits, yes, no)
        return (changed - self.item.log_odds) / (self.twin.log_odds - self.item.log_odds)


_MOVED = "share of the way to the twin's answer"


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
        and _same_positions(o.places, twin.places)
        and abs(twin.log_odds - o.log_odds) > 1e-6
    ]


def exchange_heads(subject: Subject, pairs: Sequence[Pair], match: Match) -> Effect:
    """The share of the way to the twin's log-odds, when what the heads of the alignment pass on to
    the readout is replaced by what they pass on to it in the twin."""
    aligned = sorted(set(match.alignment))
    layers, heads = pairs[0].item.recording.attention.shape[1:3] if pairs else (0, 0)
    rng = np.random.default_rng(1)
    others = [(x, h) for x in range(layers) for h in range(heads) if (x, h) not in aligned]
    aligned_layers = {layer for layer, _ in aligned}
    shuffled = [others[i] for i in rng.permutation(len(others))]
    control = sorted(shuffled, key=lambda head: head[0] not in aligned_layers)[: len(aligned)]
    moved: list[list[float]] = [[], []]
    for pair in pairs:
        token = pair.item.places.readouts[BY_HEADS[match.channel]]
        outputs = subject.read(pair.twin.places.ids, rows=[token]).outputs
        for chosen, effects in zip((aligned, control), moved, strict=True):
            swaps = [Swap(layer, head, [token], outputs[layer, head]) for layer, head in chosen]
            effects.append(pair.moved(subject, swaps=swaps))
    return _effect("heads", _MOVED, *moved)


def patch_nodes(subject: Subject, pairs: Sequence[Pair], layer: int) -> Effect:
    """The share of the way to the twin's log-odds, when nodes' states are replaced by the twin's
    after so many layers."""
    moved: list[list[float]] = [[], []]
    for pair in pairs:
        item, places, twin = pair.item.item, pair.item.places, pair.twin.places
        states = subject.read(twin.ids, positions=range(len(twin.ids))).states
        nodes = _way(item)
        images = [item.mirror[node] for node in nodes]
        for patched, effects in zip((nodes, images), moved, strict=True):
            tokens = np.flatnonzero(places.membership[patched].any(0)).tolist()
            patch = Patch(layer, tokens, states[layer][tokens])
            effects.append(pair.moved(subject, patches=[patch]))
    return _effect("nodes", _MOVED, *moved)


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
        for observed, effects in zip(changed, (cut, control), strict=True):
            effects.append(float(not observed.says_yes))
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
