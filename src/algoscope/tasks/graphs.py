"""Random graphs, drawn as dm-clrs draws them.

Where `p` is empty, A holds the edges already (those of another family) and none are drawn.
"""

import numpy as np

from algoscope.tasks import mersenne
from algoscope.tasks.compilation import cached, compiled
from algoscope.tasks.families import CLRS_FAMILY, FAMILY_OPTIONS, community_bounds, reciprocity
from algoscope.tasks.options import RANGE, Condition, Option, integer, number, one_of, probability


def edge_probability(default: float) -> dict[str, Option]:
    """The edges' probability in the graphs of CLRS-30, or another family."""
    p = Option(default, one_of(probability), Condition("family", (CLRS_FAMILY,)))
    return {"p": p, **FAMILY_OPTIONS}


DIRECTED = edge_probability(0.5) | reciprocity(1.0)


def _not_negative(name, value, size):
    """Between values of different sign `weigh_undirected` takes the root of a negative number."""
    if number(name, value, size) < 0:
        raise ValueError(f"{name}: got {value!r}, needed a number of at least 0")
    return float(value)


UNDIRECTED_WEIGHTS = {name: Option(o.default, _not_negative) for name, o in RANGE.items()}


def _up_to_size(name, value, size):
    return integer(1, size)(name, value, size)


COMMUNITIES = {
    "k": Option(4, _up_to_size),
    **edge_probability(0.5),
    **reciprocity(0.5),
    "eps": Option(0.01, probability),
}


@compiled
def choose(stream, values):
    """One of the values: `RandomState.choice(values)`."""
    return values[mersenne.below(stream, values.shape[0])]


@compiled
def keep_mutual(A):
    """Makes the graph undirected: an edge stays if it was drawn in both directions (p squared)."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = A[j, i] = A[i, j] * A[j, i]


@compiled
def weigh_undirected(stream, low, high, A):
    """Multiplies the edges with symmetric weights sqrt(w_ij w_ji + 0.001), w uniform."""
    w = np.empty(A.shape)
    mersenne.uniform(stream, low, high, w)
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            A[i, j] *= np.sqrt(w[i, j] * w[j, i] + 1e-3)


@compiled
def weigh_directed(stream, low, high, A):
    """Multiplies the edges with uniform weights."""
    w = np.empty(A.shape)
    mersenne.uniform(stream, low, high, w)
    A *= w


@compiled
def rename_nodes(stream, A):
    """Puts the nodes in a random order, so that their numbers do not give the solution away."""
    names = mersenne.permutation(stream, A.shape[0])
    A[:] = A[names][:, names]


@compiled
def draw_directed_graph(stream, p, A):
    if p.shape[0] > 0:
        mersenne.bernoulli(stream, choose(stream, p), A)


@compiled
def draw_graph(stream, p, A):
    draw_directed_graph(stream, p, A)
    keep_mutual(A)


@compiled
def draw_graph_and_source(stream, p, A, s):
    draw_graph(stream, p, A)
    s[0] = mersenne.below(stream, A.shape[0])


@compiled
def draw_weighted_graph(stream, p, low, high, A):
    draw_graph(stream, p, A)
    weigh_undirected(stream, low, high, A)


@compiled
def draw_weighted_graph_and_source(stream, p, low, high, A, s):
    draw_weighted_graph(stream, p, low, high, A)
    s[0] = mersenne.below(stream, A.shape[0])


@compiled
def draw_acyclic_graph(stream, p, A):
    draw_directed_graph(stream, p, A)
    for i in range(A.shape[0]):
        A[i, : i + 1] = 0
    rename_nodes(stream, A)


@compiled
def draw_weighted_acyclic_graph_and_source(stream, p, low, high, A, s):
    draw_acyclic_graph(stream, p, A)
    weigh_directed(stream, low, high, A)
    s[0] = mersenne.below(stream, A.shape[0])


@compiled
def draw_communities(stream, k, p, eps, A):
    """Draws k directed graphs of density p and toggles each pair of nodes with probability eps.

    No edge leads from a later community to an earlier one, so that no two become one component.
    """
    bounds = community_bounds(A.shape[0], k)
    if p.shape[0] > 0:
        density = choose(stream, p)
        for c in range(k):
            start, end = bounds[c], bounds[c + 1]
            community = np.empty((end - start, end - start))
            mersenne.bernoulli(stream, density, community)
            A[start:end, start:end] = community
    toggled = np.empty(A.shape)
    mersenne.bernoulli(stream, eps, toggled)
    for start in bounds[:-1]:
        toggled[start:, :start] = 0
    A[:] = np.abs(A - toggled)
    rename_nodes(stream, A)


@cached
def positions(pos):
    """Uniform positions i / n: each node's name."""
    for i in range(pos.shape[0]):
        pos[i] = i / pos.shape[0]


@cached
def adjacency(A, adj):
    """adj_ij = 1 where there is an edge, and on the diagonal."""
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            adj[i, j] = (A[i, j] != 0) | (i == j)


@compiled
def start_at_self(pointers):
    """Every node points to itself."""
    for i in range(pointers.shape[0]):
        pointers[i] = i
