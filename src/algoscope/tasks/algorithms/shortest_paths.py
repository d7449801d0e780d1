"""Shortest paths in weighted graphs, and the priority-first search that Prim's algorithm shares."""

from algoscope.tasks import needs
from algoscope.tasks.compilation import compiled, order, record
from algoscope.tasks.graphs import (
    UNDIRECTED_WEIGHTS,
    draw_weighted_graph,
    draw_weighted_graph_and_source,
    edge_probability,
    start_at_self,
)
from algoscope.tasks.task import Task

_OUTSIDE = 1e9
"""What is added to the keys of nodes outside the queue."""


@compiled
def extract_min(key, in_queue):
    """Takes the node of smallest key out of the queue, which has one, and returns it.

    Of several, the one that comes first if numpy sorts all nodes, those outside the queue last:
    dm-clrs's choice.
    """
    least = -1
    tied = False
    for v in range(key.shape[0]):
        if in_queue[v]:
            if least < 0 or key[v] < key[least]:
                least = v
                tied = False
            elif key[v] == key[least]:
                tied = True
    if tied:
        first = order(key + (1 - in_queue) * _OUTSIDE)[0]
        if in_queue[first]:  # always, with keys below _OUTSIDE
            least = first
    in_queue[least] = 0
    return least


@compiled
def priority_first(trace, s, A, pi_h, key, mark, in_queue, u, whole_paths):
    """Takes the node of smallest key, a node a step, and queues its unmarked neighbours with the
    weight of the edge as key, or with that of `whole_paths` from the source."""
    start_at_self(pi_h)
    u[0] = s[0]
    in_queue[s[0]] = 1
    record(trace)
    while in_queue.any():
        node = extract_min(key, in_queue)
        u[0] = node
        mark[node] = 1
        base = key[node] if whole_paths else 0.0
        for v in range(A.shape[0]):
            if A[node, v] != 0 and not mark[v]:
                offer = base + A[node, v]
                if not in_queue[v] or offer < key[v]:
                    pi_h[v] = node
                    key[v] = offer
                    in_queue[v] = 1
        record(trace)


@compiled
def trace_bellman_ford(trace, s, A, pi_h, d, msk):
    """Bellman-Ford's shortest paths from one source, all edges a step (Bellman, 1958)."""
    n = A.shape[0]
    start_at_self(pi_h)
    msk[s[0]] = 1
    while True:
        record(trace)
        before = d.copy()
        reached = msk.copy()
        for u in range(n):
            for v in range(n):
                if reached[u] and A[u, v] != 0:
                    length = before[u] + A[u, v]
                    if not msk[v] or length < d[v]:
                        d[v] = length
                        pi_h[v] = u
                    msk[v] = 1
        if (d == before).all() and (msk == reached).all():
            break


@compiled
def trace_dijkstra(trace, s, A, pi_h, d, mark, in_queue, u):
    """Dijkstra's shortest paths from one source, a node a step (Dijkstra, 1959)."""
    priority_first(trace, s, A, pi_h, d, mark, in_queue, u, True)


@compiled
def trace_floyd_warshall(trace, A, adj, Pi_h, D, msk, k):
    """Floyd-Warshall's shortest paths between all pairs, a waypoint a step (Floyd, 1962)."""
    n = A.shape[0]
    D[:] = A
    msk[:] = adj
    for i in range(n):
        Pi_h[i] = i
    for waypoint in range(n):
        k[0] = waypoint
        record(trace)
        start, end = D[:, waypoint].copy(), D[waypoint].copy()
        starts, ends = msk[:, waypoint].copy(), msk[waypoint].copy()
        for i in range(n):
            for j in range(n):
                if starts[i] and ends[j]:
                    length = start[i] + end[j]
                    if not msk[i, j] or length < D[i, j]:
                        D[i, j] = length
                        Pi_h[i, j] = Pi_h[waypoint, j]
                    msk[i, j] = 1


_OPTIONS = edge_probability(0.5) | UNDIRECTED_WEIGHTS

bellman_ford = Task(
    "bellman_ford",
    """
    pos   input   node  scalar    # the node's position, which names it
    s     input   node  mask_one  # the source
    A     input   edge  scalar    # weight of the edge, 0 where there is none
    adj   input   edge  mask      # there is an edge, or a loop
    pi    output  node  pointer   # the parent
    pi_h  hint    node  pointer   # the parent so far, itself without one
    d     hint    node  scalar    # shortest distance from the source so far
    msk   hint    node  mask      # reached so far
    """,
    draw_weighted_graph_and_source,
    trace_bellman_ford,
    options=_OPTIONS,
    needs=(needs.no_negative_cycle_from_source,),
)

dijkstra = Task(
    "dijkstra",
    """
    pos       input   node  scalar    # the node's position, which names it
    s         input   node  mask_one  # the source
    A         input   edge  scalar    # weight of the edge, 0 where there is none
    adj       input   edge  mask      # there is an edge, or a loop
    pi        output  node  pointer   # the parent
    pi_h      hint    node  pointer   # the parent so far, itself without one
    d         hint    node  scalar    # shortest distance from the source so far
    mark      hint    node  mask      # taken from the queue
    in_queue  hint    node  mask      # in the queue
    u         hint    node  mask_one  # the node taken last
    """,
    draw_weighted_graph_and_source,
    trace_dijkstra,
    options=_OPTIONS,
    needs=(needs.not_negative_weights,),
)

floyd_warshall = Task(
    "floyd_warshall",
    """
    pos   input   node  scalar    # the node's position, which names it
    A     input   edge  scalar    # weight of the edge, 0 where there is none
    adj   input   edge  mask      # there is an edge, or a loop
    Pi    output  edge  pointer   # the last node before the end of the path
    Pi_h  hint    edge  pointer   # the same, so far
    D     hint    edge  scalar    # length of the shortest path so far
    msk   hint    edge  mask      # has a path
    k     hint    node  mask_one  # the node that paths may now pass
    """,
    draw_weighted_graph,
    trace_floyd_warshall,
    options=_OPTIONS,
    needs=(needs.no_negative_cycle,),
)
