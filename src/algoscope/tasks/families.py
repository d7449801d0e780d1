"""Graph families: other graphs than CLRS-30's, as options of every graph task's sampler.

    tasks.sample("dijkstra", size=1600, count=1, family="delaunay")
    tasks.sample("bfs", size=64, family="watts_strogatz", neighbours=6, rewiring=0.1)

A family gives the edges, undirected and without loops; the task's own sampler then does what the
task needs: draws weights and a source, orients the edges along a random order where the graph has
to be acyclic, joins communities. A directed graph has both directions of an edge with probability
`reciprocity`, else a random one. All of it comes from the stream that draws everything else.

`erdos_renyi` stands for the graphs of CLRS-30 themselves; `sparse_erdos_renyi`, `watts_strogatz`
and `delaunay` are the graphs of SALSA-CLRS (Minder et al., 2023), up to its 1,600 nodes. Options
that allow several values or a range draw one for each graph. Node names are random, so that they
say nothing about a node's place.

Adding a family is adding one value to `FAMILIES`.
"""

import dataclasses
import functools
import inspect
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from algoscope.errors import unknown_name
from algoscope.tasks import mersenne
from algoscope.tasks.compilation import cached, compiled, in_python
from algoscope.tasks.options import Check, Condition, Option, integer, one_of, positive, probability

CLRS_FAMILY = "erdos_renyi"


@dataclasses.dataclass(frozen=True, eq=False)
class Family:
    name: str
    draw: Callable
    """draw(stream, …, A): adds the edges to A, which is zero; between them its options by name."""
    options: Mapping[str, Option] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(inspect.signature(in_python(self.draw)).parameters)[1:-1]


def draw_structure(stream: np.ndarray, chosen: Mapping[str, Any], A: np.ndarray) -> None:
    """Adds the edges of the family in the `chosen` options to A, which is zero.

    With several communities (option `k`) each is a graph of the family.
    """
    family: Family = chosen["family"]
    options = [chosen[name] for name in family.parameters]
    bounds = community_bounds(len(A), chosen.get("k", 1))
    for start, end in itertools.pairwise(bounds):
        community = np.zeros((end - start, end - start))
        family.draw(stream, *options, community)
        if "reciprocity" in chosen:
            _drop_directions(stream, chosen["reciprocity"], community)
        A[start:end, start:end] = community


