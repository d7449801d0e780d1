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
    dist: Float(6)
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

DIJKSTRA = parse(
    "dijkstra",
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
)

MST_PRIM = parse(
    "mst_prim",
    "mst_prim",
    """
    found: Bool
    mark: Bool
    taken: Bool
    key: Float(2)
    pi: Node

    reached = found or input.s
    queued = reached - mark
    nearest = minimum(other.key, where=other.queued)

    taken = same(idx, nearest.idx)

    then

    taken = sure(taken)

    then

    marked = mark or taken
    best = minimum(edge.A, where=other.marked and edge.A > 0)

    mark = marked
    found = (found and marked) or (best.marked and best.edge.adj and not marked)
    key = (key if marked else 0) + (best.edge.A if best.marked and best.edge.adj and not marked else 0)
    pi = (pi if marked else 0) + (best.idx if best.marked and best.edge.adj and not marked else 0)

    hint.mark = mark
    hint.in_queue = reached - mark
    hint.u = taken
    hint.key = key
    hint.pi_h = output.pi = pi if found else idx
    """,
    everyone=True,
)

DFS = parse(
    "dfs",
    "dfs",
    """
    grey: Bool
    black: Bool
    root: Bool          # s, the root of this tree
    visited: Bool       # u, the node in work
    seen: Bool          # v, the node looked at last
    top: Bool           # s_last, the top of the stack
    stacked: Bool       # has a node below itself on the stack
    below: Node         # s_prev, that node
    parented: Bool
    pi: Node
    white_next: Node    # its first white neighbour, as of the step before
    found: Bool         # whether there is one
    below_next: Node    # the same of the node below
    below_found: Bool
    highest: Bool
    d: Float(1000)
    f: Float(1000)
    time: Float(1000)

    white = not (grey or black)
    opening = 2 * hint.s_last - hint.u - grey - black
    scanning = grey + hint.u - hint.s_last

    scan = minimum(other.idx, where=other.white and edge.A and 2 * hint.s_last + 2 * other.hint.s_last + 2 * other.white <= 4)
    last = maximum(other.idx)
    under = minimum(2 * positive(other.idx - below) - other.idx)
    token = maximum(other.hint.s_last)
    low = minimum(other.idx, where=other.white)
    chooser = maximum(other.hint.s_last - 0.25 * other.idx - N * positive(other.white_next - idx + other.hint.s_last + other.grey - 2) - N * positive(idx - other.white_next + other.hint.s_last + other.grey - 2) - 2 * positive(other.hint.s_last + other.grey - other.found - 1) - N * positive(other.below_next - idx + other.hint.s_last + other.black - 2) - N * positive(idx - other.below_next + other.hint.s_last + other.black - 2) - 2 * positive(other.hint.s_last + other.black - other.below_found - 1) - 2 * positive(other.hint.s_last - other.hint.u) - 2 * positive(other.hint.s_last + other.white - 1) - 2 * positive(other.hint.s_last + other.black - other.stacked - 1))
    popper = maximum(other.hint.s_last - 0.25 * other.idx - N * positive(other.below - idx + other.hint.s_last - 1) - N * positive(idx - other.below + other.hint.s_last - 1) - 2 * positive(other.hint.s_last - other.black) - 2 * positive(other.hint.s_last - other.stacked))

    chosen = chooser.hint.s_last
    popped = popper.hint.s_last
    token_is_root = token.hint.s_last - token.stacked

    grey = chosen or (hint.s_last and token.opening) or (grey and hint.s_last and token.scanning and token.found) or (grey and not hint.s_last and not popped) or (grey and popped and token.below_found)
    black = black or (token.scanning and not token.found and hint.s_last) or (popped and not token.below_found)
    visited = (token.opening and hint.s_last) or (token.scanning and hint.u) or popped or (token.black and token_is_root and white and idx <= low.idx)
    top = (token.opening and hint.s_last) or (token.scanning and not token.found and hint.s_last) or chosen or (popped and not token.below_found) or (token.black and token_is_root and white and idx <= low.idx)
    highest = last.idx <= idx
    seen = (token.opening and hint.v) or chosen or (highest and token.scanning and not token.found) or (highest and token.black and token.stacked and not token.below_found) or (token.black and token_is_root and white and idx <= low.idx)
    root = (hint.s and not token.black) or (hint.s and token.black and token.stacked) or (token.black and token_is_root and white and idx <= low.idx)
    stacked = chosen or (stacked and not hint.s_last) or (stacked and hint.s_last and not token.black)
    below = (chooser.idx if chosen and token.grey else 0) + (chooser.below if chosen and token.black else 0) + (below if not hint.s_last else 0) + (below if hint.s_last and not token.black else 0)
    white_next = scan.idx
    found = scan.white and scan.edge.A
    below_next = under.white_next
    below_found = under.found
    parented = parented or chosen
    pi = pi + (chooser.idx if chosen and token.grey else 0) + (chooser.below if chosen and token.black else 0)
    time = (time + token.opening) + (1 if token.scanning and not token.found else 0) + (1 if token.black and token.stacked and not token.below_found else 0)
    d = d + (time + 1 if hint.s_last and token.opening else 0)
    f = f + (time + 1 if token.scanning and not token.found and hint.s_last else 0) + (time + 1 if popped and not token.below_found else 0)

    hint.color = white, grey, black
    hint.s = root
    hint.u = visited
    hint.v = seen
    hint.s_last = top
    hint.s_prev = below if stacked else idx
    hint.pi_h = output.pi = pi if parented else idx
    hint.d = 0.01 * d
    hint.f = 0.01 * f
    hint.time = 0.01 * time
    """,
    everyone=True,
    resolution=2.0**8,
)
