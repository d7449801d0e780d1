"""Families of problems by construction: where a wrong program may differ from the algorithm.

A task's sampler rarely draws a graph as deep as it has nodes, a tie, or a weight of 2^-9. Every
family goes where the others do not. A graph problem is made of a *structure*, a rule for *weights*
(if the task has some), labels in order, in reverse or at random, and a source that visits every
position. Problems of other tasks are what the sampler draws with one rule for their numbers, so
that every task has families, also a user's own.

Adding a family is adding one value to `STRUCTURES`, `WEIGHTS` or `NUMBERS`.
"""

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.tasks import Batch, Kind, Location, Stage, Task
from algoscope.tasks.given_problems import complaints
from algoscope.tasks.needs import acyclic, undirected, unweighted
from algoscope.tasks.sampling import problems_of, trace_problems
from algoscope.tasks.transforms import with_positions

Problem = dict[str, np.ndarray]
"""The features of `Task.problem` by name, as registers; `pos` too, if positions are not even."""
Random = np.random.Generator
SAMPLER, SEARCH = "sampler", "search"
_PROBED = 256
_TRIES = 3
"""Draws for each problem that is wanted: some families meet a task's needs rarely."""


def _undirected(n: int, edges: Iterable[tuple[int, int]]) -> np.ndarray:
    A = np.zeros((n, n), bool)
    for i, j in edges:
        A[i, j] = A[j, i] = i != j
    return A


def _line(n: int, random: Random) -> np.ndarray:
    return _undirected(n, ((i, i + 1) for i in range(n - 1)))


def _cycle(n: int, random: Random) -> np.ndarray:
    return _undirected(n, ((i, (i + 1) % n) for i in range(n)))


def _star(n: int, random: Random) -> np.ndarray:
    return _undirected(n, ((0, i) for i in range(1, n)))


def _far_star(n: int, random: Random) -> np.ndarray:
    """The source is a leaf."""
    centre = min(1, n - 1)
    return _undirected(n, ((centre, i) for i in range(n)))


