"""Counterexamples made smaller: nodes and edges are taken away and numbers rounded, as long as the
problem still shows the disagreement."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from algoscope.falsify.families import Domain, Problem, Random, size
from algoscope.falsify.mutations import simpler, without_node
from algoscope.falsify.padding import rows_of

SHRINKING = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Sizes on the way to a smallest counterexample; each is compiled for."""


def shrink(
    kind: Domain,
    problem: Problem,
    first_wrong: Callable[[Iterable[Problem]], Problem | None],
    random: Random,
    sizes: Sequence[int] = SHRINKING,
) -> Problem:
    """The smallest problem that is found; `first_wrong` says which of some problems, if any, still
    disagrees."""
    while True:
        smaller = first_wrong(_fewer_nodes(kind, problem, random, sizes))
        if smaller is None:
            smaller = first_wrong(simpler(kind, problem))
        if smaller is None:
            return problem
        problem = smaller


def _fewer_nodes(
    kind: Domain, problem: Problem, random: Random, sizes: Sequence[int]
) -> list[Problem]:
    """The problem at the next smaller of the sizes, some of its nodes gone: those without edges
    first."""
    n = size(problem)
    below = [m for m in sizes if kind.task.smallest <= m < n]
    if not below or not (kind.has_graph or kind.numbers):
        return []
    A = problem.get("A")
    lonely = np.zeros(n) if A is None else ((A != 0) | (A.T != 0)).any(0)
    options = []
    for _ in range(rows_of(below[-1]) // 2):
        option: Problem | None = problem
        order = np.argsort(lonely + 0.5 * random.random(n), kind="stable")
        if random.random() < 0.5:
            order = random.permutation(n)
        removed = sorted(order[: n - below[-1]].tolist(), reverse=True)
        for node in removed:
            option = option and without_node(option, node)
        if option is not None:
            options.append(option)
    return options
