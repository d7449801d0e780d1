"""Shortcuts: programs that answer most problems right and are another algorithm.

They leap, stop early, look ahead, or compare by something that is almost the right thing.
"""

from algoscope.programs.library import (
    bellman_ford,
    breadth_first,
    minimum,
    priority_first,
    variants,
)
from algoscope.programs.parser import parse, rewritten

_LEVEL = breadth_first.BFS.text.partition("visit = found or input.s")[2].partition("hint.")[0]
_RELAXATION = bellman_ford.BELLMAN_FORD.text.partition("visit = hint.msk")[2].partition("hint.")[0]

BFS_LEAPING = rewritten("bfs_leaping", breadth_first.BFS, {_LEVEL: f"{_LEVEL}then\n{_LEVEL}"})
"""Two levels a step."""

BFS_THREE_STEPS = rewritten(
    "bfs_three_steps",
    breadth_first.BFS,
    {
        "pi: Node": "pi: Node\none: Bool\ntwo: Bool\nthree: Bool",
        "found = parent.visit and not input.s": """
one = one or not one
two = one
three = two
found = found or (parent.visit and not visit and not three)""",
        "when=parent.visit and not visit": "when=parent.visit and not visit and not three",
    },
)
"""No level beyond the third."""

BFS_LATE_CHOICE = rewritten(
    "bfs_late_choice",
    variants.BFS_TWO_HEADS,
    {
        "where=other.found)": """where=other.near)
other_parent = minimum(other.idx, where=other.visit)""",
        "parent.found": "other_parent.visit",
    },
)
"""Reaches every level, but looks for parents among the source's neighbours alone."""

BELLMAN_FORD_LEAPING = rewritten(
    "bellman_ford_leaping",
    bellman_ford.BELLMAN_FORD,
    {
        "visit = hint.msk": "visit = found or input.s",
        _RELAXATION: f"{_RELAXATION}then\n{_RELAXATION}",
    },
)
"""Two relaxations a step."""

BELLMAN_FORD_FIVE_STEPS = rewritten(
    "bellman_ford_five_steps",
    bellman_ford.BELLMAN_FORD,
    {
        "pi: Node": "pi: Node\none: Bool\ntwo: Bool\nthree: Bool\nfour: Bool\nfive: Bool",
        "not input.s": "not input.s and not five",
        "found = best.visit and not input.s and not five": """
one = one or not one
two = one
three = two
four = three
five = four
found = (found and five) or (best.visit and not input.s and not five)""",
        "dist = ": "dist = (dist if five else 0) + (",
        "pi = best": "pi = (pi if five else 0) + (best",
        " else 0\n": " else 0)\n",
    },
)
"""No path of more than five edges."""

BELLMAN_FORD_ROUGH = rewritten(
    "bellman_ford_rough",
    bellman_ford.BELLMAN_FORD,
    {"other.dist + ": "other.dist + 0.01 * other.idx + "},
)
"""Prefers low nodes a little."""

BELLMAN_FORD_TILTED = rewritten(
    "bellman_ford_tilted",
    bellman_ford.BELLMAN_FORD,
    {"other.dist + edge.A": "other.dist + 0.98 * edge.A"},
)
"""Prefers short last edges a little."""

DIJKSTRA_RELAXING = parse(
    "dijkstra_relaxing",
    "dijkstra",
    """
    found: Bool
    mark: Bool
    taken: Bool
    dist: Float(6)
    pi: Node

    reached = found or input.s
    best = minimum(other.dist + edge.A, where=other.reached and edge.A > 0)

    mark = reached
    taken = input.s
    found = best.reached and best.edge.adj and not input.s
    dist = best.dist + best.edge.A if best.reached and best.edge.adj and not input.s else 0
    pi = best.idx if best.reached and best.edge.adj and not input.s else 0

    hint.mark = mark
    hint.in_queue = reached - mark
    hint.u = taken
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """,
    everyone=True,
)
"""Bellman-Ford: relaxes all edges in every step, and never chooses a node."""

DIJKSTRA_TILTED = rewritten(
    "dijkstra_tilted",
    priority_first.DIJKSTRA,
    {"other.dist + edge.A": "other.dist + 0.98 * edge.A"},
)
"""Prefers short last edges a little."""

MINIMUM_TILTED = rewritten(
    "minimum_tilted", minimum.MINIMUM, {"- input.key": "- input.key - 0.002 * idx"}
)
"""Prefers early keys a little."""

MINIMUM_AHEAD = rewritten(
    "minimum_ahead",
    minimum.MINIMUM,
    {
        "pred = before.idx\n": """pred = before.idx

then

before = minimum(other.idx)

seen = seen or (before.at and not seen)
"""
    },
)
"""Takes the next key into account, too."""
