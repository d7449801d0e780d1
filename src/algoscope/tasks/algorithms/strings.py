"""String matching: where does the needle, the second string, begin in the haystack, the first?

The answer is a node of the haystack, or the needle's first node if there is no match.
"""

from algoscope.tasks import mersenne, needs
from algoscope.tasks.compilation import compiled, record
from algoscope.tasks.graphs import start_at_self
from algoscope.tasks.options import Option, integer
from algoscope.tasks.sequences import (
    chain_strings,
    draw_codes,
    length_of_first,
    mark_second_string,
    string_positions,
)
from algoscope.tasks.task import Task


@compiled
def match_naively(trace, string, pos, key, pred_h, s, i, j, match):
    """Naive string matching, a character a step."""
    string_positions(string, pos)
    chain_strings(string, pred_h)
    n = key.shape[0]
    needle = length_of_first(string)
    for shift in range(2 * needle - n + 1):
        s[0] = i[0] = shift
        j[0] = needle
        record(trace)
        while key[i[0]] == key[j[0]]:
            if j[0] == n - 1:
                match[0] = shift
                return
            i[0] += 1
            j[0] += 1
            record(trace)
    match[0] = needle


@compiled
def _continue_prefix(trace, key, character, pi, is_reset, end, reset):
    """Shortens the matched prefix of the needle until `character` continues it, and continues it.

    `end` is the last node of the prefix; `reset` means that the prefix is empty.
    """
    while not reset[0] and key[end[0] + 1] != character:
        reset[0] = is_reset[end[0]]
        end[0] = pi[end[0]]
        record(trace)
    following = end[0] if reset[0] else end[0] + 1
    if key[following] == character:
        end[0] = following
        reset[0] = 0


@compiled
def knuth_morris_pratt(
    trace, string, pos, key, pred_h, pi, is_reset, k, k_reset, q, q_reset, s, i, phase, match
):
    """Knuth-Morris-Pratt string matching, a comparison a step (Knuth, Morris & Pratt, 1977)."""
    string_positions(string, pos)
    chain_strings(string, pred_h)
    n = key.shape[0]
    needle = length_of_first(string)
    start_at_self(pi)
    is_reset[needle] = k_reset[0] = q_reset[0] = 1
    k[0] = needle
    q[0] = min(needle + 1, n - 1)
    record(trace)
    for node in range(needle + 1, n):
        q[0] = node
        _continue_prefix(trace, key, key[node], pi, is_reset, k, k_reset)
        pi[node] = k[0]
        is_reset[node] = k_reset[0]
        record(trace)

    phase[0] = 1
    q[0] = needle
    for node in range(needle):
        i[0] = node
        s[0] = max(0, node - (n - needle) + 1)
        record(trace)
        _continue_prefix(trace, key, key[node], pi, is_reset, q, q_reset)
        if q[0] == n - 1 and not q_reset[0]:
            match[0] = s[0]
            return
    match[0] = needle


@compiled
def draw_haystack_with_needle(stream, length_needle, chars, string, key):
    length = length_needle
    if length < 0:
        length = 1 + mersenne.below(stream, -length_needle)
    start = key.shape[0] - length
    mark_second_string(start, string)
    draw_codes(stream, chars, key[start:])
    draw_codes(stream, chars, key[:start])
    place = mersenne.below(stream, start - length)
    key[place : place + length] = key[start:]


def needle_length(name, value, size):
    """The length of the needle, less than the haystack's; -k is a random one from 1 to k."""
    if value is None:
        return max(1, size // 5)
    longest = (size - 1) // 2
    length = integer(-longest, longest)(name, value, size)
    if length == 0:
        raise ValueError(f"{name}: got 0, needed a length (or -k for a random one from 1 to k)")
    return length


_OPTIONS = {"length_needle": Option(None, needle_length), "chars": Option(4, integer(1, 4))}
_SMALLEST = 3

naive_string_matcher = Task(
    "naive_string_matcher",
    """
    string  input   node  mask            # in the second string, not the first
    pos     input   node  scalar          # the node's position, which names it
    key     input   node  categorical  4  # the character
    match   output  node  mask_one        # where the needle begins
    pred_h  hint    node  pointer         # the node before
    s       hint    node  mask_one        # the shift: where a match may begin
    i       hint    node  mask_one        # the haystack's character in work
    j       hint    node  mask_one        # the needle's
    """,
    draw_haystack_with_needle,
    match_naively,
    options=_OPTIONS,
    smallest=_SMALLEST,
    evaluation_multiplier=64,
    needs=(needs.second_string_after_first, needs.needle_in_haystack),
    fixed_predecessors=True,
)

kmp_matcher = Task(
    "kmp_matcher",
    """
    string    input   node   mask            # in the second string, not the first
    pos       input   node   scalar          # the node's position, which names it
    key       input   node   categorical  4  # the character
    match     output  node   mask_one        # where the needle begins
    pred_h    hint    node   pointer         # the node before
    pi        hint    node   pointer         # end of the longest prefix that ends here
    is_reset  hint    node   mask            # that prefix is empty
    k         hint    node   mask_one        # end of the needle's prefix in phase 0
    k_reset   hint    graph  mask            # that prefix is empty
    q         hint    node   mask_one        # the needle's node in work, or matched so far
    q_reset   hint    graph  mask            # nothing is matched
    s         hint    node   mask_one        # where a match would begin
    i         hint    node   mask_one        # the haystack's character in work
    phase     hint    graph  mask            # the haystack is searched
    """,
    draw_haystack_with_needle,
    knuth_morris_pratt,
    options=_OPTIONS,
    smallest=_SMALLEST,
    evaluation_multiplier=64,
    needs=(needs.second_string_after_first, needs.needle_in_haystack),
    fixed_predecessors=True,
)
