"""Depth-first search, and what its colours and times give: orders, shortest paths, components.

All of it, and `cut_points`, is one walk through the graph with something done at its events. The
walk's stack is itself a list in the graph: `s_last` is its top, and `s_prev` points from each node
on it to the one below.
"""

import dataclasses

import numpy as np

from algoscope.tasks import needs
from algoscope.tasks.compilation import compiled, order, record
from algoscope.tasks.graphs import (
    COMMUNITIES,
    DIRECTED,
    adjacency,
    draw_acyclic_graph,
    draw_communities,
    draw_directed_graph,
    draw_weighted_acyclic_graph_and_source,
    edge_probability,
    start_at_self,
)
from algoscope.tasks.options import RANGE
from algoscope.tasks.task import Task

WHITE, GREY, BLACK = range(3)
SOURCE, DISCOVER, TREE_EDGE, OTHER_EDGE, FINISH = range(5)


@compiled
def walk(A, sources, color, s_prev, s, u, v, s_last, other_edges=False):
    """Walks depth first from each white source in turn, and yields the events on the way.

    SOURCE      the walk starts anew at s, which is still white
    DISCOVER    u is grey and visited for the first time
    TREE_EDGE   from u to v, which was white, is grey now and will be visited next
    OTHER_EDGE  from u to v, which was not white; seen again after each return to u, and only
                if `other_edges` are asked for
    FINISH      u is black: no neighbour of it is white
    """
    color[:] = WHITE
    start_at_self(s_prev)
    for source in sources:
        if color[source] != WHITE:
            continue
        s[0] = u[0] = v[0] = s_last[0] = source
        yield SOURCE
        color[source] = GREY
        yield DISCOVER
        while color[source] != BLACK:
            for neighbour in range(A.shape[0]):
                v[0] = neighbour
                if A[u[0], neighbour] != 0:
                    if color[neighbour] == WHITE:
                        color[neighbour] = GREY
                        s_prev[neighbour] = s_last[0]
                        s_last[0] = neighbour
                        yield TREE_EDGE
                        break
                    if other_edges:
                        yield OTHER_EDGE
            if s_last[0] != u[0]:
                u[0] = s_last[0]
                yield DISCOVER
            else:
                color[u[0]] = BLACK
                yield FINISH
                s_last[0] = s_prev[u[0]]
                s_prev[u[0]] = u[0]
                u[0] = s_last[0]


@compiled
def recolors(event, s, u):
    """Did the event change a colour, or the source? A node on a tree edge is discovered grey."""
    return event != DISCOVER or u[0] == s[0]


@compiled
def stamp(event, u, d, f, time):
    """Notes the time of u's discovery in d and of its finishing in f."""
    if event in (DISCOVER, FINISH):
        time[0] += 0.01
        times = d if event == DISCOVER else f
        times[u[0]] = time[0]


@compiled
def depth_first_search(trace, A, pi_h, color, d, f, s_prev, s, u, v, s_last, time):
    """Depth-first search, with the times of discovery and finishing (Tarjan, 1972)."""
    start_at_self(pi_h)
    for event in walk(A, np.arange(A.shape[0]), color, s_prev, s, u, v, s_last):
        stamp(event, u, d, f, time)
        if event == TREE_EDGE:
            pi_h[v[0]] = u[0]
        record(trace)


@compiled
def depth_first_search_in_brief(trace, A, pi_h, color):
    """Depth-first search step by step as ever, with its stack, edges and times left out."""
    n = A.shape[0]
    d, f, time = np.zeros(n), np.zeros(n), np.zeros(1)
    s_prev, ends = np.zeros(n, np.int32), np.zeros((4, 1), np.int32)
    depth_first_search(
        trace, A, pi_h, color, d, f, s_prev, ends[0], ends[1], ends[2], ends[3], time
    )


@compiled
def list_topologically(trace, A, sources, topo_h, topo_head_h, color, s_prev, s, u, v, s_last):
    """Puts each node that finishes before the others: topo_head_h is the first, topo_h its next."""
    start_at_self(topo_h)
    for event in walk(A, sources, color, s_prev, s, u, v, s_last):
        if event == FINISH:
            if color[topo_head_h[0]] == BLACK:
                topo_h[u[0]] = topo_head_h[0]
            topo_head_h[0] = u[0]
        if recolors(event, s, u):
            record(trace)


@compiled
def topological_ordering(trace, A, topo_h, topo_head_h, color, s_prev, s, u, v, s_last):
    """Topological sort by depth-first search (Tarjan, 1976)."""
    sources = np.arange(A.shape[0])
    list_topologically(trace, A, sources, topo_h, topo_head_h, color, s_prev, s, u, v, s_last)


@compiled
def shortest_paths_in_order(
    trace, s, A, pi_h, d, mark, topo_h, topo_head_h, color, s_prev, u, v, s_last, phase
):
    """Shortest paths in a directed acyclic graph, relaxed in topological order (Lawler, 1976)."""
    start_at_self(pi_h)
    walk_source = s.copy()  # The walk writes its source; s itself is an input.
    list_topologically(trace, A, s, topo_h, topo_head_h, color, s_prev, walk_source, u, v, s_last)
    phase[0] = 1
    i = s[0]
    mark[i] = 1
    record(trace)
    while topo_h[i] != i:
        for j in range(A.shape[0]):
            if A[i, j] != 0 and (not mark[j] or d[i] + A[i, j] < d[j]):
                d[j] = d[i] + A[i, j]
                pi_h[j] = i
                mark[j] = 1
        i = topo_head_h[0] = topo_h[i]
        record(trace)


