"""Mazes: the graphs that one navigates, each beside a copy of itself that is out of reach.

A maze has two components that are equal but for the names of their nodes. The start is in the
first; the goal is a node of the first (reachable) or its copy in the second (unreachable). So
nothing but search tells the two apart: the goal has as many neighbours, and is as deep in its
component, in either case.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algoscope.errors import unknown_name

Edges = tuple[tuple[int, int], ...]


class Family(NamedTuple):
    """How one component is made. Node 0 is the start; edges lead away from it."""

    name: str
    size: int
    """Nodes of one component."""
    draw: Callable[[int, int, np.random.Generator], Edges]
    """(size, branching, rng) -> edges."""
    branching: int = 2
    """Children of a node, arms of a star, or rooms of a cluster."""


class Maze(NamedTuple):
    size: int
    """Nodes of one component; the maze has twice as many, node n + size being the copy of n."""
    edges: Edges
    """Pairs (from, to) of both components."""
    directed: bool

    @property
    def nodes(self) -> int:
        return 2 * self.size

    def adjacency(self) -> np.ndarray:
        """bool [node, node]: one can go from row to column."""
        return adjacency(self.nodes, self.edges, self.directed)

    def depths(self) -> np.ndarray:
        """Steps from the start to each node of the first component: int [size]."""
        return distances(self.adjacency(), 0)[: self.size]


def adjacency(nodes: int, edges: Edges, directed: bool) -> np.ndarray:
    A = np.zeros((nodes, nodes), bool)
    for sender, receiver in edges:
        A[sender, receiver] = True
        if not directed:
            A[receiver, sender] = True
    return A


def distances(A: np.ndarray, source: int) -> np.ndarray:
    """Steps from the source to each node, -1 where there is no way: int [node]."""
    steps = np.full(len(A), -1)
    frontier = np.arange(len(A)) == source
    for step in range(len(A)):
        steps[frontier] = step
        frontier = A[frontier].any(0) & (steps < 0)
    return steps


def draw(family: Family, directed: bool, rng: np.random.Generator) -> Maze:
    part = family.draw(family.size, family.branching, rng)
    copy = tuple((a + family.size, b + family.size) for a, b in part)
    return Maze(family.size, part + copy, directed)


def family(name: str, size: int | None = None, branching: int | None = None) -> Family:
    """A family by its name, or one of the graphs of CogEval, with its numbers replaced."""
    if name not in FAMILIES:
        raise ValueError(unknown_name("family of mazes", name, FAMILIES))
    usual = FAMILIES[name]
    size = usual.size if size is None else size
    branching = usual.branching if branching is None else branching
    if size < 2 or branching < 1:
        raise ValueError(
            f"{name}: got size {size} and branching {branching}, "
            "needed at least 2 nodes and a branching of at least 1"
        )
    return usual._replace(size=size, branching=branching)


def _line(size: int, branching: int, rng: np.random.Generator) -> Edges:
    return tuple((node - 1, node) for node in range(1, size))


def _tree(size: int, branching: int, rng: np.random.Generator) -> Edges:
    return tuple(((node - 1) // branching, node) for node in range(1, size))


def _random_tree(size: int, branching: int, rng: np.random.Generator) -> Edges:
    """Every new node hangs on a random earlier one that has fewer than `branching` children."""
    children = np.zeros(size, int)
    edges = []
    for node in range(1, size):
        parent = int(rng.choice(np.flatnonzero(children[:node] < branching)))
        children[parent] += 1
        edges.append((parent, node))
    return tuple(edges)


def _star(size: int, branching: int, rng: np.random.Generator) -> Edges:
    """`branching` arms, as even in length as can be, from the start in the middle."""
    return tuple((max(0, node - branching), node) for node in range(1, size))


def _clusters(size: int, branching: int, rng: np.random.Generator) -> Edges:
    """Clusters of `branching` + 1 nodes, all joined inside, each joined to the next one by one."""
    within = branching + 1
    inside = [(a, b) for a in range(size) for b in range(a + 1, size) if a // within == b // within]
    bridges = [(first - 1, first) for first in range(within, size, within)]
    return tuple(inside + bridges)


def _random(size: int, branching: int, rng: np.random.Generator) -> Edges:
    """A random tree and a third as many edges again, from earlier to later nodes."""
    edges = set(_random_tree(size, branching, rng))
    others = [(a, b) for a in range(size) for b in range(a + 1, size) if (a, b) not in edges]
    extra = rng.permutation(len(others))[: size // 3]
    return tuple(sorted(edges | {others[number] for number in extra}))


FAMILIES = {
    family.name: family
    for family in (
        Family("line", 5, _line),
        Family("tree", 7, _tree),
        Family("random_tree", 7, _random_tree),
        Family("star", 7, _star, 3),
        Family("clusters", 8, _clusters, 3),
        Family("random", 7, _random),
        Family("cogeval_line_7", 7, _line),
        Family("cogeval_tree_7", 7, _tree),
        Family("cogeval_line_13", 13, _line),
        Family("cogeval_star_15", 15, _star, 7),
        Family("cogeval_clusters_16", 16, _clusters, 3),
        Family("cogeval_star_21", 21, _star, 5),
    )
}
