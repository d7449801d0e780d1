"""The cover: problems of every family at every size, the same for every subject.

Made once for a task, a number of problems and a seed. A search starts from it (`search`), fresh
covers of other seeds confirm a region, and whole ensembles are tried on it at once (`many`).
"""

import dataclasses
import functools

import numpy as np

from algoscope.falsify.families import (
    Problem,
    domain,
    families,
    size,
    traced,
    with_uneven_positions,
)
from algoscope.falsify.scope import coordinates
from algoscope.tasks import Batch, Task

SIZES = {4: 0.34, 8: 0.34, 16: 0.24, 32: 0.06, 64: 0.015, 128: 0.005}
"""Numbers of nodes, and the share of the problems that each has: small ones are cheap, and most
faults show in them; large ones are for depth."""
VISITED = (1, 2, 3, 5, 6, 7, 13, 33)
"""Sizes with a few problems of every family each, which no search starts from: the smallest, and
odd ones."""
_VISITORS = 0.01
"""The share of the problems that each of these has, beside the others."""
_ALWAYS = 8
"""Nodes below which every family has a problem, however few there are to be."""
ALL_SIZES = tuple(sorted({*SIZES, *VISITED}))
COVERED = 2 / 3
"""The share of problems that come from families; the others are found by search."""


@dataclasses.dataclass(eq=False)
class Group:
    """Problems of one size."""

    names: np.ndarray
    """Of their families: [problem]"""
    problems: list[Problem]
    batch: Batch

    @functools.cached_property
    def coordinates(self) -> dict[str, np.ndarray]:
        """See `scope`; [problem] each."""
        return coordinates(self.batch)

    def take(self, chosen: np.ndarray) -> "Group":
        taken = Group(
            self.names[chosen], [self.problems[i] for i in chosen], self.batch.take(chosen)
        )
        known = {name: values[chosen] for name, values in self.coordinates.items()}
        taken.__dict__["coordinates"] = known
        return taken

    @staticmethod
    def of(task: Task, named: list[tuple[str, Problem]]) -> "Group":
        problems = [problem for _, problem in named]
        return Group(np.array([name for name, _ in named]), problems, traced(task, problems))

    @staticmethod
    def of_batch(
        names: np.ndarray, batch: Batch, known_coordinates: dict[str, np.ndarray] | None = None
    ) -> "Group":
        """Of problems that are traced already."""
        group = Group(names, with_uneven_positions(batch), batch)
        if known_coordinates is not None:
            group.__dict__["coordinates"] = known_coordinates
        return group


def some_of_each(task: Task, nodes: int, each: int, seed: int) -> Batch:
    """So many problems of every family, of so many nodes."""
    random = np.random.default_rng(seed)
    known = families(domain(task))
    return traced(task, [p for family in known for p in family.draw(nodes, each, random)])


def shares(sizes: tuple[int, ...]) -> dict[int, float]:
    """Of the problems, by size; those that are only visited have none, and what is in neither list
    counts as the nearest of `SIZES`."""
    weights = {n: SIZES[min(SIZES, key=lambda known: abs(known - n))] for n in searched(sizes)}
    return {n: weight / sum(weights.values()) for n, weight in weights.items()}


def searched(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Those of the sizes that a search starts from: all, if all are of those that are visited."""
    return tuple(n for n in sizes if n not in VISITED) or sizes


@functools.lru_cache(maxsize=8)
def cover(task: Task, sizes: tuple[int, ...], problems: int, seed: int) -> list[Group]:
    random = np.random.default_rng([seed, 1])
    members = families(domain(task))
    groups = []
    share_of = shares(sizes)
    for n in sizes:
        share = share_of.get(n, _VISITORS)
        count = int(COVERED * problems * share / len(members) + 0.7)
        if n == min(sizes) or n < _ALWAYS:
            count = max(1, count)
        by_size: dict[int, list[tuple[str, Problem]]] = {}
        for member in members if count else []:
            for problem in member.draw(n, count, random):
                by_size.setdefault(size(problem), []).append((member.name, problem))
        groups += [Group.of(task, named) for named in by_size.values()]
    return groups
