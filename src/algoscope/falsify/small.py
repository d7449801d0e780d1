"""All problems of a task with very few nodes: every graph with every source, every order of keys
with all their ties, every pair of strings. Where weights are drawn, each graph has two; points,
which have no such list, are drawn. Two numbers, or two coordinates, are also as close as float32
can tell apart, and closer: where a program compares them, its smallest constants decide.
"""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from algoscope import tasks
from algoscope.falsify.families import Domain, Problem, domain, meets_needs, size, traced
from algoscope.tasks import Batch, Task
from algoscope.tasks.needs import acyclic
from algoscope.tasks.sampling import problems_of

LETTERS = 4
APART = 0.2
CLOSE = 2.0 ** -np.arange(15, 25, 0.5)
"""By how much numbers differ."""
_AT_ONCE = 512
_DRAWN = 256
_CLOSE_POINTS = 16


def every_small_problem(task: Task) -> Iterator[Batch]:
    """In batches of one size."""
    names = set(task.problem)
    if "A" in names:
        problems = _graphs(domain(task))
    elif "string" in names:
        problems = _strings()
    elif {"x", "y"} <= names:
        yield from _points(task)
        return
    else:
        problems = _numbers(task)
    fitting = (problem for problem in problems if meets_needs(task, problem))
    for _, of_a_size in itertools.groupby(fitting, size):
        while some := list(itertools.islice(of_a_size, _AT_ONCE)):
            yield traced(task, some)


def _graphs(kind: Domain) -> Iterator[Problem]:
    """Of up to three nodes; of four, where these are half as many pairs or no smaller ones are."""
    random = np.random.default_rng(0)
    in_order = acyclic in kind.task.needs
    for n in (1, 2, 3, 4):
        lower = kind.directed and not (in_order and n == 4)
        pairs = [(i, j) for i in range(n) for j in range(n) if i < j or (lower and i > j)]
        pairs += [(i, i) for i in range(n)] if kind.loops and n < 4 else []
        if n < kind.task.smallest or (n == 4 and lower and kind.task.smallest < n):
            continue
        for chosen in itertools.product((0, 1), repeat=len(pairs)):
            for values in _weights(kind, n, random):
                A = np.zeros((n, n))
                for (i, j), there in zip(pairs, chosen, strict=True):
                    A[i, j] = there * values[i, j]
                    A[j, i] = A[j, i] if kind.directed else A[i, j]
                sources = range(n) if "s" in kind.task.problem else (None,)
                for source in sources:
                    yield {"A": A} if source is None else {"A": A, "s": np.array([source])}


def _weights(kind: Domain, n: int, random: np.random.Generator) -> Iterable[np.ndarray]:
    if not kind.weighted:
        return (np.ones((n, n)),)
    return (random.uniform(kind.least, kind.most, (n, n)) for _ in range(2))


def _numbers(task: Task) -> Iterator[Problem]:
    """All orders of one number for each of up to four nodes, of two for up to three; and of two
    close numbers for up to three nodes."""
    of_nodes = [name for name in task.problem if name != "target"]
    for n in range(task.smallest, 5 if len(of_nodes) == 1 else 4):
        yield from _orders(task, of_nodes, n, n + 1 if len(of_nodes) == 1 else 3, APART)
        for gap in CLOSE if n < 4 else ():
            yield from _orders(task, of_nodes, n, 2, gap)


def _orders(task: Task, of_nodes: list[str], n: int, levels: int, gap: float) -> Iterator[Problem]:
    """Of numbers that differ by the gap, and targets at them and between."""
    for chosen in itertools.product(range(levels), repeat=n * len(of_nodes)):
        rows = np.reshape(chosen, (len(of_nodes), n))
        problem = {
            name: row + 1.0 if name == "d" else 0.1 + gap * row
            for name, row in zip(of_nodes, rows, strict=True)
        }
        if "target" not in task.problem:
            yield problem
            continue
        for target in range(-1, 2 * n + 1):
            yield problem | {"target": np.array(0.1 + gap / 2 * target)}


def _points(task: Task) -> Iterator[Batch]:
    for nodes in (3, 4, 5):
        drawn = tasks.sample(task, nodes, _DRAWN, nodes)
        yield drawn
        close = [
            problem | {name: _moved(problem[name], gap)}
            for problem in problems_of(drawn)[:_CLOSE_POINTS]
            for name in ("x", "y")
            for gap in CLOSE
        ]
        fitting = [problem for problem in close if meets_needs(task, problem)]
        if fitting:
            yield traced(task, fitting)


def _moved(values: np.ndarray, gap: float) -> np.ndarray:
    """The second least of the values by the gap above the least."""
    least, second = np.argsort(values)[:2]
    return np.where(np.arange(len(values)) == second, values[least] + gap, values)


def _strings() -> Iterator[Problem]:
    """All texts of three letters with all needles of one or two."""
    for needle in (1, 2):
        string = np.array([0] * 3 + [1] * needle)
        for letters in itertools.product(range(LETTERS), repeat=len(string)):
            yield {"string": string, "key": np.array(letters)}
