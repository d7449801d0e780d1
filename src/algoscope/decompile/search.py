"""The search for the program that predicts a network best: a beam over one-change neighbours.

A program that leaves a decision to chance, because two nodes score the same and it matters which is
read, predicts nothing: the interpreter takes the first, a network would take both. Such programs
are left out once they come near the best.

Everything is fixed by the seed. Three sets of problems are kept apart: the search sees the first,
the program is chosen from those it found on the second, and what is reported is of the third.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import progress
from algoscope.decompile.fit import Behaviour, Fit
from algoscope.decompile.grammar import length, neighbours, normal, random_neighbour
from algoscope.programs import GraphProgram
from algoscope.programs.interpreter import least_leads

BEAM = 4
FINALISTS = 12
_STILL = 1e-9


class Candidate(NamedTuple):
    program: GraphProgram
    origin: tuple[str, ...]
    """The library's program that it began with, then each change."""
    fit: Fit

    @property
    def rank(self) -> tuple[float, int]:
        """The better the fit the smaller; of equals the shorter."""
        return -round(self.fit.value, 9), length(self.program)


class Searched(NamedTuple):
    finalists: list[Candidate]
    """The best programs that were tried, the best first."""
    tried: int
    """Programs."""
    generations: int


def search(
    behaviour: Behaviour,
    start: Sequence[GraphProgram],
    *,
    most: int,
    report: Callable[[str], None],
) -> Searched:
    """Goes from the starting programs to neighbours of the best until none is better."""
    known = {normal(program.text) for program in start}
    found = [Candidate(program, (program.name,), behaviour.fit(program)) for program in start]
    expanded: set[str] = set()
    undecided: set[str] = set()
    generations = 0

    def best_of(count: int) -> list[Candidate]:
        """The best that decide all they have to, the best first."""
        chosen = []
        for one in sorted(found, key=lambda one: one.rank):
            text = normal(one.program.text)
            if len(chosen) == count:
                break
            if text not in undecided and text not in expanded and not _decides(one, behaviour):
                undecided.add(text)
            if text not in undecided:
                chosen.append(one)
        return chosen

    with progress.job("searching for a program", total=most) as job:
        job.advance(len(found))
        while len(found) < most:
            best = best_of(BEAM)
            beam = [one for one in best if normal(one.program.text) not in expanded]
            if not beam or _explains_all(best[0]):
                break
            generations += 1
            for candidate in beam:
                expanded.add(normal(candidate.program.text))
                for step in neighbours(candidate.program, start):
                    text = normal(step.program.text)
                    if text in known or len(found) >= most:
                        continue
                    known.add(text)
                    origin = (*candidate.origin, step.change)
                    found.append(Candidate(step.program, origin, behaviour.fit(step.program)))
                    job.advance()
            (better,) = best_of(1)
            report(
                f"generation {generations}: {len(found):,} programs, best fit "
                f"{better.fit.value:.3f} ({'; '.join(better.origin)})"
            )
    finalists = best_of(FINALISTS) or [min(found, key=lambda one: one.rank)]
    return Searched(finalists, len(found), generations)


def choose(finalists: Sequence[Candidate], behaviour: Behaviour) -> Candidate:
    """The shortest of the finalists whose fit on other problems is within a standard error of the
    best one's."""
    again = [one._replace(fit=behaviour.fit(one.program)) for one in finalists]
    best = max(again, key=lambda one: one.fit.value)
    near = [one for one in again if one.fit.value >= best.fit.value - best.fit.error - _STILL]
    return min(near, key=lambda one: (length(one.program), -one.fit.value))


def random_programs(
    start: Sequence[GraphProgram], count: int, changes: int, seed: int
) -> list[GraphProgram]:
    """Programs that are so many random changes away from a random one of the library: what a
    program of the same grammar predicts by chance."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        program = start[int(random.integers(len(start)))]
        for _ in range(changes):
            program = random_neighbour(program, start, random)
        made.append(program)
    return made


def _decides(candidate: Candidate, behaviour: Behaviour) -> bool:
    return bool(least_leads(candidate.program, behaviour.batch).min() > _STILL)


def _explains_all(candidate: Candidate) -> bool:
    return candidate.fit.value >= 1 - _STILL
