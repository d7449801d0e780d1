"""Breadth-first search."""

import dataclasses

from algoscope.tasks import needs
from algoscope.tasks.compilation import compiled, record
from algoscope.tasks.graphs import draw_graph_and_source, edge_probability, start_at_self
from algoscope.tasks.task import Task


@compiled
def breadth_first_search(trace, s, A, reach_h, pi_h):
    """Breadth-first search, a level a step (Moore, 1959)."""
    n = A.shape[0]
    source = s[0]
    start_at_self(pi_h)
    reach_h[source] = 1
    while True:
        record(trace)
        reached = reach_h.copy()
        for i in range(n):
            if reached[i]:
                for j in range(n):
                    if A[i, j] > 0:
                        if pi_h[j] == j and j != source:
                            pi_h[j] = i
                        reach_h[j] = 1
        if (reach_h == reached).all():
            break


@compiled
def reach_one_by_one(trace, s, A, reach_h, pi_h):
    """Breadth-first search, a newly reached node a step: the same tree in a longer trace."""
    n = A.shape[0]
    start_at_self(pi_h)
    reach_h[s[0]] = 1
    record(trace)
    growing = True
    while growing:
        growing = False
        level = reach_h.copy()
        for i in range(n):
            if level[i]:
                for j in range(n):
                    if A[i, j] > 0 and not reach_h[j]:
                        reach_h[j] = 1
                        pi_h[j] = i
                        growing = True
                        record(trace)


bfs = Task(
    "bfs",
    """
    pos      input   node  scalar           # the node's position, which names it
    s        input   node  mask_one         # the source
    A        input   edge  scalar    whole  # 1 where there is an edge
    adj      input   edge  mask             # there is an edge, or a loop
    pi       output  node  pointer          # the parent
    reach_h  hint    node  mask             # reached so far
    pi_h     hint    node  pointer          # the parent so far, itself without one
    """,
    draw_graph_and_source,
    breadth_first_search,
    options=edge_probability(0.5),
    needs=(needs.unweighted,),
)

bfs_sequential = dataclasses.replace(
    bfs, name="bfs_sequential", algorithm=reach_one_by_one, variant_of="bfs"
)
