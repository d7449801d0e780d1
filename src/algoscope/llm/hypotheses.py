"""Candidate algorithms as hypotheses: what would be visited at which step, and what is answered.

A hypothesis is one value. Adding one is adding one value to `CANDIDATES`. The traces of the
algorithms are those of Algoscope's own tasks (`bfs`, `dfs`, `dijkstra`), run on the graph of the
prompt; `from_program` makes a hypothesis of any graph program of the task `bfs`. Neighbours are
taken in the order in which the text first says how to get to them, or the other way round.
"""

import functools
import itertools
import operator
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
        order = _order(item)
        problem = _run("bfs", item.adjacency(), item.source, order)
        shown = np.asarray(interpret(programs.get(name), problem).hints["reach_h"])[0]
        reached = np.concatenate([problem.hints["reach_h"][0, :1], shown]).astype(bool)
        return _visits(reached, order)

    def answer(item: Item) -> bool:
        return bool(steps(item)[:, item.goal].any())

    return Hypothesis(f"program {name}", steps, answer, algorithm=False)


def _order(item: Item, last_first: bool = False) -> np.ndarray:
    """The source, then the nodes in the order in which the text first says how to get there (as the
    second of two, where doors are one-way); int [node]."""
    led_to = [m for m in item.described if not (item.directed and m.role == "from")]
    first = {m.node: m.start for m in reversed(led_to)}
    rest = sorted(
        (node for node in range(item.nodes) if node != item.source),
        key=lambda node: first.get(node, np.inf),
        reverse=last_first,
    )
    return np.array([item.source, *rest])


def _run(task: str, A: np.ndarray, start: int, order: np.ndarray) -> tasks.Batch:
    """The task's reference algorithm, nodes renumbered by `order` so that ties fall that way."""
    renumbered = A[np.ix_(order, order)].astype(float)
    inputs = {} if task == "dfs" else {"source": int(np.flatnonzero(order == start)[0])}
    return tasks.run(task, renumbered, **inputs)


def _visits(reached: np.ndarray, order: np.ndarray) -> Steps:
    """Who is new at each step, of masks [time, renumbered node]; steps without anybody new are left
    out."""
    steps = np.zeros_like(reached[1:])
    steps[:, order] = reached[1:] & ~reached[:-1]
    return steps[steps.any(1)]


def _levels(item: Item, A: np.ndarray, start: int) -> Steps:
    order = _order(item)
    return _visits(_run("bfs", A, start, order).hints["reach_h"][0].astype(bool), order)


def _bfs(item: Item) -> Steps:
    return _levels(item, item.adjacency(), item.source)


def _backward(item: Item) -> Steps:
    return _levels(item, item.adjacency().T, item.goal)


def _bidirectional(item: Item) -> Steps:
    """A level from either end at each step, until both have ended."""
    searches = _bfs(item), _backward(item)
    both = np.zeros((max(map(len, searches)), item.nodes), bool)
    for steps in searches:
        both[: len(steps)] |= steps
    both[1:] &= ~np.logical_or.accumulate(both)[:-1]
    return both


def _dfs(item: Item, last_first: bool = False) -> Steps:
    """Discovery order from the source, a node a step."""
    order = _order(item, last_first)
    trace = _run("dfs", item.adjacency(), item.source, order)
    discovered = np.argmax(trace.hints["color"][0], -1) > 0
    return _visits(discovered, order) & (_distances(item) > 0)


def _dijkstra(item: Item) -> Steps:
    """The order in which nodes are settled when every edge has length 1, a node a step."""
    order = _order(item)
    trace = _run("dijkstra", item.adjacency(), item.source, order)
    settled = _visits(trace.hints["mark"][0].astype(bool), order)
    settled[:, item.source] = False
    return settled


def _distances(item: Item) -> np.ndarray:
    return mazes.distances(item.adjacency(), item.source)


def _siblings(item: Item) -> Steps:
    """Who shares a neighbour (a parent, if doors are one-way) with the goal."""
    A = item.adjacency()
    shared = np.asarray(A[A[:, item.goal]].any(0))
    shared[[item.goal, item.source]] = False
    return shared[None]


def _positions(item: Item, node: int) -> list[int]:
    """Where the description mentions the node."""
    return [m.start for m in item.described if m.node == node]


def _lateness(item: Item) -> np.ndarray:
    """Where each node is mentioned last."""
    return np.array([max(_positions(item, node), default=-1) for node in range(item.nodes)])


def _nearness(item: Item) -> np.ndarray:
    """Characters between the closest mentions of the source and of each node, less is more."""
    pairs = (
        itertools.product(_positions(item, item.source), _positions(item, node))
        for node in range(item.nodes)
    )
    return -np.array([min((abs(a - b) for a, b in both), default=np.inf) for both in pairs])


def _most(number: Callable[[Item], np.ndarray], item: Item) -> Steps:
    """Whoever has the largest number, source and goal left out; bool [1, node]."""
    others = [node for node in range(item.nodes) if node not in (item.source, item.goal)]
    numbers = number(item)
    return np.arange(item.nodes)[None] == max(others, key=lambda node: numbers[node])


def _goal_late(item: Item) -> bool:
    late = _lateness(item)
    return bool(late[item.goal] >= np.median(late))


def _goal_often(item: Item) -> bool:
    counts = item.mention_counts()
    return bool(counts[item.goal] > np.median(counts))


def _goal_near(item: Item) -> bool:
    near = _nearness(item)
    return bool(near[item.goal] >= np.median(np.delete(near, item.source)))


def _within(name: str, hops: int) -> Hypothesis:
    """BFS that gives up after so many steps."""
    return Hypothesis(
        name,
        lambda item: _bfs(item)[:hops],
        lambda item: bool(0 <= _distances(item)[item.goal] <= hops),
        algorithm=False,
    )


_reached = operator.attrgetter("reachable")
CANDIDATES = (
    Hypothesis("BFS", _bfs, _reached, True),
    Hypothesis("DFS", _dfs, _reached, True),
    Hypothesis("DFS, last first", functools.partial(_dfs, last_first=True), _reached, True),
    Hypothesis("Dijkstra", _dijkstra, _reached, True),
    Hypothesis("backward search", _backward, _reached, True),
    Hypothesis("bidirectional search", _bidirectional, _reached, True),
    Hypothesis("goal's sibling", _siblings, lambda item: bool(_siblings(item).any()), False),
    Hypothesis("last mentioned", functools.partial(_most, _lateness), _goal_late, False),
    Hypothesis("most mentioned", functools.partial(_most, Item.mention_counts), _goal_often, False),
    Hypothesis("nearest by position", functools.partial(_most, _nearness), _goal_near, False),
    _within("one hop", 1),
    _within("two hops", 2),
)
