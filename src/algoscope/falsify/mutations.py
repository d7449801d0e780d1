"""Small changes of a problem: for the search, and to shrink a counterexample."""

from collections.abc import Iterator

import numpy as np

from algoscope.falsify.families import Domain, Problem, Random, size
from algoscope.tasks import Kind, Stage

_NUDGE = 0.1
_MAGNITUDES = -5, -1
"""Powers of ten by which numbers move next to the boundary of a region."""
_DECIMALS = (0, 1, 2, 3)
"""To which numbers are rounded when a counterexample is made simpler."""


def mutated(kind: Domain, problem: Problem, random: Random, *, closely: bool = False) -> Problem:
    """The problem with one or two small random changes; closely: numbers move by any magnitude, so
    that close calls stay close."""
    nudge = 10.0 ** random.uniform(*_MAGNITUDES) if closely else _NUDGE
    for _ in range(int(random.integers(1, 3))):
        change = _change_graph if kind.has_graph else _change_values
        problem = change(kind, problem, random, nudge)
    return problem


def _change_values(kind: Domain, problem: Problem, random: Random, nudge: float) -> Problem:
    # Nodes at one position cannot be told apart, and masks say what belongs to which string.
    masks = {f.name for f in kind.task.at(Stage.INPUT) if f.kind is Kind.MASK}
    names = [n for n, values in problem.items() if np.ndim(values) and n not in {"pos", *masks}]
    name = names[int(random.integers(len(names)))]
    values = np.array(problem[name])
    i, j = random.integers(len(values), size=2)
    match int(random.integers(3)):
        case 0:
            values[[i, j]] = values[[j, i]]
        case 1:
            values[i] = values[j]
        case _ if name in kind.numbers:
            values[i] = np.clip(values[i] + nudge * random.normal(), kind.least, kind.most)
    return problem | {name: values}


def _change_graph(kind: Domain, problem: Problem, random: Random, nudge: float) -> Problem:
    A = np.array(problem["A"])
    n = len(A)
    changed = problem | {"A": A}
    i, j = random.integers(n, size=2)
    match int(random.integers(6 if kind.weighted else 4)):
        case 0 | 1:  # An edge comes or goes.
            if i != j or kind.loops:
                weight = random.uniform(kind.least, kind.most) if kind.weighted else 1.0
                A[i, j] = 0.0 if A[i, j] else weight
        case 2:  # Two labels are exchanged.
            order = np.arange(n)
            order[[i, j]] = order[[j, i]]
            changed["A"] = A = A[np.ix_(order, order)]
        case 3:  # Another source, or an edge moved.
            if "s" in problem:
                changed["s"] = np.array([i])
            elif i != j:
                A[i, j], A[j, i] = A[j, i], A[i, j]
        case 4:  # A weight becomes another's.
            edges = np.argwhere(A != 0)
            if len(edges):
                (i, j), (k, m) = edges[random.integers(len(edges), size=2)]
                A[i, j] = A[k, m]
        case _:  # A weight moves a little.
            edges = np.argwhere(A != 0)
            if len(edges):
                i, j = edges[int(random.integers(len(edges)))]
                A[i, j] = np.clip(A[i, j] + nudge * random.normal(), kind.least, kind.most)
    if not kind.directed:
        A[j, i] = A[i, j]
    return changed


def descended(
    kind: Domain, problem: Problem, name: str, gradient: np.ndarray, rate: float
) -> Problem:
    """The problem with numbers moved against the gradient of the margin; no edge comes or goes."""
    values = problem[name]
    scale = np.abs(gradient).max()
    if name == "A" and not kind.directed:
        gradient = gradient + gradient.T
    moved = np.clip(values - rate * gradient / max(scale, 1e-30), kind.least, kind.most)
    return problem | {name: np.where(values != 0, moved, values)}


def without_node(problem: Problem, node: int) -> Problem | None:
    """The problem without that node; None if it is the source."""
    smaller = {}
    n = size(problem)
    for name, values in problem.items():
        if np.ndim(values) == 0:
            smaller[name] = values
        elif values.shape == (1,) and n > 1:
            marked = int(values[0])
            if marked == node:
                return None
            smaller[name] = np.array([marked - (marked > node)]).astype(values.dtype)
        elif values.ndim == 2:
            smaller[name] = np.delete(np.delete(values, node, 0), node, 1)
        else:
            smaller[name] = np.delete(values, node)
    return smaller


def simpler(kind: Domain, problem: Problem) -> Iterator[Problem]:
    """Problems of the same size that are simpler: even positions, fewer edges, rounder numbers."""
    if "pos" in problem and "pos" not in kind.task.problem:
        yield {name: values for name, values in problem.items() if name != "pos"}
    if kind.has_graph:
        yield from _fewer_edges(kind, problem)
    for name in ("A", *kind.numbers) if kind.weighted else kind.numbers:
        values = problem[name]
        for decimals in _DECIMALS:
            least = np.ceil(kind.least * 10**decimals) / 10**decimals if name == "A" else 0.0
            rounded = np.where(values != 0, np.maximum(np.round(values, decimals), least), 0)
            if not np.array_equal(rounded, values):
                yield problem | {name: rounded}


def _fewer_edges(kind: Domain, problem: Problem) -> Iterator[Problem]:
    """All edges of a node at once, then edge by edge."""
    A = problem["A"]
    for node in range(len(A)):
        if A[node].any() or A[:, node].any():
            fewer = np.array(A)
            fewer[node] = fewer[:, node] = 0
            yield problem | {"A": fewer}
    for i, j in np.argwhere(A != 0):
        if kind.directed or i <= j:
            fewer = np.array(A)
            fewer[i, j] = 0
            if not kind.directed:
                fewer[j, i] = 0
            yield problem | {"A": fewer}
