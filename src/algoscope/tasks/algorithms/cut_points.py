"""Cut points: the nodes and edges without which an undirected graph falls apart.

Both come from depth-first search and `low`, the earliest discovery time within reach of a node's
subtree by one edge that is not in the tree (Hopcroft and Tarjan, 1973).
"""

import numpy as np

from algoscope.tasks import needs
from algoscope.tasks.algorithms.depth_first import (
    DISCOVER,
    FINISH,
    OTHER_EDGE,
    TREE_EDGE,
    stamp,
    walk,
)
from algoscope.tasks.compilation import compiled, record
from algoscope.tasks.graphs import draw_graph, edge_probability, start_at_self
from algoscope.tasks.task import Task


@compiled
def walk_with_low(A, pi, d, f, low, color, s_prev, s, u, v, s_last, time):
    """The events of `walk`, but for edges back to the parent, with pi, d, f and low kept."""
    start_at_self(pi)
    for event in walk(A, np.arange(A.shape[0]), color, s_prev, s, u, v, s_last, True):
        node, neighbour = u[0], v[0]
        stamp(event, u, d, f, time)
        if event == DISCOVER:
            low[node] = d[node]
        elif event == TREE_EDGE:
            pi[neighbour] = node
        elif event == OTHER_EDGE:
            if neighbour == pi[node]:
                continue
            low[node] = min(low[node], d[neighbour])
        elif event == FINISH:
            for child in range(A.shape[0]):
                if pi[child] == node:
                    low[node] = min(low[node], low[child])
        yield event


@compiled
def find_articulation_points(
    trace, A, is_cut_h, pi_h, color, d, f, low, child_cnt, s_prev, s, u, v, s_last, time
):
    """Articulation points by depth-first search (Hopcroft and Tarjan, 1973)."""
    for event in walk_with_low(A, pi_h, d, f, low, color, s_prev, s, u, v, s_last, time):
        node = u[0]
        if event == TREE_EDGE:
            child_cnt[node] += 0.01
        elif event == FINISH:
            if pi_h[node] == node:
                is_cut_h[node] = child_cnt[node] > 0.01
            else:
                is_cut_h[node] = ((pi_h == node) & (low >= d[node])).any()
        record(trace)


@compiled
def find_bridges(trace, A, adj, is_bridge_h, pi_h, color, d, f, low, s_prev, s, u, v, s_last, time):
    """Bridges by depth-first search (Tarjan, 1974); pairs without an edge are masked."""
    is_bridge_h[:] = adj - 1
    for event in walk_with_low(A, pi_h, d, f, low, color, s_prev, s, u, v, s_last, time):
        if event == FINISH:
            node = u[0]
            for child in range(A.shape[0]):
                if pi_h[child] == node and low[child] > d[node]:
                    is_bridge_h[node, child] = is_bridge_h[child, node] = 1
        record(trace)


articulation_points = Task(
    "articulation_points",
    """
    pos        input   node   scalar              # the node's position, which names it
    A          input   edge   scalar       whole  # 1 where there is an edge
    adj        input   edge   mask                # there is an edge, or a loop
    is_cut     output  node   mask                # without it the graph falls apart
    is_cut_h   hint    node   mask                # known to be a cut point
    pi_h       hint    node   pointer             # the parent so far, itself without one
    color      hint    node   categorical  3      # white, grey (on the stack) or black (finished)
    d          hint    node   scalar              # time of discovery, in hundredths
    f          hint    node   scalar              # time of finishing, in hundredths
    low        hint    node   scalar              # earliest time within reach of the subtree
    child_cnt  hint    node   scalar              # number of children, in hundredths
    s_prev     hint    node   pointer             # the node below on the stack
    s          hint    node   mask_one            # the root of the present walk
    u          hint    node   mask_one            # the node in work
    v          hint    node   mask_one            # the neighbour that is looked at
    s_last     hint    node   mask_one            # the top of the stack
    time       hint    graph  scalar              # events so far, in hundredths
    """,
    draw_graph,
    find_articulation_points,
    options=edge_probability(0.2),
    needs=(needs.unweighted, needs.undirected),
    long_traces=True,
)

bridges = Task(
    "bridges",
    """
    pos          input   node   scalar              # the node's position, which names it
    A            input   edge   scalar       whole  # 1 where there is an edge
    adj          input   edge   mask                # there is an edge, or a loop
    is_bridge    output  edge   mask                # without it the graph falls apart
    is_bridge_h  hint    edge   mask                # known to be a bridge
    pi_h         hint    node   pointer             # the parent so far, itself without one
    color        hint    node   categorical  3      # white, grey (on the stack) or black (finished)
    d            hint    node   scalar              # time of discovery, in hundredths
    f            hint    node   scalar              # time of finishing, in hundredths
    low          hint    node   scalar              # earliest time within reach of the subtree
    s_prev       hint    node   pointer             # the node below on the stack
    s            hint    node   mask_one            # the root of the present walk
    u            hint    node   mask_one            # the node in work
    v            hint    node   mask_one            # the neighbour that is looked at
    s_last       hint    node   mask_one            # the top of the stack
    time         hint    graph  scalar              # events so far, in hundredths
    """,
    draw_graph,
    find_bridges,
    options=edge_probability(0.2),
    needs=(needs.unweighted, needs.undirected),
    long_traces=True,
)
