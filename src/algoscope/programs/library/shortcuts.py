"""Shortcuts: programs that answer most problems right and are another algorithm.

They leap, stop early, look ahead, or compare by something that is almost the right thing.
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

BFS_LEAPING = parse(
    "bfs_leaping",
    "bfs",
    """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = minimum(other.idx, where=other.visit)

    found = parent.visit and not input.s
    pi = once(parent.idx, when=parent.visit and not visit)

    then

    parent = minimum(other.idx, where=other.visit)

    found = parent.visit and not input.s
    pi = once(parent.idx, when=parent.visit and not visit)
    """
    + _SHOW_BFS,
)
"""Two levels a step."""

BFS_THREE_STEPS = parse(
    "bfs_three_steps",
    "bfs",
    """
    found: Bool
    pi: Node
    one: Bool
    two: Bool
    three: Bool

    visit = found or input.s
    parent = minimum(other.idx, where=other.visit)

    one = one or not one
    two = one
    three = two
    found = found or (parent.visit and not visit and not three)
    pi = once(parent.idx, when=parent.visit and not visit and not three)
    """
    + _SHOW_BFS,
)
"""No level beyond the third."""

BFS_LATE_CHOICE = parse(
    "bfs_late_choice",
    "bfs",
    """
    near: Bool
    far: Bool
    pi: Node

    found = near or far
    visit = near or far or input.s
    source = maximum(other.input.s)
    parent = minimum(other.idx, where=other.near)
    other_parent = minimum(other.idx, where=other.visit)

    near = source.input.s and not input.s
    far = far or (other_parent.visit and not visit and not source.input.s)
    pi = pi + (source.idx if source.input.s and not visit else 0) + (
        parent.idx if other_parent.visit and not visit and not source.input.s else 0
    )
    """
    + _SHOW_BFS,
)
"""Reaches every level, but looks for parents among the source's neighbours alone."""

BELLMAN_FORD_LEAPING = parse(
    "bellman_ford_leaping",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node

    visit = found or input.s
    best = minimum(other.dist + edge.A, where=other.visit and edge.A > 0)

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0

    then

    best = minimum(other.dist + edge.A, where=other.visit and edge.A > 0)

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0
    """
    + _SHOW_BELLMAN_FORD,
)
"""Two relaxations a step."""

BELLMAN_FORD_FIVE_STEPS = parse(
    "bellman_ford_five_steps",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node
    one: Bool
    two: Bool
    three: Bool
    four: Bool
    five: Bool

    visit = found or input.s
    best = minimum(other.dist + edge.A, where=other.visit and edge.A > 0)

    one = one or not one
    two = one
    three = two
    four = three
    five = four
    found = (found and five) or (best.visit and not input.s and not five)
    dist = (dist if five else 0) + (
        best.dist + best.edge.A if best.visit and not input.s and not five else 0
    )
    pi = (pi if five else 0) + (best.idx if best.visit and not input.s and not five else 0)
    """
    + _SHOW_BELLMAN_FORD,
)
"""No path of more than five edges."""

BELLMAN_FORD_ROUGH = parse(
    "bellman_ford_rough",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node

    visit = found or input.s
    best = minimum(
        other.dist + edge.A + 0.01 * other.idx, where=other.visit and edge.A > 0
    )

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0
    """
    + _SHOW_BELLMAN_FORD,
)
"""Prefers low nodes a little."""

_SHOW_DIJKSTRA = """
    hint.mark = mark
    hint.in_queue = reached - mark
    hint.u = taken
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """

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
    """
    + _SHOW_DIJKSTRA,
    everyone=True,
)
"""Bellman-Ford: relaxes all edges in every step, and never chooses a node."""

DIJKSTRA_TILTED = parse(
    "dijkstra_tilted",
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
    best = minimum(other.dist + 0.98 * edge.A, where=other.marked and edge.A > 0)

    mark = marked
    found = best.marked and best.edge.adj and not input.s
    dist = best.dist + best.edge.A if best.marked and best.edge.adj and not input.s else 0
    pi = best.idx if best.marked and best.edge.adj and not input.s else 0
    """
    + _SHOW_DIJKSTRA,
    everyone=True,
    resolution=2.0**18,
)
"""Prefers short last edges a little."""

MINIMUM_TILTED = parse(
    "minimum_tilted",
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
    hint.min_h = output.min = 2 * seen - input.key - 0.002 * idx
    """,
)
"""Prefers early keys a little."""

MINIMUM_AHEAD = parse(
    "minimum_ahead",
    "minimum",
    """
    seen: Bool
    at: Bool
    pred: Node

    before = minimum(other.idx)

    at = before.hint.i and not hint.i
    seen = seen or (hint.i and not seen) or (before.hint.i and not seen and not hint.i)
    pred = before.idx

    then

    before = minimum(other.idx)

    seen = seen or (before.at and not seen)

    hint.pred_h = pred
    hint.i = at
    hint.min_h = output.min = 2 * seen - input.key
    """,
)
"""Takes the next key into account, too."""
