"""Programs that are wrong on purpose: controls for measures of the mechanism.

The first three give wrong answers. The others give the right output on most problems, by another
mechanism than the algorithm's.
"""

from algoscope.programs.library import (
    bellman_ford,
    breadth_first,
    minimum,
    priority_first,
    variants,
)
from algoscope.programs.parser import parse, rewritten

BFS_HIGHEST = rewritten("bfs_highest", breadth_first.BFS, {"minimum": "maximum"})

BFS_DRIFTING = rewritten(
    "bfs_drifting",
    breadth_first.BFS,
    {
        "once(parent.idx, when=": "(parent.idx if ",
        "and not visit)": "and not input.s else 0)",
    },
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

    hint.msk = visit
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """,
)

BFS_TWO_HOPS = rewritten(
    "bfs_two_hops",
    variants.BFS_TWO_HEADS,
    {"other.found": "other.near", "parent.found": "parent.near"},
)

BELLMAN_FORD_HASTY = rewritten(
    "bellman_ford_hasty",
    bellman_ford.BELLMAN_FORD,
    {
        "best = minimum": """
nearest = minimum(edge.A + 0.25 * positive(1 - 32 * edge.A), where=other.visit)
best = minimum""",
        "dist = best.dist": """
dist = (nearest.dist + nearest.edge.A if nearest.visit and not visit else 0) + (best.dist""",
        "pi = best.idx": """
pi = (nearest.idx if nearest.visit and not visit else 0) + (best.idx""",
        "if best.visit and not input.s else 0": "if found else 0)",
    },
)

MINIMUM_AT_ONCE = rewritten(
    "minimum_at_once",
    minimum.MINIMUM,
    {
        "seen: Bool": "",
        "seen = seen or (hint.i and not seen) or (before.hint.i and not seen and not hint.i)": "",
        "2 * seen": "2",
    },
)

PRIM_TILTED = rewritten(
    "prim_tilted", priority_first.MST_PRIM, {"edge.A + 8": "edge.A + 0.001 * other.idx + 8"}
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
