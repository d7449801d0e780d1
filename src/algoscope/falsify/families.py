"""Families of problems by construction: where a wrong program may differ from the algorithm.

A task's sampler rarely draws a graph as deep as it has nodes, a tie, or a weight of 2^-9. Every
family goes where the others do not. A graph problem is made of a *structure*, a rule for *weights*
(if the task has some), labels in order, in reverse or at random, and a source that visits every
position in turn. Problems of other tasks are what the sampler draws with one rule for their numbers
or letters, so that every task has families, also a user's own.

Adding a family is adding one value to `STRUCTURES`, `WEIGHTS`, `NUMBERS` or `LETTERS`.
"""

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.falsify.structures import STRUCTURES, Random
from algoscope.tasks import Batch, Kind, Location, Stage, Task
from algoscope.tasks.given_problems import complaints
from algoscope.tasks.needs import acyclic, sorted_keys, undirected, unweighted
from algoscope.tasks.sampling import problems_of, trace_problems
from algoscope.tasks.transforms import with_positions

Problem = dict[str, np.ndarray]
"""The features of `Task.problem` by name, as registers; `pos` too, if positions are not even."""
SAMPLER, SEARCH, SURVEY = "sampler", "search", "survey"
_PROBED = 256
_TRIES = 3
"""Draws for each problem that is wanted: some families meet a task's needs rarely."""


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
"""Rules for the numbers of nodes, beside those of the sampler: [n], from 0, the least that the
sampler draws, to 1, the largest."""

LETTERS: dict[str, Callable[[int, int, int, Random], np.ndarray]] = {
    "one letter": lambda text, needle, at, random: np.full(text + needle, random.integers(4)),
    "two letters": lambda text, needle, at, random: random.integers(2, size=text + needle),
    "needle at": lambda text, needle, at, random: _planted(text, needle, at, random, 4),
    "needle at, two letters": lambda text, needle, at, random: _planted(
        text, needle, at, random, 2
    ),
    "all but one letter": lambda text, needle, at, random: _almost(text, needle, at, random),
    "repeated": lambda text, needle, at, random: np.concatenate(
        [np.resize(np.roll(np.arange(needle) % 3, at), text), np.arange(needle) % 3]
    ),
}
"""Rules for texts and needles, (text, needle, at, random) -> [text + needle] letters; `at` goes
through all places where the needle can begin."""


def _planted(text: int, needle: int, at: int, random: Random, letters: int) -> np.ndarray:
    """The needle begins there, and perhaps earlier."""
    key = random.integers(letters, size=text + needle)
    key[at : at + needle] = key[text:]
    return key


def _almost(text: int, needle: int, at: int, random: Random) -> np.ndarray:
    """The needle, but for its last letter, or any."""
    key = _planted(text, needle, at, random, 4)
    wrong = at + (needle - 1 if random.random() < 0.5 else int(random.integers(needle)))
    key[wrong] = (key[wrong] + random.integers(1, 4)) % 4
    return key


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
        drawn = tasks.sample(task, max(8, task.smallest), _PROBED, seed=0).inputs if numbers else {}
        ends = [round(float(f(drawn[name])), 1) for name in numbers for f in (np.min, np.max)]
        return Domain(
            task, False, False, False, numbers, min(ends, default=0), max(ends, default=1)
        )
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
    elif "string" in kind.task.problem:
        members += [Family(name, _strings(kind, rule)) for name, rule in LETTERS.items()]
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
            start = int(random.integers(n))
            drawn = (
                other | _graph(kind, structure, rule, n, random, start, number)
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
    start: int,
    number: int,
) -> Problem:
    """The structure's first node, the source of every other problem, or any other source goes
    through the positions from the start on."""
    at = (start + number // 2) % n
    A = structure(n, random)
    if kind.loops and random.random() < 0.5:
        A = A | np.diag(random.random(n) < 0.5)
    if kind.directed:
        A = _pointed(A, random)
    if acyclic in kind.task.needs:
        A = np.triu(A, 1)
    values = np.ones(A.shape)
    if kind.weighted:
        values = kind.least + (kind.most - kind.least) * rule(A.shape, random)
    if not kind.directed:
        values = np.triu(values) + np.triu(values, 1).T
    orders = (np.arange(n), np.arange(n)[::-1], np.roll(np.arange(n), at), random.permutation(n))
    which = int(random.integers(len(orders)))
    order = np.array(orders[which])
    if which == len(orders) - 1:
        order[[at, int(np.flatnonzero(order == 0)[0])]] = 0, order[at]
    problem = {"A": (A * values)[np.ix_(order, order)]}
    if "s" in kind.task.problem:
        first = int(np.flatnonzero(order == 0)[0])
        problem["s"] = np.array([first if number % 2 == 0 else at])
    return problem


def _pointed(A: np.ndarray, random: Random) -> np.ndarray:
    """Edges in both directions, in one, or some of them gone: a line is as deep as it was unless
    edges go."""
    match int(random.integers(4)):
        case 0:
            return A
        case 1:
            return np.triu(A)
        case 2:
            return np.tril(A)
        case _:
            return A & (random.random(A.shape) < 0.75)


def _numbers(kind: Domain, rule: Callable) -> Callable[[int, int, Random], list[Problem]]:
    def draw(n: int, count: int, random: Random) -> list[Problem]:
        sampled = _sampled(kind.task, n, _TRIES * count, random)
        start = int(random.integers(n))
        drawn = (
            _numbered(kind, rule, problem, start + number, random)
            for number, problem in enumerate(sampled)
        )
        return _first(kind.task, drawn, count)

    return draw


def _numbered(kind: Domain, rule: Callable, problem: Problem, number: int, random: Random):
    """With numbers by the rule; the least goes through all positions in every other problem, and so
    does the key that the target of a search is at, or next to, in all."""
    extent, changed = kind.most - kind.least, dict(problem)
    for name in kind.numbers:
        changed[name] = kind.least + extent * rule(len(problem[name]), random)
    if sorted_keys in kind.task.needs:
        changed |= {name: np.sort(changed[name]) for name in kind.numbers}
    elif number % 2:
        by = number // 2 - int(changed[kind.numbers[0]].argmin())
        changed |= {name: np.roll(changed[name], by) for name in kind.numbers}
    if "target" in problem and "key" in changed:
        key = changed["key"][number % len(changed["key"])]
        away = random.choice([0.0, -1.0, 1.0]) * 10.0 ** -random.uniform(1, 4)
        changed["target"] = np.asarray(np.clip(key + away, kind.least, kind.most))
    return changed


def _strings(kind: Domain, rule: Callable) -> Callable[[int, int, Random], list[Problem]]:
    """Texts and needles, of the sampler's lengths and of all others."""

    def draw(n: int, count: int, random: Random) -> list[Problem]:
        start, drawn = int(random.integers(n)), []
        for number, problem in enumerate(_sampled(kind.task, n, _TRIES * count, random)):
            string = np.array(problem["string"])
            if number % 2:
                string = (np.arange(n) >= n - random.integers(1, n // 2 + 1)).astype(string.dtype)
            needle = int(string.sum())
            at = (start + number) % max(1, n - 2 * needle + 1)
            key = rule(n - needle, needle, at, random).astype(problem["key"].dtype)
            drawn.append(problem | {"string": string, "key": key})
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
