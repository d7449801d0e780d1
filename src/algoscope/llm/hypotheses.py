"""Candidate algorithms as hypotheses: what would be visited at which step, and what is answered.

A hypothesis is one value. Adding one is adding one value to `CANDIDATES`. The traces of the
algorithms are those of Algoscope's own tasks (`bfs`, `dfs`, `dijkstra`), run on the graph of the
prompt; `from_program` makes a hypothesis of any graph program of the task `bfs`. Neighbours are
taken in the order in which the text first says how to get to them, or the other way round.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.errors import unknown_name
from algoscope.llm import mazes
from algoscope.llm.prompts import Item

Steps = np.ndarray
"""bool [step, node]: who is visited for the first time at each step, the start left out."""


class Hypothesis(NamedTuple):
    name: str
    steps: Callable[[Item], Steps]
    answer: Callable[[Item], bool]
    """Whether it says that the goal can be reached."""
    algorithm: bool
    """Whether it is right on every item; what is not is a heuristic, a shortcut."""


@functools.lru_cache(maxsize=100_000)
def trace(hypothesis: Hypothesis, item: Item) -> Steps:
    """What the hypothesis says about the item; steps that visit nobody are left out."""
    steps = hypothesis.steps(item)
    steps = steps[steps.any(1)]
    steps.setflags(write=False)
    return steps


def traces(item: Item) -> dict[str, Steps]:
    """The ground-truth trace of the item for each candidate."""
    return {candidate.name: trace(candidate, item) for candidate in CANDIDATES}


def by_name(name: str) -> Hypothesis:
    for candidate in CANDIDATES:
        if candidate.name == name:
            return candidate
    raise ValueError(unknown_name("hypothesis", name, [c.name for c in CANDIDATES]))


def from_program(name: str) -> Hypothesis:
    """A graph program of the task `bfs` as a hypothesis: a step is a round, `reach_h` a visit.

    Programs see an edge from both ends, so doors have to open both ways.
    """

    def steps(item: Item) -> Steps:
        from algoscope import programs
        from algoscope.programs.interpreter import interpret

        if item.directed:
            raise ValueError("item: got one-way doors, needed directed=False for a graph program")
        problem = _run("bfs", item.adjacency(), item.source, _order(item))
        shown = np.asarray(interpret(programs.get(name), problem).hints["reach_h"])[0]
        reached = np.concatenate([problem.hints["reach_h"][0, :1], shown]).astype(bool)
        return _back(_changes(reached), _order(item))

    def answer(item: Item) -> bool:
        return bool(steps(item)[:, item.goal].any())

    return Hypothesis(f"program {name}", steps, answer, algorithm=False)


def _order(item: Item, last_first: bool = False) -> np.ndarray:
    """The source, then the nodes in the order in which the text first says how to get there (as the
    second of two, where doors are one-way); int [node]."""
    described = [
        m for m in item.mentions if m.edge >= 0 and not (item.directed and m.role == "from")
    ]
    first = {m.node: m.start for m in reversed(described)}
    rest = sorted(
        (node for node in range(item.nodes) if node != item.source),
        key=lambda node: first.get(node, np.inf),
        reverse=last_first,
    )
    return np.array([item.source, *rest])


def _run(task: str, A: np.ndarray, source: int, order: np.ndarray) -> tasks.Batch:
    """The task's reference algorithm, nodes renumbered by `order` so that ties fall that way."""
    renumbered = A[np.ix_(order, order)].astype(float)
    inputs = {} if task == "dfs" else {"source": int(np.flatnonzero(order == source)[0])}
    return tasks.run(task, renumbered, **inputs)


def _back(steps: np.ndarray, order: np.ndarray) -> Steps:
    """Columns of renumbered nodes, as columns of the item's nodes."""
    original = np.zeros_like(steps)
    original[:, order] = steps
    return original


def _changes(reached: np.ndarray) -> np.ndarray:
    """Who is new at each step, of masks [time, node]; steps without anybody new are left out."""
    new = reached[1:] & ~reached[:-1]
    return new[new.any(1)]


def _levels(A: np.ndarray, source: int, order: np.ndarray) -> Steps:
    reached = _run("bfs", A, source, order).hints["reach_h"][0].astype(bool)
    return _back(_changes(reached), order)


def _bfs(item: Item) -> Steps:
    return _levels(item.adjacency(), item.source, _order(item))


def _backward(item: Item) -> Steps:
    return _levels(item.adjacency().T, item.goal, _order(item))


