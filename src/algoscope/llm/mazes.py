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


def adjacency(nodes: int, edges: Edges, directed: bool) -> np.ndarray:
    """bool [node, node]: one can go from row to column."""
    A = np.zeros((nodes, nodes), bool)
    A[tuple(np.array(edges, int).reshape(-1, 2).T)] = True
    return A if directed else A | A.T


def distances(A: np.ndarray, source: int) -> np.ndarray:
    """Steps from the source to each node, -1 where there is no way: int [node]."""
    steps = np.full(len(A), -1)
    frontier = np.arange(len(A)) == source
    for step in range(len(A)):
        steps[frontier] = step
        frontier = A[frontier].any(0) & (steps < 0)
    return steps


def draw(family: Family, rng: np.random.Generator) -> Edges:
    """The edges (from, to) of both components; node n + size is the copy of node n."""
    part = family.draw(family.size, family.branching, rng)
    return part + tuple((a + family.size, b + family.size) for a, b in part)


def family(name: str, size: int | None = None, branching: int | None = None) -> Family:
    """A family by its name, or one of the graphs of CogEval, with its numbers replaced."""
    if name not in FAMILIES:
        raise ValueError(unknown_name("family of mazes", name, FAMILIES))
    numbers = {"size": size, "branching": branching}
    family = FAMILIES[name]._replace(**{k: v for k, v in numbers.items() if v is not None})
    if family.size < 2 or family.branching < 1:
        raise ValueError(
            f"{name}: got size {family.size} and branching {family.branching}, "
            "needed at least 2 nodes and a branching of at least 1"
        )
    return family


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


def _circles(size: int, branching: int, rng: np.random.Generator) -> Edges:
    """A random tree in which every fourth node, if it is so deep, leads back to one that is two or
    more steps above it."""
    tree = _random_tree(size, branching, rng)
    parent = {b: a for a, b in tree}
    back = []
    for node in map(int, rng.permutation(np.arange(1, size))):
        above = [node]
        while above[-1] in parent:
            above.append(parent[above[-1]])
        if len(above) > 2 and len(back) < max(1, size // 4):
            back.append((node, int(rng.choice(above[2:]))))
    return tree + tuple(back)


FAMILIES = {
    family.name: family
    for family in (
        Family("line", 5, _line),
        Family("tree", 7, _tree),
        Family("random_tree", 7, _random_tree),
        Family("star", 7, _star, 3),
        Family("clusters", 8, _clusters, 3),
        Family("random", 7, _random),
        Family("circles", 7, _circles),
        Family("cogeval_line_7", 7, _line),
        Family("cogeval_tree_7", 7, _tree),
        Family("cogeval_line_13", 13, _line),
        Family("cogeval_star_15", 15, _star, 7),
        Family("cogeval_clusters_16", 16, _clusters, 3),
        Family("cogeval_star_21", 21, _star, 5),
    )
}
