"""Exact programs in unusual forms. They run the algorithm and are no references, so that a verdict
can be tested on true mechanisms that its references do not show.
"""

from algoscope.programs.library import bellman_ford, breadth_first, minimum, priority_first
from algoscope.programs.parser import rewritten

BFS_FRONTIER = rewritten(
    "bfs_frontier",
    breadth_first.BFS,
    {
        "pi: Node": "old: Bool\npi: Node",
        "parent = minimum(other.idx, where=other.visit)": """
fresh = visit - old
parent = minimum(other.idx, where=other.fresh)
old = visit""",
        "parent.visit and not input.s": "found or (parent.fresh and not visit)",
        "parent.visit": "parent.fresh",
    },
)
"""Nodes read only those that were reached a step ago."""

BFS_SOURCE_FIRST = rewritten(
    "bfs_source_first",
    breadth_first.BFS,
    {"minimum(other.idx,": "minimum(other.idx - 2 * other.input.s,"},
)
"""The source's neighbours read the source for ever."""

BFS_RESTLESS = rewritten(
    "bfs_restless",
    breadth_first.BFS,
    {
        "minimum(other.idx,": """minimum(
    other.idx + 4 * positive(0.5 * visit - 0.5 * other.idx) - 2 * visit,"""
    },
)
"""Settled nodes read the highest visited neighbour."""

BFS_TWO_HEADS = rewritten(
    "bfs_two_heads",
    breadth_first.BFS,
    {
        "found: Bool": "near: Bool\nfar: Bool",
        "visit = found or input.s": """
found = near or far
visit = near or far or input.s
source = maximum(other.input.s)""",
        "where=other.visit": "where=other.found",
        "found = parent.visit and not input.s": """
near = source.input.s and not input.s
far = far or (parent.found and not visit and not source.input.s)""",
        "pi = once(parent.idx, when=parent.visit and not visit)": """
pi = pi + (source.idx if source.input.s and not visit else 0) + (
    parent.idx if parent.found and not visit and not source.input.s else 0
)""",
    },
)
"""One head looks for the source, the other for all that were reached."""

BELLMAN_FORD_IN_ROUNDS = rewritten(
    "bellman_ford_in_rounds",
    bellman_ford.BELLMAN_FORD,
    {
        "found = best": "offered = best",
        "dist = best": "offer = best",
        "pi = best": "giver = best",
        "pi: Node": "pi: Node\noffered: Bool\noffer: Float(8)\ngiver: Node",
        "hint.msk = found": """
then

found = offered
dist = offer
pi = giver

hint.msk = found""",
    },
)
"""A round reads, another takes over what was read."""

BELLMAN_FORD_BY_HINTS = rewritten(
    "bellman_ford_by_hints",
    bellman_ford.BELLMAN_FORD,
    {"other.dist": "other.hint.d", "best.dist": "best.hint.d"},
)
"""The state goes from step to step through the hints alone."""

DIJKSTRA_BY_HINTS = rewritten(
    "dijkstra_by_hints",
    priority_first.DIJKSTRA,
    {
        "other.dist, where=other.queued": "other.hint.d, where=other.hint.in_queue",
        "mark = mark or taken": "mark = hint.mark or taken",
        "unmarked = 1 - mark - taken": "unmarked = 1 - hint.mark - taken",
    },
)
"""The queue and the marks are read from the hints."""

PRIM_BY_HINTS = rewritten(
    "prim_by_hints",
    priority_first.MST_PRIM,
    {"other.key, where=other.queued": "other.hint.key, where=other.hint.in_queue"},
)
"""The queue is read from the hints."""

MINIMUM_BY_STATE = rewritten(
    "minimum_by_state",
    minimum.MINIMUM,
    {
        "seen: Bool": "started: Bool\nseen: Bool",
        "at = before.hint.i and not hint.i": """
started = started or (hint.i and not started) or (before.hint.i and not started and not hint.i)
at = (before.hint.i and not before.started and not hint.i) or (before.at and not at)""",
    },
)
"""The cursor's place is kept in the state; the hints only say where it starts."""
