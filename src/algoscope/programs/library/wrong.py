"""Programs that are wrong on purpose: controls for measures of the mechanism.

The first three give wrong answers. The others give the right output on most problems, by another
mechanism than the algorithm's.
"""

from algoscope.programs.library import priority_first
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

BFS_HIGHEST = parse(
    "bfs_highest",
    "bfs",
    """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = maximum(other.idx, where=other.visit)

    found = parent.visit and not input.s
    pi = once(parent.idx, when=parent.visit and not visit)
    """
    + _SHOW_BFS,
)

BFS_DRIFTING = parse(
    "bfs_drifting",
    "bfs",
    """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = minimum(other.idx, where=other.visit)

    found = parent.visit and not input.s
    pi = parent.idx if parent.visit and not input.s else 0
    """
    + _SHOW_BFS,
)

BELLMAN_FORD_HOPS = parse(
    "bellman_ford_hops",
    "bellman_ford",
    """
    found: Bool
    dist: Float(32)
    pi: Node

    visit = found or input.s
    best = minimum(other.dist + 0.25 * other.idx, where=other.visit and edge.A > 0)

    found = best.visit and not input.s
    dist = best.dist + 0.5 if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0
    """
    + _SHOW_BELLMAN_FORD,
)

BFS_TWO_HOPS = parse(
    "bfs_two_hops",
    "bfs",
    """
    near: Bool
    far: Bool
    pi: Node

    found = near or far
    visit = near or far or input.s
    source = maximum(other.input.s)
    parent = minimum(other.idx, where=other.near)

    near = source.input.s and not input.s
    far = far or (parent.near and not visit and not source.input.s)
    pi = pi + (source.idx if source.input.s and not visit else 0) + (
        parent.idx if parent.near and not visit and not source.input.s else 0
    )
    """
    + _SHOW_BFS,
)

BELLMAN_FORD_HASTY = parse(
    "bellman_ford_hasty",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node

    visit = found or input.s
    nearest = minimum(edge.A, where=other.visit and edge.A > 0)
    best = minimum(other.dist + edge.A, where=other.visit and edge.A > 0)

    found = best.visit and not input.s
    dist = (nearest.dist + nearest.edge.A if nearest.visit and not visit else 0) + (
        best.dist + best.edge.A if found else 0
    )
    pi = (nearest.idx if nearest.visit and not visit else 0) + (best.idx if found else 0)
    """
    + _SHOW_BELLMAN_FORD,
)

MINIMUM_AT_ONCE = parse(
    "minimum_at_once",
    "minimum",
    """
    at: Bool
    pred: Node

    before = minimum(other.idx)

    at = before.hint.i and not hint.i
    pred = before.idx

    hint.pred_h = pred
    hint.i = at
    hint.min_h = output.min = 2 - input.key
    """,
)

BELLMAN_FORD_TILTED = parse(
    "bellman_ford_tilted",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node

    visit = found or input.s
    best = minimum(other.dist + 0.98 * edge.A, where=other.visit and edge.A > 0)

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0
    """
    + _SHOW_BELLMAN_FORD,
)

PRIM_TILTED = parse(
    "prim_tilted",
    "mst_prim",
    priority_first.MST_PRIM.text.replace("edge.A + 8", "edge.A + 0.001 * other.idx + 8"),
    everyone=True,
)

MINIMUM_BACKWARDS = parse(
    "minimum_backwards",
    "minimum",
    """
    seen: Bool
    at: Bool
    last: Bool
    pred: Node

    after = maximum(other.idx)

    last = after.idx <= idx

    then

    before = minimum(other.idx)
    after = maximum(other.idx)

    at = (last and not seen) or (after.at and not at and not seen and not last)
    seen = seen or (last and not seen) or (after.seen and not seen and not last)
    pred = before.idx

    hint.pred_h = pred
    hint.i = at
    hint.min_h = output.min = 2 * seen - input.key
    """,
)
