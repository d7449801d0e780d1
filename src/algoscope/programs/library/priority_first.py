"""Dijkstra and Prim: four rounds a step. All nodes find the nearest queued one, that one learns
that it is taken, and those that are not marked yet read the best of the marked.
"""

from algoscope.programs.parser import parse

_TAKE_NEAREST = """
    reached = found or input.s
    queued = reached - mark
    nearest = minimum(other.{distance}, where=other.queued)

    before = 1 + 2 * N * (nearest.idx - idx)    # 1 for the nearest, 0 or at least 3 for others
    after = 1 + 2 * N * (idx - nearest.idx)

    then

    taken = 3 - before - after

    then

    mark = mark or taken
    unmarked = 1 - mark - taken

    then
    """

DIJKSTRA = parse(
    "dijkstra",
    "dijkstra",
    """
    found: Bool
    mark: Bool
    before: Float(2 * N + 1)
    after: Float(2 * N + 1)
    taken: Bool
    unmarked: Bool
    dist: Float(6)
    pi: Node
    """
    + _TAKE_NEAREST.format(distance="dist")
    + """
    best = minimum(other.dist + edge.A + 8 * other.unmarked, where=edge.adj)

    found = (found and not unmarked) or (not best.unmarked and not mark)
    dist = (dist if not unmarked else 0) + (
        best.dist + best.edge.A if not best.unmarked and not mark else 0
    )
    pi = (pi if not unmarked else 0) + (
        best.idx if not best.unmarked and not mark else 0
    )

    hint.mark = mark
    hint.in_queue = reached - mark
    hint.u = taken
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """,
    everyone=True,
)

MST_PRIM = parse(
    "mst_prim",
    "mst_prim",
    """
    found: Bool
    mark: Bool
    before: Float(2 * N + 1)
    after: Float(2 * N + 1)
    taken: Bool
    unmarked: Bool
    key: Float(2)
    pi: Node
    """
    + _TAKE_NEAREST.format(distance="key")
    + """
    best = minimum(edge.A + 8 * other.unmarked, where=edge.adj)

    found = (found and not unmarked) or (not best.unmarked and not mark)
    key = (key if not unmarked else 0) + (
        best.edge.A if not best.unmarked and not mark else 0
    )
    pi = (pi if not unmarked else 0) + (
        best.idx if not best.unmarked and not mark else 0
    )

    hint.mark = mark
    hint.in_queue = reached - mark
    hint.u = taken
    hint.key = key
    hint.pi_h = output.pi = pi if found else idx
    """,
    everyone=True,
)
