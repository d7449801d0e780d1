"""Problems of a domain that a model is to break on, and how large they may be before it does."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.domains import Domain, Problem
from algoscope.llm.trials import Reader

_FEWEST = 40
"""Problems that a region has to hold."""
_HARD, _NARROW, _MUTANTS, _ROUNDS = 200, 12, 5, 2


class Limits(NamedTuple):
    """A region: at most so much of each size; everything where none is given."""

    most: tuple[tuple[str, int], ...] = ()

    def holds(self, problem: Problem) -> bool:
        return all(problem.size[name] <= most for name, most in self.most)

    def __str__(self) -> str:
        return ", ".join(f"{name} {most}" for name, most in self.most)


class Posed(NamedTuple):
    problem: Problem
    odds: np.ndarray
    """[option]"""

    @property
    def said(self) -> int:
        return int(self.odds.argmax())

    @property
    def right(self) -> bool:
        return self.said == self.problem.right


class Broken(NamedTuple):
    posed: list[Posed]
    region: Limits | None
    """Where no answer is wrong; None where there is no such region."""
    home: Limits
    """Problems no larger than those that accuracy was asked for."""
    as_heuristics: tuple[tuple[str, statistics.Estimate, int], ...] = ()
    """How often the answers are a heuristic's where it is wrong, and how many such there are: by
    the heuristic's name."""

    @property
    def around(self) -> Limits:
        return self.home if self.region is None else self.region

    @property
    def inside(self) -> list[Posed]:
        return [one for one in self.posed if self.around.holds(one.problem)]

    @property
    def wrong(self) -> statistics.Estimate:
        return statistics.proportion([not one.right for one in self.inside])

    @property
    def tried(self) -> str:
        sizes = {
            name: max(one.problem.size[name] for one in self.posed)
            for name in self.posed[0].problem.size
        }
        to = ", ".join(f"{name} to {most}" for name, most in sizes.items())
        return f"{len(self.posed)} problems ({to})"


def break_it(reader: Reader, items: Sequence[Problem], seed: int = 0) -> Broken:
    """Problems like the items and harder ones; then those that are nearest to a wrong answer are
    changed, and changed again."""
    domain, rng = reader.domain, np.random.default_rng([seed, 1])
    posed = _pose(reader, [domain.draw(rng, number % 4 > 0) for number in range(_HARD)])
    for _ in range(_ROUNDS):
        narrow = sorted((one for one in posed if one.right), key=_margin)[:_NARROW]
        changed = [domain.pair(one.problem, rng)[0] for one in narrow for _ in range(_MUTANTS)]
        posed += _pose(reader, changed)
    names = items[0].size
    home = Limits(tuple((name, max(item.size[name] for item in items)) for name in names))
    return Broken(posed, region(posed), home, _as_heuristics(domain, posed))


def _as_heuristics(
    domain: Domain, posed: Sequence[Posed]
) -> tuple[tuple[str, statistics.Estimate, int], ...]:
    found = []
    for heuristic in domain.heuristics:
        its = [(heuristic.answer(one.problem.content), one) for one in posed]
        same = [one.said == said for said, one in its if said != one.problem.right]
        found.append((heuristic.name, statistics.proportion(same), len(same)))
    return tuple(found)


def _pose(reader: Reader, problems: Sequence[Problem]) -> list[Posed]:
    answered = reader.answers(problems)
    return [Posed(problem, odds) for problem, odds in zip(problems, answered, strict=True)]


def _margin(one: Posed) -> float:
    return float(one.odds[one.problem.right])


def region(posed: Sequence[Posed]) -> Limits | None:
    """The largest region, by limits to one or two sizes, without a wrong answer, if wrong ones are
    surely more frequent outside."""
    if all(one.right for one in posed):
        return Limits()
    sizes = {
        name: sorted({one.problem.size[name] for one in posed})[:-1]
        for name in posed[0].problem.size
    }
    single = [((name, most),) for name, values in sizes.items() for most in values]
    double = [
        ((a, most_a), (b, most_b))
        for a, b in itertools.combinations(sizes, 2)
        for most_a in sizes[a]
        for most_b in sizes[b]
    ]
    for candidates in (single, double):
        found = []
        for most in candidates:
            limits = Limits(most)
            inside = [one for one in posed if limits.holds(one.problem)]
            outside = [one for one in posed if not limits.holds(one.problem)]
            cases = {one.problem.case for one in inside}
            if len(inside) < _FEWEST or len(cases) < 2 or not all(one.right for one in inside):
                continue
            rate = statistics.proportion([not one.right for one in outside])
            if rate.low > statistics.proportion([False] * len(inside)).high:
                found.append((len(inside), limits))
        if found:
            return max(found, key=lambda pair: pair[0])[1]
    return None


def within(domain: Domain, limits: Limits, count: int, seed: int = 0) -> list[Problem]:
    """So many problems of the region, each the first of its pair; fewer where such are rare."""
    rng = np.random.default_rng([seed, 3])
    found: list[Problem] = []
    for _ in range(20 * count):
        problem = domain.draw(rng, False)
        if limits.holds(problem):
            found.append(dataclasses.replace(problem, pair=len(found)))
        if len(found) == count:
            break
    return found
