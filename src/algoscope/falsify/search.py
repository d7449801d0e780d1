"""The falsifier: searches for problems on which a subject differs from the algorithm.

    result = falsify(network, "bfs")
    print(result)       # no disagreement in 6,210 problems of 23 families, sizes 4 to 128, …
    result.smallest     # the smallest counterexample, a Batch of one problem

First every family of `families` at every size, and, if asked for, a *survey* of many more random
problems, drawn, traced and compared where the network runs; then a search from the problems with
the smallest margins, or from those of all families where a subject has no margins, which are
changed a little at a time, and whatever comes closer to a disagreement is kept; last, a
counterexample is made smaller as long as it remains one, and the region is found in which there is
none (`scope`). How many problems were tried, and where, is part of the result: it says how
hard the subject was tested.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import progress, tasks
from algoscope.falsify import boundary
from algoscope.falsify.account import Subject, try_first
from algoscope.falsify.boundary import KEPT, Examined
from algoscope.falsify.counterexample import Counterexample, describe
from algoscope.falsify.cover import ALL_SIZES, COVERED, Group, cover, shares
from algoscope.falsify.disagreement import (
    LARGEST_TOLERANCE,
    Disagreement,
    account,
    compare,
    margin_gradient,
)
from algoscope.falsify.families import (
    SEARCH,
    SURVEY,
    Domain,
    Problem,
    domain,
    meets_needs,
    size,
    traced,
)
from algoscope.falsify.mutations import descended, mutated
from algoscope.falsify.padding import at_time, generations, in_parts, padded_time, rows_of
from algoscope.falsify.result import Falsification, FamilyRate
from algoscope.falsify.scope import Region
from algoscope.falsify.shrinking import SHRINKING, shrink
from algoscope.falsify.survey import check_survey, survey
from algoscope.networks import Network
from algoscope.tasks import Batch, Task

PROBLEMS = 4000
_USUAL = 16
"""Nodes of the problems on which a subject's usual error is measured."""
_RATES = (1e-3, 1e-2, 0.1)
"""How far numbers move against the gradient of the margin."""
_MUTANTS = 8
"""How many mutants are as promising as one problem of a family, where nothing tells them apart."""
_SURVEYED = (8, 16, 32)
"""Nodes of the problems of a survey, as many of each, unless a network has one size."""
_PRECISION, _FLOOR = 50.0, 1e-4
"""A number disagrees if it is off by more than so many times the subject's usual error, or this."""


