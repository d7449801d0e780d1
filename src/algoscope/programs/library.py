"""The programs that come with Algoscope."""

from algoscope.programs.reading import parse

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

BELLMAN_FORD = parse(
    "bellman_ford",
    "bellman_ford",
    """
    found: Bool
    dist: Float(8)
    pi: Node

    visit = found or input.s
    best = minimum(other.dist + edge.A, where=other.visit and edge.A > 0)

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0

    hint.msk = visit
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """,
)

MINIMUM = parse(
    "minimum",
    "minimum",
    """
    seen: Bool
    at: Bool
    pred: Node

    before = minimum(other.idx)

    at = before.hint.i and not hint.i
    seen = seen or (hint.i and not seen) or (before.hint.i and not seen and not hint.i)
    pred = before.idx

    hint.pred_h = pred
    hint.i = at
    hint.min_h = output.min = 2 * seen - input.key
    """,
)
