"""Dynamic programming over the pairs of a sequence's positions, or of two sequences'."""

import numpy as np

from algoscope.tasks import mersenne, needs
from algoscope.tasks.compilation import compiled, record
from algoscope.tasks.options import RANGE, Option, integer
from algoscope.tasks.sequences import (
    chain,
    chain_strings,
    draw_codes,
    length_of_first,
    mark_second_string,
    string_positions,
)
from algoscope.tasks.summation import pairwise_sum
from algoscope.tasks.task import Task


@compiled
def draw_dimensions(stream, low, high, p):
    mersenne.uniform(stream, low, high, p)


@compiled
def order_matrix_chain(trace, p, pred_h, m, s_h, msk):
    """Cheapest order in which to multiply matrices, all spans a step (Godbole, 1973)."""
    chain(pred_h)
    n = p.shape[0]
    for i in range(1, n):
        msk[i, i] = 1
    while True:
        record(trace)
        before = m.copy()
        known = msk.copy()
        for i in range(1, n):
            for j in range(i + 1, n):
                for k in range(i, j):
                    if known[i, k] and known[k + 1, j]:
                        cost = before[i, k] + before[k + 1, j] + p[i - 1] * p[k] * p[j]
                        if not msk[i, j] or cost < m[i, j]:
                            m[i, j] = cost
                            s_h[i, j] = k
                            msk[i, j] = 1
        if (m == before).all():
            break


_DIAGONAL, _UP, _LEFT, _BLANK = 0, 1, 2, ~3


@compiled
def draw_two_strings(stream, chars, length_2, string, key):
    mark_second_string(string.shape[0] - length_2, string)
    draw_codes(stream, chars, key)


@compiled
def find_common_subsequence(trace, string, pos, key, pred_h, b_h, c):
    """Longest common subsequence of two strings, all cells a step (Wagner and Fischer, 1974).

    The table's rows are the first string's nodes and its columns the second's.
    """
    string_positions(string, pos)
    chain_strings(string, pred_h)
    split = length_of_first(string)
    x, y = key[:split], key[split:]
    b_h[:] = _BLANK
    arrow = b_h[:split, split:]
    arrow[:] = _DIAGONAL
    length = c[:split, split:]
    for i in range(len(x)):
        same = x[i] == y[0]
        length[i, 0] = same or (i > 0 and length[i - 1, 0] == 1)
        arrow[i, 0] = _DIAGONAL if same else _UP
    for j in range(1, len(y)):
        same = x[0] == y[j]
        length[0, j] = same or length[0, j - 1] == 1
        arrow[0, j] = _DIAGONAL if same else _LEFT if length[0, j] else _UP
    while True:
        record(trace)
        before = length.copy()
        for i in range(1, len(x)):
            for j in range(1, len(y)):
                if x[i] == y[j]:
                    length[i, j] = before[i - 1, j - 1] + 1
                    arrow[i, j] = _DIAGONAL
                elif before[i - 1, j] >= before[i, j - 1]:
                    length[i, j] = before[i - 1, j]
                    arrow[i, j] = _UP
                else:
                    length[i, j] = before[i, j - 1]
                    arrow[i, j] = _LEFT
        if (length == before).all():
            break


@compiled
def draw_search_probabilities(stream, p, q):
    """Probabilities of the keys (p, one fewer than nodes) and of the gaps around them (q)."""
    keys = p.shape[0] - 1
    drawn = np.empty(keys + q.shape[0])
    mersenne.uniform(stream, 0.0, 1.0, drawn)
    drawn /= pairwise_sum(drawn)
    p[:keys] = drawn[:keys]
    q[:] = drawn[keys:]


@compiled
def build_search_tree(trace, p, q, pred_h, root_h, e, w, msk):
    """Optimal binary search tree, the spans of one length a step (Aho et al., 1974)."""
    chain(pred_h)
    n = q.shape[0]
    for i in range(n):
        e[i, i] = q[i]
        w[i, i] = q[i]
        msk[i, i] = 1
    record(trace)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            e[i, j] = np.inf
            w[i, j] = w[i, j - 1] + p[j - 1] + q[j]
            for r in range(i, j):
                cost = e[i, r] + e[r + 1, j] + w[i, j]
                if cost < e[i, j]:
                    e[i, j] = cost
                    root_h[i, j] = r
            msk[i, j] = 1
        record(trace)


def _second_length(name, value, size):
    return size // 2 if value is None else integer(1)(name, value, size)


matrix_chain_order = Task(
    "matrix_chain_order",
    """
    pos     input   node  scalar   # the node's position, which names it
    p       input   node  scalar   # dimensions of the matrices
    s       output  edge  pointer  # where to split the product
    pred_h  hint    node  pointer  # the node before
    m       hint    edge  scalar   # least cost of the product so far
    s_h     hint    edge  pointer  # where to split it, so far
    msk     hint    edge  mask     # has a cost
    """,
    draw_dimensions,
    order_matrix_chain,
    options=RANGE,
    needs=(needs.positive_dimensions,),
    fixed_predecessors=True,
)

lcs_length = Task(
    "lcs_length",
    """
    string  input   node  mask            # in the second string, not the first
    pos     input   node  scalar          # the node's position, which names it
    key     input   node  categorical  4  # the character
    b       output  edge  categorical  4  # the way back: diagonal, up or left
    pred_h  hint    node  pointer         # the node before
    b_h     hint    edge  categorical  4  # the way back so far
    c       hint    edge  scalar          # length of the common subsequence
    """,
    draw_two_strings,
    find_common_subsequence,
    options={"length_2": Option(None, _second_length), "chars": Option(4, integer(1, 4))},
    smallest=2,
    nodes=lambda size, options: size + (options.get("length_2") or 0),
    fixed_predecessors=True,
    needs=(needs.second_string_after_first,),
)

optimal_bst = Task(
    "optimal_bst",
    """
    pos     input   node  scalar   # the node's position, which names it
    p       input   node  scalar   # how often the key is looked for
    q       input   node  scalar   # how often the gap before it is
    root    output  edge  pointer  # the root of the subtree
    pred_h  hint    node  pointer  # the node before
    root_h  hint    edge  pointer  # the root so far
    e       hint    edge  scalar   # expected cost of the subtree
    w       hint    edge  scalar   # probability of the subtree
    msk     hint    edge  mask     # has a cost
    """,
    draw_search_probabilities,
    build_search_tree,
    nodes=lambda size, options: size + 1,
    needs=(needs.not_negative_probabilities,),
    fixed_predecessors=True,
)