def _binary_tree(n: int, random: Random) -> np.ndarray:
    return _undirected(n, (((i - 1) // 2, i) for i in range(1, n)))


def _random_tree(n: int, random: Random) -> np.ndarray:
    return _undirected(n, ((int(random.integers(i)), i) for i in range(1, n)))


def _comb(n: int, random: Random) -> np.ndarray:
    """A line with a tooth at every node."""
    spine = (n + 1) // 2
    A = _undirected(n, ((i, spine + i) for i in range(n - spine)))
    A[:spine, :spine] = _line(spine, random)
    return A


def _broom(n: int, random: Random) -> np.ndarray:
    """A line of random length, and all other nodes at its end: every depth occurs."""
    end = int(random.integers(0, max(1, n - 1)))
    A = _undirected(n, ((end, i) for i in range(end + 1, n)))
    A[: end + 1, : end + 1] |= _line(end + 1, random)
    return A


def _grid(n: int, random: Random) -> np.ndarray:
    columns = int(random.integers(1, int(np.sqrt(n)) + 1))
    A = _undirected(n, ((i, i + 1) for i in range(n - 1) if (i + 1) % columns))
    return A | _undirected(n, ((i, i + columns) for i in range(n - columns)))


def _ladder(n: int, random: Random) -> np.ndarray:
    A = _undirected(n, ((i, i + 2) for i in range(n - 2)))
    return A | _undirected(n, ((i, i + 1) for i in range(0, n - 1, 2)))


def _layers(n: int, random: Random) -> np.ndarray:
    """Complete between neighbouring layers of random width: many equal parents at every depth."""
    width = int(random.integers(1, max(2, n // 2)))
    layer = (np.arange(n) + width - 1) // width
    return np.abs(layer[:, None] - layer) == 1


def _lollipop(n: int, random: Random) -> np.ndarray:
    """A line that ends in a clique."""
    A = _line(n, random)
    A[n // 2 :, n // 2 :] = _complete(n - n // 2, random)
    return A


def _bipartite(n: int, random: Random) -> np.ndarray:
    side = random.random(n) < 0.5
    return side[:, None] != side


def _complete(n: int, random: Random) -> np.ndarray:
    return ~np.eye(n, dtype=bool)


def _empty(n: int, random: Random) -> np.ndarray:
    return np.zeros((n, n), bool)


def _erdos_renyi(n: int, random: Random, p: float) -> np.ndarray:
    upper = np.triu(random.random((n, n)) < p, 1)
    return upper | upper.T


def _disconnected(n: int, random: Random) -> np.ndarray:
    """Two random graphs side by side."""
    A = _erdos_renyi(n, random, random.uniform(0.2, 0.6))
    cut = int(random.integers(0, n + 1))
    A[:cut, cut:] = A[cut:, :cut] = False
    return A


def _bridge(n: int, random: Random) -> np.ndarray:
    """Two random graphs with one edge between them."""
    A = _disconnected(n, random)
    i, j = random.integers(n, size=2)
    A[i, j] = A[j, i] = i != j
    return A


def _line_with_chords(n: int, random: Random) -> np.ndarray:
    A = _line(n, random)
    for i, j in random.integers(n, size=(int(random.integers(1, 4)), 2)):
        A[i, j] = A[j, i] = i != j
    return A


STRUCTURES: dict[str, Callable[[int, Random], np.ndarray]] = {
    "line": _line,
    "cycle": _cycle,
    "star": _star,
    "far star": _far_star,
    "binary tree": _binary_tree,
    "random tree": _random_tree,
    "comb": _comb,
    "broom": _broom,
    "grid": _grid,
    "ladder": _ladder,
    "layers": _layers,
    "lollipop": _lollipop,
    "bipartite": _bipartite,
    "complete": _complete,
    "empty": _empty,
    "disconnected": _disconnected,
    "bridge": _bridge,
    "line with chords": _line_with_chords,
    "sparse": lambda n, random: _erdos_renyi(n, random, random.uniform(0.8, 2.5) / n),
    "half": lambda n, random: _erdos_renyi(n, random, 0.5),
    "dense": lambda n, random: _erdos_renyi(n, random, random.uniform(0.8, 1.0)),
}
"""Undirected graphs without loops, bool [n, n]; the source is node 0, or any."""

WEIGHTS: dict[str, Callable[[tuple[int, ...], Random], np.ndarray]] = {
    "equal": lambda shape, random: np.full(shape, random.random()),
    "largest": lambda shape, random: np.ones(shape),
    "least": lambda shape, random: np.zeros(shape),
    "two values": lambda shape, random: random.choice([0.25, 0.5], shape),
    "few values": lambda shape, random: random.integers(1, 5, shape) / 8,
    "nearly equal": lambda shape, random: 0.5 + 1e-3 * random.random(shape),
    "small": lambda shape, random: 0.05 * random.random(shape),
    "large": lambda shape, random: 1 - 0.05 * random.random(shape),
    "magnitudes": lambda shape, random: 2.0 ** -random.uniform(0, 9, shape),
    "few large": lambda shape, random: (random.random(shape) < 0.1).astype(float),
    "few small": lambda shape, random: np.where(random.random(shape) < 0.1, 0.0, 0.5),
}
"""Rules for weights, beside uniform ones: [n, n], from 0, the least that the sampler draws, to 1,
the largest."""

NUMBERS: dict[str, Callable[[int, Random], np.ndarray]] = {
    "ascending": lambda n, random: np.sort(random.random(n)),
    "descending": lambda n, random: np.sort(random.random(n))[::-1].copy(),
    "equal": lambda n, random: np.full(n, random.random()),
    "two values": lambda n, random: random.choice([0.25, 0.75], n),
    "few values": lambda n, random: random.integers(1, 5, n) / 8,
    "nearly equal": lambda n, random: 0.5 + 1e-3 * random.random(n),
    "magnitudes": lambda n, random: 2.0 ** -random.uniform(0, 9, n),
    "one low": lambda n, random: np.where(np.arange(n) == random.integers(n), 0.1, 0.9),
    "one high": lambda n, random: np.where(np.arange(n) == random.integers(n), 0.9, 0.1),
    "low at an end": lambda n, random: np.roll(np.sort(random.random(n)), random.integers(-1, 2)),
    "large": lambda n, random: random.uniform(0.99, 1.0, n),
}
"""Rules for the numbers of nodes, beside those of the sampler: [n]."""


class Family(NamedTuple):
    name: str
    draw: Callable[[int, int, Random], list[Problem]]
    """(nodes, count, random) -> up to so many problems."""


class Domain(NamedTuple):
    """What the task's sampler draws, as seen on a few samples."""

    task: Task
    directed: bool
    weighted: bool
    loops: bool
    numbers: tuple[str, ...]
    """The inputs at nodes that hold real numbers."""
    least: float = 0.0
    """The least weight, or number of a node."""
    most: float = 1.0

    @property
    def has_graph(self) -> bool:
        return "A" in self.task.problem


@functools.lru_cache(maxsize=64)
def domain(task: Task) -> Domain:
    numbers = tuple(
        f.name
        for f in task.at(Stage.INPUT)
        if f.location is Location.NODE
        and f.kind is Kind.SCALAR
        and not f.whole
        and f.name in task.problem
    )
    if "A" not in task.problem:
        return Domain(task, False, False, False, numbers)
    A = tasks.sample(task, max(8, task.smallest), _PROBED, seed=0).inputs["A"]
    weights = A[A != 0]
    return Domain(
        task,
        bool((np.swapaxes(A, 1, 2) != A).any()) and undirected not in task.needs,
        bool(((A != 0) & (A != 1)).any()) and unweighted not in task.needs,
        bool(np.einsum("bii->b", A != 0).any()),
        numbers,
        float(weights.min()) if weights.size else 1.0,
        float(weights.max()) if weights.size else 1.0,
    )


def families(kind: Domain) -> list[Family]:
    """All families of the task; the sampler's own problems are the first."""
    members = [Family(SAMPLER, lambda n, count, random: _sampled(kind.task, n, count, random))]
    if kind.has_graph:
        uniform = _graphs(kind, lambda shape, random: random.random(shape))
        members += [Family(name, uniform(draw)) for name, draw in STRUCTURES.items()]
        if kind.weighted:
            members += [
                Family(f"weights {name}", _graphs(kind, rule)(_any_structure))
                for name, rule in WEIGHTS.items()
            ]
    elif kind.numbers:
        members += [Family(name, _numbers(kind, rule)) for name, rule in NUMBERS.items()]
    if "pos" not in kind.task.problem and "string" not in kind.task.problem:
        members.append(Family("random positions", _positions(members)))
    return members


def _sampled(task: Task, n: int, count: int, random: Random) -> list[Problem]:
    if n < task.smallest:
        return []
    return problems_of(tasks.sample(task, n, count, int(random.integers(2**31))))


def _any_structure(n: int, random: Random) -> np.ndarray:
    return list(STRUCTURES.values())[int(random.integers(len(STRUCTURES)))](n, random)


def _graphs(kind: Domain, rule: Callable) -> Callable:
    """Problems of a structure, with the rule for weights."""

    def drawing(structure: Callable) -> Callable[[int, int, Random], list[Problem]]:
        def draw(n: int, count: int, random: Random) -> list[Problem]:
            others: list[Problem] = [{}] * (_TRIES * count)
            if set(kind.task.problem) - {"A", "s"}:
                others = _sampled(kind.task, n, _TRIES * count, random)
            drawn = (
                other | _graph(kind, structure, rule, n, random, from_first=number % 2 == 0)
                for number, other in enumerate(others)
            )
            return _first(kind.task, drawn, count)

        return draw

    return drawing


def _graph(
    kind: Domain,
    structure: Callable,
    rule: Callable,
    n: int,
    random: Random,
    from_first: bool,
) -> Problem:
    """With the structure's first node as the source, or any."""
    A = structure(n, random)
    if kind.loops and random.random() < 0.5:
        A = A | np.diag(random.random(n) < 0.5)
    if kind.directed:
        A = A & (random.random(A.shape) < 0.75)
    if acyclic in kind.task.needs:
        A = np.triu(A, 1)
    values = np.ones(A.shape)
    if kind.weighted:
        values = kind.least + (kind.most - kind.least) * rule(A.shape, random)
    if not kind.directed:
        values = np.triu(values) + np.triu(values, 1).T
    orders = (np.arange(n), np.arange(n)[::-1], random.permutation(n))
    order = orders[int(random.integers(len(orders)))]
    problem = {"A": (A * values)[np.ix_(order, order)]}
    if "s" in kind.task.problem:
        first = int(np.flatnonzero(order == 0)[0])
        source = first if from_first else int(random.integers(n))
        problem["s"] = np.array([source])
    return problem


def _numbers(kind: Domain, rule: Callable) -> Callable[[int, int, Random], list[Problem]]:
    def draw(n: int, count: int, random: Random) -> list[Problem]:
        drawn = (
            problem | {name: rule(len(problem[name]), random) for name in kind.numbers}
            for problem in _sampled(kind.task, n, _TRIES * count, random)
        )
        return _first(kind.task, drawn, count)

    return draw


def _positions(members: list[Family]) -> Callable[[int, int, Random], list[Problem]]:
    """Problems of the other families, with positions drawn as in training."""
    others = list(members)

    def draw(n: int, count: int, random: Random) -> list[Problem]:
        problems = []
        for _ in range(count):
            member = others[int(random.integers(len(others)))]
            problems += member.draw(n, 1, random)
        return [p | {"pos": np.sort(random.random(size(p)))} for p in problems]

    return draw


def _first(task: Task, drawn: Iterable[Problem], count: int) -> list[Problem]:
    """The first problems that meet the task's needs."""
    problems: list[Problem] = []
    for problem in drawn:
        if len(problems) == count:
            break
        if meets_needs(task, problem):
            problems.append(problem)
    return problems


def size(problem: Problem) -> int:
    return max(len(values) for values in problem.values() if np.ndim(values))


def meets_needs(task: Task, problem: Problem) -> bool:
    values = {name: value for name, value in problem.items() if name in task.problem}
    return next(complaints(task, values | {"labels": range(size(problem))}), None) is None


def traced(task: Task, problems: list[Problem]) -> Batch:
    """The batch of problems of one size."""
    plain = [{name: p[name] for name in task.problem} for p in problems]
    batch = trace_problems(task, size(problems[0]), plain)
    if "pos" in task.problem or not any("pos" in problem for problem in problems):
        return batch
    positions = np.array(batch.inputs["pos"])
    for row, problem in zip(positions, problems, strict=True):
        row[:] = problem.get("pos", row)
    return with_positions(batch, positions)


def with_uneven_positions(batch: Batch) -> list[Problem]:
    """What defines each problem, its positions too where they are not even."""
    problems = problems_of(batch)
    if {"pos", "string"} & set(batch.task.problem):
        return problems
    positions = np.asarray(batch.inputs["pos"])
    even = np.arange(batch.nodes) / batch.nodes
    return [
        problem if np.allclose(row, even) else problem | {"pos": np.array(row, float)}
        for problem, row in zip(problems, positions, strict=True)
    ]