def falsify(
    subject: Subject,
    task: Task | str,
    *,
    problems: int = PROBLEMS,
    surveyed: int = 0,
    sizes: Sequence[int] = ALL_SIZES,
    seed: int = 0,
    certified: Callable[[Batch], np.ndarray] | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Falsification:
    """Searches for disagreements in about so many problems, and in as many more as are to be
    `surveyed`, for a network and a task of `PARALLEL`.

    `certified` says for which samples of a batch, bool [batch], a compiled network answers:
    disagreements on others are left out.
    """
    # A counterexample knows its task by name.
    task = tasks.register(tasks.get(task))
    if problems < 1:
        raise ValueError(f"problems: got {problems}, needed at least 1")
    if surveyed:
        check_survey(subject, task, surveyed)
    sizes = sizes_for(subject, task, sizes)
    if not isinstance(subject, Network):
        try_first(subject, task)
    hunt = Hunt(subject, task, certified, np.random.default_rng(seed))
    with progress.job("looking for a disagreement"):
        for group in progress.over(cover(task, sizes, problems, seed), "families"):
            hunt.examine(group)
            report(f"{group.batch.nodes} nodes: {hunt.status}")
        if surveyed:
            hunt.survey(surveyed, seed)
            report(f"survey: {hunt.status}")
        for n, share in progress.over(list(shares(sizes).items()), "search"):
            if count := round((1 - COVERED) * problems * share):
                hunt.evolve(n, count)
                report(f"search at {n} nodes: {hunt.status}")
    region = None
    if hunt.wrong:
        report("searching for the region without a disagreement")
        with progress.job("searching for the region without a disagreement"):
            region = boundary.region(hunt, sizes, problems, seed)
        report("shrinking the counterexample")
    with progress.job("shrinking the counterexample"):
        smallest = hunt.shrunk()
    return hunt.result(region, smallest)


class _Candidate(NamedTuple):
    margin: float
    error: float
    problem: Problem
    family: str


class Hunt:
    """What was tried so far, and the most promising problems."""

    def __init__(
        self,
        subject: Subject,
        task: Task,
        certified: Callable[[Batch], np.ndarray] | None,
        random: np.random.Generator,
        tolerance: float | None = None,
    ):
        """The tolerance is measured if none is given."""
        self.subject, self.task, self.certified, self.random = subject, task, certified, random
        self.kind: Domain = domain(task)
        if tolerance is None:
            batch = usual_problems(task, only_size(subject))
            whole, _ = in_parts(batch, lambda part: compare(subject, part))
            tolerance = tolerance_of(whole.error)
        self.tolerance = tolerance
        self.examined: list[Examined] = []
        self.near: dict[int, list[_Candidate]] = {}
        """By size, the right problems with the smallest margins."""
        self.wrong: list[_Candidate] = []
        self.surveyed: list[FamilyRate] = []
        """Of each size."""
        self.left_out = 0
        """Problems of a survey that do not count."""

    @property
    def sizes(self) -> list[int]:
        return sorted({t.group.batch.nodes for t in self.examined if t.counted.any()})

    @property
    def status(self) -> str:
        tried = sum(int(tried.counted.sum()) for tried in self.examined if not tried.confirms)
        tried += sum(part.problems for part in self.surveyed)
        return f"{len(self.wrong):,} disagreements in {tried:,} problems"

    def examine(self, group: Group, *, confirms: bool = False) -> int:
        """Tries the problems, and keeps what is wrong or nearly so; how many disagree."""
        return self.note(group, *self._compare(group.batch), confirms)

    def note(
        self, group: Group, result: Disagreement, counted: np.ndarray, confirms: bool = False
    ) -> int:
        """Keeps what came of a group of problems; how many disagree."""
        self.examined.append(Examined(group, result, counted, confirms))
        rows = zip(*result, group.problems, group.names, counted, strict=True)
        candidates = [
            (bool(wrong), _Candidate(float(margin), float(error), problem, str(name)))
            for wrong, _, _, margin, error, problem, name, counts in rows
            if counts
        ]
        disagreeing = [candidate for wrong, candidate in candidates if wrong]
        self.wrong += disagreeing
        nodes = group.batch.nodes
        near = self.near.get(nodes, []) + [c for wrong, c in candidates if not wrong]
        self.near[nodes] = self._promising(near)[:KEPT]
        return len(disagreeing)

    def _promising(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """Those with the smallest margins first. Of a subject without margins, those with the
        largest errors of numbers of every family, so that all families are searched from."""
        if any(np.isfinite(candidate.margin) for candidate in candidates):
            return sorted(candidates, key=lambda c: c.margin)
        ranks: dict[str, int] = {}
        ranked = []
        for number in self.random.permutation(len(candidates)).tolist():
            ranked.append((-candidates[number].error, number))
        order = []
        for place, (_, number) in enumerate(sorted(ranked, key=lambda some: some[0])):
            family = candidates[number].family
            rank = ranks.get(family, 0)
            ranks[family] = rank + 1
            order.append((rank // _MUTANTS if family == SEARCH else rank, place, number))
        return [candidates[number] for _, _, number in sorted(order)]

    def evolve(self, n: int, count: int) -> None:
        """Mutants of the problems with the smallest margins, generation after generation."""
        for generation in range(generations(n, count)):
            mutants = self.mutants(n, generation)
            if mutants:
                self.examine(Group.of(self.task, [(SEARCH, mutant) for mutant in mutants]))

    def mutants(self, n: int, generation: int) -> list[Problem]:
        """The next generation of n nodes, none without parents."""
        rows, parents = rows_of(n), self.near.get(n, [])
        if not parents:
            return []
        mutants = self._descended(parents) if generation % 3 == 2 else []
        for number in range(4 * rows):
            if len(mutants) >= rows:
                break
            mutants.append(mutated(self.kind, parents[number % len(parents)].problem, self.random))
        return [mutant for mutant in mutants if meets_needs(self.task, mutant)][:rows]

    def survey(self, count: int, seed: int) -> None:
        """Counts the disagreements in about so many random problems. Some that disagree, and those
        with the smallest margins, are tried again as all others are; of a network that is judged
        inside a certificate, only these count."""
        fixed = only_size(self.subject)
        sizes = (fixed,) if fixed else _SURVEYED
        with progress.job("survey", total=count) as job:
            for n in sizes:
                share = math.ceil(count / len(sizes))
                found = survey(
                    self.subject, self.task, n, share, self.tolerance, seed, report=job.advance
                )
                named = [(SURVEY, problem) for problem in found.differing + found.near]
                confirmed = self.examine(Group.of(self.task, named), confirms=True)
                wrong = found.disagreeing if self.certified is None else confirmed
                left_out = max(0, found.disagreeing - wrong)
                answers = min(wrong, found.wrong_answers)
                self.surveyed.append(FamilyRate(SURVEY, found.count - left_out, wrong, answers))
                self.left_out += left_out

    def _descended(self, parents: list[_Candidate]) -> list[Problem]:
        """The parents with their numbers moved towards a smaller margin."""
        names = ["A"] if self.kind.weighted else list(self.kind.numbers)
        if not isinstance(self.subject, Network) or not names:
            return []
        problems = [parent.problem for parent in parents]
        batch = traced(self.task, problems)
        rows = np.resize(np.arange(len(batch)), KEPT)
        filled = at_time(batch.take(rows), padded_time(batch.nodes, batch.time))
        moved = []
        for name in names:
            gradients = margin_gradient(self.subject, filled, name)
            moved += [
                descended(self.kind, problem, name, gradient, rate)
                for problem, gradient in zip(problems, gradients, strict=False)
                for rate in _RATES
                if np.isfinite(gradient).all()
            ]
        return moved

    def _compare(self, batch: Batch) -> tuple[Disagreement, np.ndarray]:
        """All problems of one size; and which of them count."""
        whole, counted = in_parts(batch, lambda part: compare(self.subject, part, self.tolerance))
        disagreeing = np.flatnonzero(whole.wrong & counted)
        if self.certified is not None and len(disagreeing):
            counted[disagreeing] = self.certified(batch.take(disagreeing))
        return whole, counted

    def smallest_tried(self) -> Counterexample | None:
        """The first of the smallest problems that were tried and disagree."""
        disagreeing = [
            (tried, np.flatnonzero(tried.result.wrong & tried.counted)) for tried in self.examined
        ]
        disagreeing = [(tried, rows) for tried, rows in disagreeing if len(rows)]
        if not disagreeing:
            return None
        tried, rows = min(disagreeing, key=lambda some: some[0].group.batch.nodes)
        group = tried.group
        return self._described(str(group.names[rows[0]]), group.problems[rows[0]])

    def shrunk(self) -> Counterexample | None:
        """The smallest problem that is found to disagree."""
        if not self.wrong:
            return None
        candidate = min(
            self.wrong, key=lambda c: (size(c.problem), np.count_nonzero(c.problem.get("A", ())))
        )
        sizes = () if only_size(self.subject) else SHRINKING
        problem = shrink(self.kind, candidate.problem, self._first_wrong, self.random, sizes)
        return self._described(candidate.family, problem)

    def _described(self, family: str, problem: Problem) -> Counterexample:
        batch = traced(self.task, [problem])
        result, _ = self._compare(batch)
        # In the shape of the comparison, since the last bits of a float depend on the shape.
        copies = batch.take(np.zeros(rows_of(batch.nodes), int))
        said = account(self.subject, at_time(copies, padded_time(batch.nodes, batch.time)))
        return describe(family, problem, batch, said, result, self.tolerance)

    def _first_wrong(self, options: Iterable[Problem]) -> Problem | None:
        problems = [p for p in options if meets_needs(self.task, p)]
        for start in range(0, len(problems), 256):
            some = problems[start : start + 256]
            result, counted = self._compare(traced(self.task, some))
            wrong = result.wrong & counted
            if wrong.any():
                return some[int(wrong.argmax())]
        return None

    def result(self, region: Region | None, smallest: Counterexample | None) -> Falsification:
        examined = [tried for tried in self.examined if not tried.confirms]

        def joined(values: Callable[[Examined], np.ndarray]) -> np.ndarray:
            return np.concatenate([values(tried)[tried.counted] for tried in examined])

        names = joined(lambda tried: tried.group.names)
        wrong = joined(lambda tried: tried.result.wrong)
        answers = joined(lambda tried: tried.result.wrong_answer)
        lengths = joined(lambda tried: np.asarray(tried.group.batch.lengths))
        rates = [
            FamilyRate(
                str(name),
                int((names == name).sum()),
                int(wrong[names == name].sum()),
                int(answers[names == name].sum()),
            )
            for name in dict.fromkeys(names.tolist())
        ]
        if self.surveyed:
            _, *counts = zip(*self.surveyed, strict=True)
            rates.append(FamilyRate(SURVEY, *map(sum, counts)))
        left_out = self.left_out + sum(int((~tried.counted).sum()) for tried in examined)
        return Falsification(
            self.task.name,
            rates,
            (min(self.sizes, default=0), max(self.sizes, default=0)),
            int(lengths.max()) - 1 if len(lengths) else 0,
            left_out,
            self.certified is not None,
            self.tolerance,
            region,
            smallest,
        )


def sizes_for(subject: Subject, task: Task, sizes: Sequence[int]) -> tuple[int, ...]:
    """Those of the sizes that a subject and a task can have."""
    fixed = only_size(subject)
    possible = (fixed,) if fixed else tuple(n for n in sizes if n >= task.smallest)
    if not possible:
        raise ValueError(
            f"sizes: got {tuple(sizes)}, needed one of at least {task.smallest} for {task.name}"
        )
    return possible


def only_size(subject: Subject) -> int | None:
    """The size of a network that has one alone."""
    return subject.config.attention_bias if isinstance(subject, Network) else None


def usual_problems(task: Task, fixed: int | None) -> Batch:
    """Problems as in training, on which a subject's usual error is measured."""
    n = fixed or max(_USUAL, task.smallest)
    return tasks.sample(task, n, rows_of(n), seed=1)


def tolerance_of(errors: np.ndarray) -> float:
    """Within which numbers agree, from the errors [problem] on usual problems."""
    return float(np.clip(_PRECISION * np.median(errors), _FLOOR, LARGEST_TOLERANCE))
