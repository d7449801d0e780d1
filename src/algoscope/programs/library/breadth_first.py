"""Breadth-first search as three exact programs: a class of references.

They settle the parent once, and differ in what a settled node reads: the lowest visited neighbour,
its parent, or itself.
"""

from algoscope.programs.parser import parse

_SHOW_BFS = """
    hint.reach_h = visit
    hint.pi_h = output.pi = pi if found else idx
    """

BFS = parse(
    "bfs",
    "bfs",
    """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = minimum(other.idx, where=other.visit)

    found = parent.visit and not input.s
    pi = once(parent.idx, when=parent.visit and not visit)
    """
    + _SHOW_BFS,
)

BFS_LOCKED = parse(
    "bfs_locked",
    "bfs",
    """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = minimum(other.idx + 2 * positive(pi - other.idx + found - 1), where=other.visit)

    found = parent.visit and not input.s
    pi = parent.idx if parent.visit and not input.s else 0
    """
    + _SHOW_BFS,
)

BFS_SELF = parse(
    "bfs_self",
    "bfs",
    """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = minimum(other.idx + 2 * positive(idx - other.idx + visit - 1), where=other.visit)

    found = parent.visit and not input.s
    pi = once(parent.idx, when=parent.visit and not visit)
    """
    + _SHOW_BFS,
)
