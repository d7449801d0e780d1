"""Minimum spanning trees."""

import numpy as np

from algoscope.tasks import needs
from algoscope.tasks.algorithms.shortest_paths import priority_first
from algoscope.tasks.compilation import compiled, order, record
from algoscope.tasks.graphs import (
    UNDIRECTED_WEIGHTS,
    draw_weighted_graph,
    draw_weighted_graph_and_source,
    edge_probability,
    start_at_self,
)
from algoscope.tasks.task import Task

_UNITE, _FIND_U, _FIND_V = 0, 1, 2


@compiled
def _climb(trace, pi, root, mask):
    """Moves `root` to the root of its set, a node a step; the nodes passed then point there."""
    while pi[root[0]] != root[0]:
        root[0] = pi[root[0]]
        for i in range(pi.shape[0]):
            if mask[i]:
                pi[i] = root[0]
        mask[root[0]] = 1
        record(trace)


@compiled
def _start_at(node, end, root, mask):
    end[0] = node
    root[0] = node
    mask[:] = 0
    mask[node] = 1


@compiled
def kruskal(trace, A, in_mst_h, pi, u, v, root_u, root_v, mask_u, mask_v, phase):
    """Kruskal's minimum spanning tree, by union-find with path compression (Kruskal, 1956)."""
    n = A.shape[0]
    weights = np.triu(A, 1).ravel()
    edges = np.flatnonzero(weights > 0)
    start_at_self(pi)
    record(trace)
    for edge in edges[order(weights[edges])]:
        _start_at(edge // n, u, root_u, mask_u)
        _start_at(edge % n, v, root_v, mask_v)
        phase[0] = _FIND_U
        record(trace)
        _climb(trace, pi, root_u, mask_u)
        phase[0] = _FIND_V
        _climb(trace, pi, root_v, mask_v)
        if root_u[0] != root_v[0]:
            in_mst_h[u[0], v[0]] = 1
            in_mst_h[v[0], u[0]] = 1
            pi[min(root_u[0], root_v[0])] = max(root_u[0], root_v[0])
        phase[0] = _UNITE
        record(trace)


@compiled
def prim(trace, s, A, pi_h, key, mark, in_queue, u):
    """Prim's minimum spanning tree, a node a step (Prim, 1957)."""
    priority_first(trace, s, A, pi_h, key, mark, in_queue, u, False)


mst_kruskal = Task(
    "mst_kruskal",
    """
    pos       input   node   scalar          # the node's position, which names it
    A         input   edge   scalar          # weight of the edge, 0 where there is none
    adj       input   edge   mask            # there is an edge, or a loop
    in_mst    output  edge   mask            # in the minimum spanning tree
    in_mst_h  hint    edge   mask            # in the tree so far
    pi        hint    node   pointer         # towards the root of its set
    u         hint    node   mask_one        # one end of the edge in work
    v         hint    node   mask_one        # its other end
    root_u    hint    node   mask_one        # how far the search for the root of u is
    root_v    hint    node   mask_one        # and that of v
    mask_u    hint    node   mask            # passed on the way from u
    mask_v    hint    node   mask            # passed on the way from v
    phase     hint    graph  categorical  3  # unite, find from u or find from v
    """,
    draw_weighted_graph,
    kruskal,
    options=edge_probability(0.2) | UNDIRECTED_WEIGHTS,
    needs=(needs.undirected, needs.positive_weights),
    long_traces=True,
)

mst_prim = Task(
    "mst_prim",
    """
    pos       input   node  scalar    # the node's position, which names it
    s         input   node  mask_one  # the source
    A         input   edge  scalar    # weight of the edge, 0 where there is none
    adj       input   edge  mask      # there is an edge, or a loop
    pi        output  node  pointer   # the parent
    pi_h      hint    node  pointer   # the parent so far, itself without one
    key       hint    node  scalar    # weight of the lightest edge to the tree
    mark      hint    node  mask      # taken from the queue
    in_queue  hint    node  mask      # in the queue
    u         hint    node  mask_one  # the node taken last
    """,
    draw_weighted_graph_and_source,
    prim,
    options=edge_probability(0.5) | UNDIRECTED_WEIGHTS,
    needs=(needs.undirected,),
)