@compiled
def kosaraju(trace, A, scc_id_h, A_t, color, d, f, s_prev, s, u, v, s_last, time, phase):
    """Kosaraju's strongly connected components (Sharir, 1981).

    The second walk follows the edges backwards, from the node that the first one finished last, and
    so on: the white nodes that it reaches from a source are the source's component.
    """
    adjacency(A.T, A_t)
    start_at_self(scc_id_h)
    for event in walk(A, np.arange(A.shape[0]), color, s_prev, s, u, v, s_last):
        stamp(event, u, d, f, time)
        record(trace)
    phase[0] = 1
    for event in walk(A.T, order(-f), color, s_prev, s, u, v, s_last):
        if event == DISCOVER:
            scc_id_h[u[0]] = s[0]
        # dm-clrs stamps a second discovery on sources only.
        if recolors(event, s, u):
            stamp(event, u, d, f, time)
            record(trace)


dfs = Task(
    "dfs",
    """
    pos     input   node   scalar              # the node's position, which names it
    A       input   edge   scalar       whole  # 1 where there is an edge
    adj     input   edge   mask                # there is an edge, or a loop
    pi      output  node   pointer             # the parent
    pi_h    hint    node   pointer             # the parent so far, itself without one
    color   hint    node   categorical  3      # white, grey (on the stack) or black (finished)
    d       hint    node   scalar              # time of discovery, in hundredths
    f       hint    node   scalar              # time of finishing, in hundredths
    s_prev  hint    node   pointer             # the node below on the stack
    s       hint    node   mask_one            # the root of the present walk
    u       hint    node   mask_one            # the node in work
    v       hint    node   mask_one            # the neighbour that is looked at
    s_last  hint    node   mask_one            # the top of the stack
    time    hint    graph  scalar              # events so far, in hundredths
    """,
    draw_directed_graph,
    depth_first_search,
    options=DIRECTED,
    needs=(needs.unweighted,),
)

dfs_simplified = dataclasses.replace(
    dfs,
    name="dfs_simplified",
    table="""
    pos    input   node  scalar              # the node's position, which names it
    A      input   edge  scalar       whole  # 1 where there is an edge
    adj    input   edge  mask                # there is an edge, or a loop
    pi     output  node  pointer             # the parent
    pi_h   hint    node  pointer             # the parent so far, itself without one
    color  hint    node  categorical  3      # white, grey (on the stack) or black (finished)
    """,
    algorithm=depth_first_search_in_brief,
    variant_of="dfs",
)

topological_sort = Task(
    "topological_sort",
    """
    pos          input   node  scalar              # the node's position, which names it
    A            input   edge  scalar       whole  # 1 where there is an edge
    adj          input   edge  mask                # there is an edge, or a loop
    topo         output  node  pointer             # the next node in topological order
    topo_head    output  node  mask_one            # the first node of the order
    topo_h       hint    node  pointer             # the next in the order so far
    topo_head_h  hint    node  mask_one            # the first of the order so far
    color        hint    node  categorical  3      # white, grey (on the stack) or black (finished)
    s_prev       hint    node  pointer             # the node below on the stack
    s            hint    node  mask_one            # the root of the present walk
    u            hint    node  mask_one            # the node in work
    v            hint    node  mask_one            # the neighbour that is looked at
    s_last       hint    node  mask_one            # the top of the stack
    """,
    draw_acyclic_graph,
    topological_ordering,
    options=edge_probability(0.5),
    needs=(needs.unweighted, needs.acyclic),
)

dag_shortest_paths = Task(
    "dag_shortest_paths",
    """
    pos          input   node   scalar          # the node's position, which names it
    s            input   node   mask_one        # the source
    A            input   edge   scalar          # weight of the edge, 0 where there is none
    adj          input   edge   mask            # there is an edge, or a loop
    pi           output  node   pointer         # the parent
    pi_h         hint    node   pointer         # the parent so far, itself without one
    d            hint    node   scalar          # shortest distance from the source so far
    mark         hint    node   mask            # has a distance
    topo_h       hint    node   pointer         # the next in the order so far
    topo_head_h  hint    node   mask_one        # the first of the order, then the node relaxed
    color        hint    node   categorical  3  # white, grey (on the stack) or black (finished)
    s_prev       hint    node   pointer         # the node below on the stack
    u            hint    node   mask_one        # the node in work
    v            hint    node   mask_one        # the neighbour that is looked at
    s_last       hint    node   mask_one        # the top of the stack
    phase        hint    graph  mask            # relaxing, the order is known
    """,
    draw_weighted_acyclic_graph_and_source,
    shortest_paths_in_order,
    options=edge_probability(0.5) | RANGE,
    needs=(needs.acyclic,),
)

strongly_connected_components = Task(
    "strongly_connected_components",
    """
    pos       input   node   scalar          # the node's position, which names it
    A         input   edge   scalar          # 1 where there is an edge
    adj       input   edge   mask            # there is an edge, or a loop
    scc_id    output  node   pointer         # a node that stands for the component
    scc_id_h  hint    node   pointer         # the same, so far
    A_t       hint    edge   mask            # the edge in the other direction
    color     hint    node   categorical  3  # white, grey (on the stack) or black (finished)
    d         hint    node   scalar          # time of discovery, in hundredths
    f         hint    node   scalar          # time of finishing, in hundredths
    s_prev    hint    node   pointer         # the node below on the stack
    s         hint    node   mask_one        # the root of the present walk
    u         hint    node   mask_one        # the node in work
    v         hint    node   mask_one        # the neighbour that is looked at
    s_last    hint    node   mask_one        # the top of the stack
    time      hint    graph  scalar          # events so far, in hundredths
    phase     hint    graph  mask            # the second walk, along reversed edges
    """,
    draw_communities,
    kosaraju,
    options=COMMUNITIES,
    smallest=4,
    needs=(needs.unweighted,),
)