@compiled
def community_bounds(nodes, k):
    """Where each of k communities starts, and the last one ends: [k + 1]."""
    bounds = np.arange(k + 1) * (nodes // k)
    bounds[k] = nodes
    return bounds


@cached
def _drop_directions(stream, reciprocity, A):
    """Takes a random direction of an edge away, unless it keeps both (with that probability)."""
    for i in range(A.shape[0]):
        for j in range(i):
            if A[i, j] != 0 and mersenne.random(stream) >= reciprocity:
                if mersenne.below(stream, 2) == 0:
                    A[i, j] = 0
                else:
                    A[j, i] = 0


@compiled
def _join(A, i, j):
    A[i, j] = A[j, i] = 1


@compiled
def _between(stream, span):
    """A value between the two of `span`."""
    return span[0] + (span[1] - span[0]) * mersenne.random(stream)


@compiled
def _connected(A):
    n = A.shape[0]
    reached = np.zeros(n, np.bool_)
    waiting = np.zeros(n, np.int64)
    reached[0] = True
    count = 1
    for done in range(n):
        if done == count:
            return False
        for j in range(n):
            if A[waiting[done], j] != 0 and not reached[j]:
                reached[j] = True
                waiting[count] = j
                count += 1
    return True


@cached
def draw_tree(stream, branching, A):
    """Any tree with equal probability (Aldous, 1990); with `branching`, the complete tree in which
    a node has that many children."""
    n = A.shape[0]
    names = mersenne.permutation(stream, n)
    for i in range(1, n):
        parent = (i - 1) // branching if branching else min(mersenne.below(stream, n), i - 1)
        _join(A, names[i], names[parent])


@cached
def draw_grid(stream, columns, A):
    """A rectangle of that many columns, 0 for the squarest; its last row may be shorter."""
    n = A.shape[0]
    width = columns if columns else math.ceil(math.sqrt(n))
    names = mersenne.permutation(stream, n)
    for i in range(n):
        if (i + 1) % width != 0 and i + 1 < n:
            _join(A, names[i], names[i + 1])
        if i + width < n:
            _join(A, names[i], names[i + width])


@cached
def draw_barabasi_albert(stream, attachments, A):
    """A node after the other, each joined to some that are there, preferably those of many edges
    (Barabási and Albert, 1999); the first ones form a star."""
    n = A.shape[0]
    m = min(attachments[mersenne.below(stream, attachments.shape[0])], n - 1)
    names = mersenne.permutation(stream, n)
    # Every edge's two ends: a draw from them prefers a node in proportion to its edges.
    ends = np.empty(2 * m * n, np.int64)
    count = 0
    for i in range(1, n):
        before = count
        while count < before + 2 * (1 if i <= m else m):
            target = 0 if i <= m else ends[mersenne.below(stream, before)]
            if A[names[i], names[target]] == 0:
                _join(A, names[i], names[target])
                ends[count] = target
                ends[count + 1] = i
                count += 2


@cached
def draw_watts_strogatz(stream, neighbours, rewiring, A):
    """A ring in which everyone knows its nearest `neighbours`, with a part of the edges rewired
    (Watts and Strogatz, 1998); drawn again until it is connected."""
    n = A.shape[0]
    reach = min(neighbours[mersenne.below(stream, neighbours.shape[0])] // 2, n // 2)
    p = _between(stream, rewiring)
    names = mersenne.permutation(stream, n)
    for _ in range(_ATTEMPTS):
        A[:] = 0
        for i in range(n):
            for step in range(1, reach + 1):
                if step < n:
                    _join(A, names[i], names[(i + step) % n])
        degrees = np.full(n, min(2 * reach, n - 1))
        for step in range(1, reach + 1):
            for i in range(n):
                u, v = names[i], names[(i + step) % n]
                if A[u, v] == 0 or mersenne.random(stream) >= p or degrees[u] == n - 1:
                    continue
                w = mersenne.below(stream, n)
                while w == u or A[u, w] != 0:
                    w = mersenne.below(stream, n)
                A[u, v] = A[v, u] = 0
                _join(A, u, w)
                degrees[v] -= 1
                degrees[w] += 1
        if _connected(A):
            return
    raise ValueError("rewiring: needed less of it, or more neighbours: no graph was connected")


@cached
def draw_sparse_erdos_renyi(stream, density, A):
    """Edges with probability density · ln n / n; drawn again until the graph is connected."""
    n = A.shape[0]
    p = _between(stream, density) * math.log(n) / n
    for _ in range(_ATTEMPTS):
        A[:] = 0
        for i in range(n):
            for j in range(i):
                if mersenne.random(stream) < p:
                    _join(A, i, j)
        if _connected(A):
            return
    raise ValueError("density: needed a higher one: no graph was connected")


_ATTEMPTS = 300
"""How often a graph is drawn that has to be connected."""


def draw_delaunay(stream, A):
    """The Delaunay triangulation of points spread evenly over a square."""
    from scipy.spatial import Delaunay

    n = A.shape[0]
    if n == 2:
        _join(A, 0, 1)
    if n < 3:
        return
    points = np.empty((n, 2))
    mersenne.uniform(stream, 0.0, 1.0, points)
    for corners in Delaunay(points).simplices:
        for i, j in itertools.combinations(corners, 2):
            _join(A, i, j)


def _none_or(check: Check) -> Check:
    """0 for None, for samplers that then take their own value."""
    return lambda name, value, size: 0 if value is None else check(name, value, size)


def _span(check: Check) -> Check:
    """One value, or the lowest and the highest."""

    def checked(name, value, size):
        ends = value if isinstance(value, (list, tuple, np.ndarray)) else (value, value)
        if len(ends) != 2 or check(name, ends[0], size) > check(name, ends[1], size):
            raise ValueError(
                f"{name}: got {value!r}, needed a number or the lowest and the highest of a range"
            )
        return np.array([check(name, end, size) for end in ends], float)

    return checked


def _even(name, value, size):
    if integer(2)(name, value, size) % 2:
        raise ValueError(f"{name}: got {value!r}, needed an even number, as many on either side")
    return int(value)


FAMILIES = {
    family.name: family
    for family in (
        Family("tree", draw_tree, {"branching": Option(None, _none_or(integer(1)))}),
        Family("grid", draw_grid, {"columns": Option(None, _none_or(integer(1)))}),
        Family(
            "barabasi_albert",
            draw_barabasi_albert,
            {"attachments": Option((2, 3, 4), one_of(integer(1)))},
        ),
        Family(
            "watts_strogatz",
            draw_watts_strogatz,
            {
                "neighbours": Option((4, 6, 8), one_of(_even)),
                "rewiring": Option((0.05, 0.2), _span(probability)),
            },
        ),
        Family("delaunay", draw_delaunay),
        Family(
            "sparse_erdos_renyi",
            draw_sparse_erdos_renyi,
            {"density": Option((1.0, 3.0), _span(positive))},
        ),
    )
}


def _family(name, value, size):
    """The family of that name, None for the graphs of CLRS-30."""
    if value == CLRS_FAMILY:
        return None
    if not isinstance(value, str) or value not in FAMILIES:
        raise ValueError(unknown_name(name, value, (CLRS_FAMILY, *FAMILIES)))
    return FAMILIES[value]


FAMILY_OPTIONS = {
    "family": Option(CLRS_FAMILY, _family),
    **{
        name: dataclasses.replace(option, condition=Condition("family", (family.name,)))
        for family in FAMILIES.values()
        for name, option in family.options.items()
    },
}


def reciprocity(default: float) -> dict[str, Option]:
    """For directed graphs: how likely an edge of a family goes both ways."""
    return {"reciprocity": Option(default, probability, Condition("family", tuple(FAMILIES)))}
