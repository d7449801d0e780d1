"""Returns and backtracking in written reasoning, counted against the traces of BFS and DFS.

A text names nodes one after the other. From each newly named node u to the next new one v:

| move      | if                                                                             |
|-----------|--------------------------------------------------------------------------------|
| onward    | one gets from u to v                                                           |
| dead end  | not so, and all that one gets to from u has been named: u is left for good     |
| left open | not so, and something that one gets to from u has not been named               |

DFS never leaves a node open, and backtracks from dead ends alone; BFS leaves open whatever has
children. A *return* is a node that is named again after another one. Counts are compared on the
same items, and with the same nodes in random order.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.hypotheses import by_name, trace
from algoscope.llm.prompts import Item, word_mentions
from algoscope.statistics import Estimate

MOVES = ("onward", "dead end", "left open")
_TRACES = ("BFS", "DFS")
_SHUFFLES = 20


class Walk(NamedTuple):
    nodes: list[int]
    """In the order of their first mention, the start first."""
    returns: int


class Backtracking(NamedTuple):
    move: str
    written: Estimate
    """Share of the moves of a text, mean over texts."""
    traces: dict[str, Estimate]
    """The same of each algorithm's trace."""
    random: Estimate
    """The same nodes in random order."""


class Walks(NamedTuple):
    moves: list[Backtracking]
    returns: Estimate
    """Per text."""
    texts: int
    """With a move at all; the others are left out."""
    nearest: str | None
    """The algorithm whose shares of moves are nearest, if that is sure and random order is not as
    near; None otherwise."""


def walk(text: str, item: Item) -> Walk:
    named = [mention.node for mention in word_mentions(text, item.names)]
    merged = [n for n, before in zip(named, [None, *named], strict=False) if n != before]
    nodes = list(dict.fromkeys([item.source, *merged]))
    own = dict.fromkeys(merged)
    return Walk(nodes, len(merged) - len(own))


def shares(nodes: Sequence[int], item: Item) -> np.ndarray:
    """The share of each of `MOVES`; NaN without any."""
    A = item.adjacency().astype(bool)
    named = np.zeros(item.nodes, bool)
    counts = np.zeros(len(MOVES))
    for u, v in itertools.pairwise(nodes):
        named[u] = True
        kind = 0 if A[u, v] else 2 if (A[u] & ~named).any() else 1
        counts[kind] += 1
    return counts / counts.sum() if counts.sum() else np.full(len(MOVES), np.nan)


def told(name: str, item: Item) -> list[int]:
    """The nodes in the order in which an algorithm visits them, the start first; those of one step
    in the order of the text."""
    first = {m.node: m.start for m in reversed(item.described)}
    steps = [np.flatnonzero(row).tolist() for row in trace(by_name(name), item)]
    order = [n for row in steps for n in sorted(row, key=lambda n: first.get(n, 0))]
    return list(dict.fromkeys([item.source, *order]))


def walks(texts: Sequence[str], items: Sequence[Item], seed: int = 0) -> Walks:
    rng = np.random.default_rng(seed)
    read = [(walk(text, item), item) for text, item in zip(texts, items, strict=True)]
    read = [(one, item) for one, item in read if len(one.nodes) > 1]
    if not read:
        return Walks([], Estimate(np.nan, 0, 0), 0, None)
    written = np.array([shares(one.nodes, item) for one, item in read])
    by_trace = {
        name: np.array([shares(told(name, item), item) for _, item in read]) for name in _TRACES
    }
    random = np.array([_random(one.nodes, item, rng) for one, item in read])
    moves = [
        Backtracking(
            move,
            statistics.bootstrap(written[:, k], seed),
            {name: statistics.bootstrap(rows[:, k], seed) for name, rows in by_trace.items()},
            statistics.bootstrap(random[:, k], seed),
        )
        for k, move in enumerate(MOVES)
    ]
    returns = statistics.bootstrap(np.array([float(one.returns) for one, _ in read]), seed)
    return Walks(moves, returns, len(read), _nearest(written, by_trace, random, seed))


def _random(nodes: Sequence[int], item: Item, rng: np.random.Generator) -> np.ndarray:
    start, *rest = nodes
    drawn = [shares([start, *rng.permutation(rest)], item) for _ in range(_SHUFFLES)]
    return np.mean(drawn, 0)


def _nearest(
    written: np.ndarray, by_trace: dict[str, np.ndarray], random: np.ndarray, seed: int
) -> str | None:
    """By the mean distance of shares; each rival has to be surely farther."""
    distance = {
        name: np.abs(written - rows).sum(1)
        for name, rows in {**by_trace, "random order": random}.items()
    }
    best = min(distance, key=lambda name: np.nanmean(distance[name]))
    sure = all(
        statistics.bootstrap(distance[name] - distance[best], seed).low > 0
        for name in distance
        if name != best
    )
    return best if sure and best in by_trace else None