def _bidirectional(item: Item) -> Steps:
    """A level from either end at each step, until both have ended."""
    searches = _bfs(item), _backward(item)
    both = np.zeros((max(map(len, searches)), item.nodes), bool)
    for steps in searches:
        both[: len(steps)] |= steps
    visited = np.logical_or.accumulate(both)
    both[1:] &= ~visited[:-1]
    return both[both.any(1)]


def _dfs(item: Item, last_first: bool = False) -> Steps:
    """Discovery order from the source, a node a step."""
    order = _order(item, last_first)
    trace = _run("dfs", item.adjacency(), item.source, order)
    discovered = np.argmax(trace.hints["color"][0], -1) > 0
    reach = mazes.distances(item.adjacency(), item.source)[order] > 0
    new = _changes(discovered)[:, reach]
    steps = np.zeros((len(new), item.nodes), bool)
    steps[:, reach] = new
    return _back(steps[steps.any(1)], order)


def _dijkstra(item: Item) -> Steps:
    """The order in which nodes are settled when every edge has length 1, a node a step."""
    order = _order(item)
    trace = _run("dijkstra", item.adjacency(), item.source, order)
    settled = _changes(trace.hints["mark"][0].astype(bool))
    settled[:, 0] = False
    return _back(settled[settled.any(1)], order)


def _reached(item: Item) -> bool:
    return item.reachable


def _one(item: Item, node: int) -> Steps:
    return np.arange(item.nodes)[None] == node


def _siblings(item: Item) -> Steps:
    """Who shares a neighbour (a parent, if doors are one-way) with the goal."""
    A = item.adjacency()
    shared = np.asarray(A[A[:, item.goal]].any(0))
    shared[[item.goal, item.source]] = False
    return shared[None]


def _positions(item: Item) -> list[list[int]]:
    """Where the description mentions each node, in the order of the text."""
    starts: list[list[int]] = [[] for _ in range(item.nodes)]
    for mention in item.mentions:
        if mention.edge >= 0:
            starts[mention.node].append(mention.start)
    return starts


def _last_positions(item: Item) -> list[int]:
    return [max(starts, default=-1) for starts in _positions(item)]


def _gaps(item: Item) -> list[float]:
    """Characters between the closest mentions of the source and of each node."""
    positions = _positions(item)
    return [
        min((abs(a - b) for a in positions[item.source] for b in starts), default=np.inf)
        for starts in positions
    ]


def _others(item: Item) -> list[int]:
    return [node for node in range(item.nodes) if node not in (item.source, item.goal)]


def _last_mentioned(item: Item) -> Steps:
    last = _last_positions(item)
    return _one(item, max(_others(item), key=lambda node: last[node]))


def _most_mentioned(item: Item) -> Steps:
    counts = item.mention_counts()
    return _one(item, max(_others(item), key=lambda node: counts[node]))


def _nearest(item: Item) -> Steps:
    gaps = _gaps(item)
    return _one(item, min(_others(item), key=lambda node: gaps[node]))


def _goal_near(item: Item) -> bool:
    gaps = _gaps(item)
    return gaps[item.goal] <= float(np.median(np.delete(gaps, item.source)))


def _goal_late(item: Item) -> bool:
    last = _last_positions(item)
    return last[item.goal] >= float(np.median(last))


def _goal_often(item: Item) -> bool:
    counts = item.mention_counts()
    return bool(counts[item.goal] > float(np.median(counts)))


def _within(hops: int) -> Hypothesis:
    """BFS that gives up after so many steps."""
    return Hypothesis(
        {1: "one hop", 2: "two hops"}[hops],
        lambda item: _bfs(item)[:hops],
        lambda item: bool(0 <= mazes.distances(item.adjacency(), item.source)[item.goal] <= hops),
        False,
    )


CANDIDATES = (
    Hypothesis("BFS", _bfs, _reached, True),
    Hypothesis("DFS", _dfs, _reached, True),
    Hypothesis("DFS, last first", functools.partial(_dfs, last_first=True), _reached, True),
    Hypothesis("Dijkstra", _dijkstra, _reached, True),
    Hypothesis("backward search", _backward, _reached, True),
    Hypothesis("bidirectional search", _bidirectional, _reached, True),
    Hypothesis("goal's sibling", _siblings, lambda item: bool(_siblings(item).any()), False),
    Hypothesis("last mentioned", _last_mentioned, _goal_late, False),
    Hypothesis("most mentioned", _most_mentioned, _goal_often, False),
    Hypothesis("nearest by position", _nearest, _goal_near, False),
    _within(1),
    _within(2),
)
