"""Depth-first search: a stack that the nodes hold together, one of its moves a step.

The top of the stack is a token that all nodes can see. Who is pushed, popped or started next is
found by nodes that ask the token holder whether it means them.
"""

from algoscope.programs.parser import parse

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
    lead: Float(N + 1)  # by how much it comes before the first other white node
    next_root: Bool     # whether it is that node, as of two steps before
    d: Float(1000)
    f: Float(1000)
    time: Float(1000)

    white = not (grey or black)
    opening = 2 * hint.s_last - hint.u - grey - black
    scanning = grey + hint.u - hint.s_last

    scan = minimum(other.idx, where=other.white and edge.A and not other.hint.s_last)
    last = maximum(other.idx)
    under = minimum(2 * positive(other.idx - below) - other.idx)
    token = maximum(other.hint.s_last)
    low = minimum(other.idx, where=other.white and not other.hint.s_last)
    chooser = maximum(
        other.hint.s_last - 0.25 * other.idx
        - N * positive(other.white_next - idx + other.hint.s_last + other.grey - 2)
        - N * positive(idx - other.white_next + other.hint.s_last + other.grey - 2)
        - 2 * positive(other.hint.s_last + other.grey - other.found - 1)
        - N * positive(other.below_next - idx + other.hint.s_last + other.black - 2)
        - N * positive(idx - other.below_next + other.hint.s_last + other.black - 2)
        - 2 * positive(other.hint.s_last + other.black - other.below_found - 1)
        - 2 * positive(other.hint.s_last - other.hint.u)
        - 2 * positive(other.hint.s_last + other.white - 1)
        - 2 * positive(other.hint.s_last + other.black - other.stacked - 1)
    )
    popper = maximum(
        other.hint.s_last - 0.25 * other.idx
        - N * positive(other.below - idx + other.hint.s_last - 1)
        - N * positive(idx - other.below + other.hint.s_last - 1)
        - 2 * positive(other.hint.s_last - other.black)
        - 2 * positive(other.hint.s_last - other.stacked)
    )

    chosen = chooser.hint.s_last
    popped = popper.hint.s_last
    token_is_root = token.hint.s_last - token.stacked

    grey = (
        (chosen and not hint.s_last)
        or (hint.s_last and token.opening)
        or (grey and hint.s_last and token.scanning and token.found)
        or (grey and not hint.s_last and not popped)
        or (grey and popped and not hint.s_last and token.below_found)
    )
    black = (
        black
        or (token.scanning and not token.found and hint.s_last)
        or (popped and not hint.s_last and not token.below_found)
    )
    visited = (
        (token.opening and hint.s_last)
        or (token.scanning and hint.u)
        or (popped and not hint.s_last)
        or (token.black and token_is_root and next_root)
    )
    top = (
        (token.opening and hint.s_last)
        or (token.scanning and not token.found and hint.s_last)
        or (chosen and not hint.s_last)
        or (popped and not hint.s_last and not token.below_found)
        or (token.black and token_is_root and next_root)
    )
    highest = last.idx <= idx
    lead = 1 + N * (low.idx - idx)
    next_root = lead if white else 0
    seen = (
        (token.opening and hint.v)
        or (chosen and not hint.s_last)
        or (highest and token.scanning and not token.found)
        or (highest and token.black and token.stacked and not token.below_found)
        or (token.black and token_is_root and next_root)
    )
    root = (
        (hint.s and not token.black)
        or (hint.s and token.black and token.stacked)
        or (token.black and token_is_root and next_root)
    )
    stacked = (
        (chosen and not hint.s_last)
        or (stacked and not hint.s_last)
        or (stacked and hint.s_last and not token.black)
    )
    below = (
        (chooser.idx if chosen and not hint.s_last and token.grey else 0)
        + (chooser.below if chosen and not hint.s_last and token.black else 0)
        + (below if not hint.s_last else 0)
        + (below if hint.s_last and not token.black else 0)
    )
    white_next = scan.idx
    found = scan.white and scan.edge.A and not scan.hint.s_last
    below_next = under.white_next
    below_found = under.found
    parented = parented or (chosen and not hint.s_last)
    pi = (
        pi
        + (chooser.idx if chosen and not hint.s_last and token.grey else 0)
        + (chooser.below if chosen and not hint.s_last and token.black else 0)
    )
    time = (
        (time + token.opening)
        + (1 if token.scanning and not token.found else 0)
        + (1 if token.black and token.stacked and not token.below_found else 0)
    )
    d = d + (time + 1 if hint.s_last and token.opening else 0)
    f = (
        f
        + (time + 1 if token.scanning and not token.found and hint.s_last else 0)
        + (time + 1 if popped and not hint.s_last and not token.below_found else 0)
    )

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
)
