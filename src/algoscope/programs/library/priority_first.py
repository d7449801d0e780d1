"""Dijkstra and Prim: three rounds a step. All nodes find the nearest queued one, that one learns
that it is taken, and all read the best of the marked.
"""

from algoscope.programs.reading import parse

DIJKSTRA = parse(
    "dijkstra",
    "dijkstra",
    """
    found: Bool
    mark: Bool
    taken: Bool
    dist: Float(6)
    pi: Node

    reached = found or input.s
    queued = reached - mark
    nearest = minimum(other.dist, where=other.queued)

    taken = same(idx, nearest.idx)

    then

    taken = sure(taken)

    then

    marked = mark or taken
    best = minimum(other.dist + edge.A, where=other.marked and edge.A > 0)

    mark = marked
    found = best.marked and best.edge.adj and not input.s
    dist = best.dist + best.edge.A if best.marked and best.edge.adj and not input.s else 0
    pi = best.idx if best.marked and best.edge.adj and not input.s else 0

    hint.mark = mark
    hint.in_queue = reached - mark
    hint.u = taken
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """,
    everyone=True,
    resolution=2.0**18,
)

MST_PRIM = parse(
    "mst_prim",
    "mst_prim",
    """
    found: Bool
    mark: Bool
    taken: Bool
    key: Float(2)
    pi: Node

    reached = found or input.s
    queued = reached - mark
    nearest = minimum(other.key, where=other.queued)

    taken = same(idx, nearest.idx)

    then

    taken = sure(taken)

    then

    marked = mark or taken
    best = minimum(edge.A, where=other.marked and edge.A > 0)

    mark = marked
    found = (found and marked) or (best.marked and best.edge.adj and not marked)
    key = (key if marked else 0) + (
        best.edge.A if best.marked and best.edge.adj and not marked else 0
    )
    pi = (pi if marked else 0) + (best.idx if best.marked and best.edge.adj and not marked else 0)

    hint.mark = mark
    hint.in_queue = reached - mark
    hint.u = taken
    hint.key = key
    hint.pi_h = output.pi = pi if found else idx
    """,
    everyone=True,
    resolution=2.0**18,
)
