"""What a task's algorithm needs of a user's own problem, beyond shapes and finite numbers.

The samplers draw such problems only. A need is a function over the problem's arrays, bound by the
names of its parameters (`labels` are the user's names of the nodes), that yields what is wrong, as
"argument: got …, needed …".
"""

import numpy as np

from algoscope.errors import short
from algoscope.tasks.compilation import cached

_ROUNDING = 1e-12
"""Three points span a triangle if its area is more than this part of the points' extent squared."""


def _edge(labels, where: np.ndarray) -> str:
    """The first pair of nodes of which `where` [n, n] is true."""
    i, j = np.argwhere(where)[0]
    return f"from {labels[i]!r} to {labels[j]!r}"


def unweighted(A, labels):
    wrong = (A != 0) & (A != 1)
    if wrong.any():
        yield f"graph: got a weight on the edge {_edge(labels, wrong)}, needed 0 and 1 alone"


def undirected(A, labels):
    if (A != A.T).any():
        yield (
            f"graph: got an edge {_edge(labels, (A != A.T) & (A != 0))} without its like back, "
            "needed an undirected graph: every edge in both directions, with one weight"
        )


def acyclic(A, labels):
    incoming = (A != 0).sum(axis=0)
    free = list(np.flatnonzero(incoming == 0))
    for node in free:
        following = np.flatnonzero(A[node])
        incoming[following] -= 1
        free += list(following[incoming[following] == 0])
    if len(free) < len(A):
        left = np.flatnonzero(incoming)
        yield f"graph: got a cycle among {[labels[i] for i in left]}, needed an acyclic graph"


def not_negative_weights(A, labels):
    if (A < 0).any():
        yield (
            f"weights: got {A[A < 0][0]} on the edge {_edge(labels, A < 0)}, "
            "needed none below 0 (Bellman-Ford takes them)"
        )


def positive_weights(A, labels):
    if (A < 0).any():
        yield f"weights: got {A[A < 0][0]} on the edge {_edge(labels, A < 0)}, needed all above 0"


def no_negative_cycle(A):
    """Nowhere in the graph."""
    return _negative_cycles(A, np.zeros(len(A)))


def no_negative_cycle_from_source(A, s):
    distances = np.full(len(A), np.inf)
    distances[s] = 0
    return _negative_cycles(A, distances)


def _negative_cycles(A, distances):
    if (A >= 0).all():
        return
    lengths = np.where(A != 0, A, np.inf)
    for _ in range(len(A) + 1):
        before = distances
        distances = np.minimum(before, (before[:, None] + lengths).min(axis=0))
        if (distances == before).all():
            return
    yield (
        "weights: got a cycle whose weights sum to less than 0, needed none, "
        "or there is no shortest path"
    )


def sorted_keys(key):
    if (np.diff(key) < 0).any():
        place = int(np.argmax(np.diff(key) < 0))
        yield f"key: got {key[place]} before {key[place + 1]}, needed keys in ascending order"


def second_string_after_first(string):
    """All nodes of the first string come before those of the second, and both have some."""
    if (np.diff(string) < 0).any() or string.min() == string.max():
        values = [int(value) for value in string]
        yield f"string: got {short(values)}, needed 0 for each character of the first, then 1"


def needle_in_haystack(string):
    needle = int(string.sum())
    haystack = len(string) - needle
    if needle > haystack:
        yield f"needle: got {needle} characters, needed at most the haystack's {haystack}"


def two_segments(x):
    if len(x) != 4:
        yield f"points: got {len(x)}, needed 4: the ends of one segment, then of the other"


def no_three_on_a_line(x, y):
    extent = max(np.ptp(x), np.ptp(y))
    if len(x) > 1 and extent == 0:
        yield "points: got the same one twice, needed different ones"
    i, j, k = collinear(x, y, np.nextafter(_ROUNDING * extent**2, np.inf))
    if i >= 0:
        yield f"points: got numbers {i}, {j} and {k} on a line, needed no three on one"


@cached
def collinear(x, y, eps):
    """The first three points that span a parallelogram of less area than eps, or -1 thrice."""
    n = x.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                area = (x[k] - x[i]) * (y[j] - y[i]) - (x[j] - x[i]) * (y[k] - y[i])
                if abs(area) < eps:
                    return i, j, k
    return -1, -1, -1


def positive_dimensions(p):
    if (p <= 0).any():
        yield f"p: got {p[p <= 0][0]}, needed matrix dimensions above 0"


def not_negative_probabilities(p, q):
    for name, values in (("p", p), ("q", q)):
        if (values < 0).any():
            yield f"{name}: got {values[values < 0][0]}, needed probabilities of at least 0"


def starts_before_finishes(s, f):
    if (s > f).any():
        i = int(np.argmax(s > f))
        yield f"s: got {s[i]} for an activity that finishes at f = {f[i]}, needed at most that"


def whole_deadlines(d):
    wrong = (d < 1) | (d != np.floor(d))
    if wrong.any():
        yield f"d: got {d[wrong][0]}, needed deadlines 1, 2, 3, …"
