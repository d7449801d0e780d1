"""Programs that test the verdict blind: nothing was measured of them before measures and thresholds
were fixed, and they are no part of the library.
"""

from algoscope.programs import GraphProgram, Role
from algoscope.programs.library import (
    bellman_ford,
    breadth_first,
    depth_first,
    minimum,
    priority_first,
)
from algoscope.programs.parser import rewritten

_BFS_IN_ROUNDS = rewritten(
    "bfs_in_rounds",
    breadth_first.BFS,
    {
        "pi: Node": "pi: Node\noffered: Bool\ngiver: Node",
        "found = parent.visit and not input.s": "offered = parent.visit and not visit",
        "pi = once(parent.idx, when=parent.visit and not visit)": """
giver = parent.idx if parent.visit and not visit else 0

then

found = found or offered
pi = pi + giver
""",
    },
)
"""A round reads, another takes over what was read."""

_BELLMAN_FORD_HALVED = rewritten(
    "bellman_ford_halved",
    bellman_ford.BELLMAN_FORD,
    {
        "Float(6)": "Float(3)",
        "other.dist + edge.A + 0.25": "other.dist + 0.5 * edge.A + 0.125",
        "best.edge.A": "0.5 * best.edge.A",
        "hint.d = dist": "hint.d = 2 * dist",
    },
)
"""Distances are kept, compared and added at half their size."""

_DIJKSTRA_HALVED = rewritten(
    "dijkstra_halved",
    priority_first.DIJKSTRA,
    {
        "Float(6)": "Float(3)",
        "other.dist + edge.A": "other.dist + 0.5 * edge.A",
        "best.edge.A": "0.5 * best.edge.A",
        "hint.d = dist": "hint.d = 2 * dist",
    },
)
"""The same."""

_BELLMAN_FORD_AVOIDING = rewritten(
    "bellman_ford_avoiding",
    bellman_ford.BELLMAN_FORD,
    {"edge.A + 0.25": "edge.A + 4 * positive(edge.A - 0.75) + 0.25"},
)
"""Long edges, which few shortest paths use, seem longer than they are."""

_PRIM_HURRIED = rewritten(
    "prim_hurried",
    priority_first.MST_PRIM,
    {"minimum(other.key,": "minimum(other.key + 0.01 * other.idx,"},
)
"""Takes low nodes from the queue a little too early."""

_MINIMUM_BUT_FIRST = rewritten(
    "minimum_but_first", minimum.MINIMUM, {"(hint.i and not seen) or ": ""}
)
"""Never looks at the first key."""

_DFS_HIGHEST_ROOT = rewritten(
    "dfs_highest_root",
    depth_first.DFS,
    {
        "low = minimum": "low = maximum",
        "lead = 1 + N * (low.idx - idx)": "lead = 1 + N * (idx - low.idx)",
    },
)
"""Goes on with the last unvisited node, not the first, when a tree is done: a search that is right
wherever one tree holds all."""

PROGRAMS: dict[str, tuple[GraphProgram, Role]] = {
    program.name: (program, role)
    for role, of_role in {
        Role.VARIANT: (_BFS_IN_ROUNDS, _BELLMAN_FORD_HALVED, _DIJKSTRA_HALVED),
        Role.WRONG: (_BELLMAN_FORD_AVOIDING, _PRIM_HURRIED, _MINIMUM_BUT_FIRST, _DFS_HIGHEST_ROOT),
    }.items()
    for program in of_role
}
"""By name, with the truth."""
