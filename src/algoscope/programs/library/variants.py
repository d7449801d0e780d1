"""Exact programs in unusual forms. They run the algorithm and are no references, so that a verdict
can be tested on true mechanisms that its references do not show.
"""

from algoscope.programs.reading import parse

_SHOW_BFS = """
    hint.reach_h = visit
    hint.pi_h = output.pi = pi if found else idx
    """
_SHOW_BELLMAN_FORD = """
    hint.msk = visit
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """

BFS_FRONTIER = parse(
    "bfs_frontier",
    "bfs",
    """
    found: Bool
    old: Bool
    pi: Node

    visit = found or input.s
    fresh = visit - old
    parent = minimum(other.idx, where=other.fresh)

    old = visit
    found = found or (parent.fresh and not visit)
    pi = once(parent.idx, when=parent.fresh and not visit)
    """
    + _SHOW_BFS,
)
"""Nodes read only those that were reached a step ago."""

BFS_SOURCE_FIRST = parse(
    "bfs_source_first",
    "bfs",
    """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = minimum(other.idx - 2 * other.input.s, where=other.visit)

    found = parent.visit and not input.s
    pi = once(parent.idx, when=parent.visit and not visit)
    """
    + _SHOW_BFS,
)
"""The source's neighbours read the source for ever."""

BFS_RESTLESS = parse(
    "bfs_restless",
    "bfs",
    """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = minimum(
        other.idx + 4 * positive(0.5 * visit - 0.5 * other.idx) - 2 * visit, where=other.visit
    )

    found = parent.visit and not input.s
    pi = once(parent.idx, when=parent.visit and not visit)
    """
    + _SHOW_BFS,
)
"""Settled nodes read the highest visited neighbour."""

BFS_TWO_HEADS = parse(
    "bfs_two_heads",
    "bfs",
    """
    near: Bool
    far: Bool
    pi: Node

    found = near or far
    visit = near or far or input.s
    source = maximum(other.input.s)
    parent = minimum(other.idx, where=other.found)

    near = source.input.s and not input.s
    far = far or (parent.found and not visit and not source.input.s)
    pi = pi + (source.idx if source.input.s and not visit else 0) + (
        parent.idx if parent.found and not visit and not source.input.s else 0
    )
    """
    + _SHOW_BFS,
)
"""One head looks for the source, the other for all that were reached."""

BELLMAN_FORD_IN_ROUNDS = parse(
    "bellman_ford_in_rounds",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node
    offered: Bool
    offer: Float(8)
    giver: Node

    visit = found or input.s
    best = minimum(other.dist + edge.A, where=other.visit and edge.A > 0)

    offered = best.visit and not input.s
    offer = best.dist + best.edge.A if best.visit and not input.s else 0
    giver = best.idx if best.visit and not input.s else 0

    then

    found = offered
    dist = offer
    pi = giver
    """
    + _SHOW_BELLMAN_FORD,
)
"""A round reads, another takes over what was read."""

BELLMAN_FORD_BY_HINTS = parse(
    "bellman_ford_by_hints",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node

    best = minimum(other.hint.d + edge.A, where=other.hint.msk and edge.A > 0)

    found = best.hint.msk and not input.s
    dist = best.hint.d + best.edge.A if best.hint.msk and not input.s else 0
    pi = best.idx if best.hint.msk and not input.s else 0

    visit = found or input.s
    """
    + _SHOW_BELLMAN_FORD,
)
"""The state goes from step to step through the hints alone."""

DIJKSTRA_BY_HINTS = parse(
    "dijkstra_by_hints",
    "dijkstra",
    """
    found: Bool
    mark: Bool
    taken: Bool
    dist: Float(6)
    pi: Node

    reached = found or input.s
    nearest = minimum(other.hint.d, where=other.hint.in_queue)

    taken = same(idx, nearest.idx)

    then

    taken = sure(taken)

    then

    marked = hint.mark or taken
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
"""The queue and the marks are read from the hints."""

PRIM_BY_HINTS = parse(
    "prim_by_hints",
    "mst_prim",
    """
    found: Bool
    mark: Bool
    taken: Bool
    key: Float(2)
    pi: Node

    reached = found or input.s
    nearest = minimum(other.hint.key, where=other.hint.in_queue)

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
"""The queue is read from the hints."""

MINIMUM_BY_STATE = parse(
    "minimum_by_state",
    "minimum",
    """
    started: Bool
    seen: Bool
    at: Bool
    pred: Node

    before = minimum(other.idx)

    started = started or (hint.i and not started) or (before.hint.i and not started and not hint.i)
    at = (before.hint.i and not before.started and not hint.i) or (before.at and not at)
    seen = seen or (hint.i and not seen) or (before.hint.i and not seen and not hint.i)
    pred = before.idx

    hint.pred_h = pred
    hint.i = at
    hint.min_h = output.min = 2 * seen - input.key
    """,
)
"""The cursor's place is kept in the state; the hints only say where it starts."""
