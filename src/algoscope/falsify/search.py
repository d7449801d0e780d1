"""The falsifier: searches for problems on which a subject differs from the algorithm.

    result = falsify(network, "bfs")
    print(result)       # no disagreement in 6,210 problems of 23 families, sizes 4 to 128, …
    result.smallest     # the smallest counterexample, a Batch of one problem

First every family of `families` at every size; then a search from the problems with the smallest
margins, which are changed a little at a time, and whatever comes closer to a disagreement is kept;
last, a counterexample is made smaller as long as it remains one, and the region is found in which
there is none (`scope`). How many problems were tried, and where, is part of the result: it says how
hard the subject was tested.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.falsify.disagreement import (
    LARGEST_TOLERANCE,
    Disagreement,
    Subject,
    compare,
    margin_gradient,
)
from algoscope.falsify.families import (
    SAMPLER,
    SEARCH,
    Domain,
    Problem,
    domain,
    families,
    meets_needs,
    size,
    traced,
)
from algoscope.falsify.mutations import descended, mutated, simpler, without_node
from algoscope.falsify.result import Counterexample, Falsification, FamilyRate
from algoscope.falsify.scope import Region, coordinates, find_region
from algoscope.networks import Network
from algoscope.tasks import Batch, Task

SIZES = {4: 0.3, 8: 0.3, 16: 0.25, 32: 0.1, 64: 0.04, 128: 0.01}
"""Numbers of nodes, and the share of the problems that each has: small ones are cheap, and most
faults show in them; large ones are for depth."""
PROBLEMS = 6000
_LEARNT = 16
"""The size at which a scope has to hold most of the sampler's problems."""
_SHRINKING = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Sizes on the way to a smallest counterexample; each is compiled for."""
_COVERED = 2 / 3
"""The share of problems that come from families; the others are found by search."""
_MOST_WORK = 2**22
"""Problems with more steps times pairs of nodes are left out."""
_KEPT = 32
"""Problems that a generation of the search starts from."""
_SEARCHED = 32
"""The largest size of the search."""
_RATES = (1e-3, 1e-2, 0.1)
"""How far numbers move against the gradient of the margin."""
_ROUNDS = 4
"""Times that a region is drawn anew after fresh problems contradicted it."""
_PRECISION, _FLOOR = 50.0, 1e-4
"""A number disagrees if it is off by more than so many times the subject's usual error, or this."""


def falsify(
    subject: Subject,
    task: Task | str,
    *,
    problems: int = PROBLEMS,
    sizes: Sequence[int] = tuple(SIZES),
    seed: int = 0,
    certified: Callable[[Batch], np.ndarray] | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Falsification:
    """Searches for disagreements in about so many problems.

    `certified` says for which samples of a batch, bool [batch], a compiled network answers:
    disagreements on others are left out.
    """
    task = tasks.get(task)
    only_size = subject.config.attention_bias if isinstance(subject, Network) else None
    sizes = (only_size,) if only_size else tuple(n for n in sizes if n >= task.smallest)
    hunt = _Hunt(subject, task, certified, np.random.default_rng(seed))
    for group in _cover(task, sizes, problems, seed):
        hunt.examine(group.names, group.problems, group.batch)
        report(f"{group.batch.nodes} nodes: {hunt.status}")
    for n in [n for n in hunt.sizes if n <= _SEARCHED or n == min(hunt.sizes)]:
        hunt.evolve(n, round((1 - _COVERED) * problems / max(1, len(sizes) // 2)))
        report(f"search at {n} nodes: {hunt.status}")
    region = None
    if hunt.wrong:
        report("searching for the region without a disagreement")
        region = hunt.region(sizes, problems, seed)
        report("shrinking the counterexample")
    return hunt.result(region, hunt.shrunk())


class _Group(NamedTuple):
    """Problems of one size."""

    names: list[str]
    """Of their families."""
    problems: list[Problem]
    batch: Batch


@functools.lru_cache(maxsize=8)
def _cover(task: Task, sizes: tuple[int, ...], problems: int, seed: int) -> list[_Group]:
    """Every family at every size; the same for every subject."""
    random = np.random.default_rng([seed, 1])
    members = families(domain(task))
    weights = {n: SIZES.get(n, min(SIZES.values())) for n in sizes}
    groups = []
    for n in sizes:
        share = weights[n] / sum(weights.values())
        count = round(_COVERED * problems * share / len(members))
        drawn = [
            (member.name, problem)
            for member in members
            for problem in (member.draw(n, count, random) if count else [])
        ]
        by_size: dict[int, list[tuple[str, Problem]]] = {}
        for name, problem in drawn:
            by_size.setdefault(size(problem), []).append((name, problem))
        groups += [_group(task, named) for named in by_size.values()]
    return groups


def _group(task: Task, named: list[tuple[str, Problem]]) -> _Group:
    names, problems = [name for name, _ in named], [problem for _, problem in named]
    return _Group(names, problems, traced(task, problems))


class _Candidate(NamedTuple):
    margin: float
    problem: Problem
    family: str


@dataclasses.dataclass
class _Examined:
    """A batch that was tried."""

    batch: Batch
    names: np.ndarray
    result: Disagreement
    counted: np.ndarray
    """Which samples count: those within the certificate, if there is one."""


class _Hunt:
    """What was tried so far, and the most promising problems."""

    def __init__(
        self,
        subject: Subject,
        task: Task,
        certified: Callable[[Batch], np.ndarray] | None,
        random: np.random.Generator,
    ):
        self.subject, self.task, self.certified, self.random = subject, task, certified, random
        self.kind: Domain = domain(task)
        self.tolerance = self._usual_error()
        self.examined: list[_Examined] = []
        self.near: dict[int, list[_Candidate]] = {}
        """By size, the right problems with the smallest margins."""
        self.wrong: list[_Candidate] = []

    def _usual_error(self) -> float:
        n = max(_LEARNT, self.task.smallest)
        if isinstance(self.subject, Network) and self.subject.config.attention_bias:
            n = self.subject.config.attention_bias
        batch = tasks.sample(self.task, n, _rows(n), seed=1)
        result, _ = self._compare(batch)
        usual = float(np.median(result.error))
        return float(np.clip(_PRECISION * usual, _FLOOR, LARGEST_TOLERANCE))

    @property
    def sizes(self) -> list[int]:
        return sorted({tried.batch.nodes for tried in self.examined})

    @property
    def status(self) -> str:
        tried = sum(int(e.counted.sum()) for e in self.examined)
        return f"{len(self.wrong):,} disagreements in {tried:,} problems"

    def examine(self, names: Iterable[str], problems: list[Problem], batch: Batch) -> None:
        """Tries the problems of one size, and keeps what is wrong or nearly so."""
        result, counted = self._compare(batch)
        self.examined.append(_Examined(batch, np.array(list(names)), result, counted))
        candidates = [
            (bool(wrong), _Candidate(float(margin), problem, str(name)))
            for margin, problem, name, wrong, counts in zip(
                result.margin, problems, names, result.wrong, counted, strict=True
            )
            if counts
        ]
        self.wrong += [candidate for wrong, candidate in candidates if wrong]
        near = self.near.get(batch.nodes, []) + [c for wrong, c in candidates if not wrong]
        self.near[batch.nodes] = sorted(near, key=lambda c: c.margin)[:_KEPT]

    def evolve(self, n: int, count: int) -> None:
        """Mutants of the problems with the smallest margins, generation after generation."""
        rows = _rows(n)
        for generation in range(max(1, count // rows)):
            parents = self.near.get(n, [])
            if not parents:
                return
            mutants = self._descended(parents) if generation % 3 == 2 else []
            for number in range(4 * rows):
                if len(mutants) >= rows:
                    break
                mutants.append(
                    mutated(self.kind, parents[number % len(parents)].problem, self.random)
                )
            mutants = [mutant for mutant in mutants if meets_needs(self.task, mutant)][:rows]
            if mutants:
                batch = traced(self.task, mutants)
                self.examine([SEARCH] * len(mutants), mutants, batch)

    def _descended(self, parents: list[_Candidate]) -> list[Problem]:
        """The parents with their numbers moved towards a smaller margin."""
        names = ["A"] if self.kind.weighted else list(self.kind.numbers)
        if not isinstance(self.subject, Network) or not names:
            return []
        problems = [parent.problem for parent in parents]
        batch = traced(self.task, problems)
        rows = np.resize(np.arange(len(batch)), _KEPT)
        filled = _at_time(batch.take(rows), _time(batch.nodes, batch.time))
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
        """All problems of one size, in batches of few shapes; and which of them count."""
        lengths = np.asarray(batch.lengths)
        counted = lengths * batch.nodes**2 <= _MOST_WORK
        counted |= lengths <= batch.nodes
        none = np.zeros(len(batch), bool)
        whole = Disagreement(
            none.copy(),
            none.copy(),
            np.full(len(batch), -1),
            np.full(len(batch), np.inf),
            np.zeros(len(batch)),
        )
        times = np.array([_time(batch.nodes, int(length)) for length in lengths])
        rows = _rows(batch.nodes)
        for time in np.unique(times[counted]):
            members = np.flatnonzero(counted & (times == time))
            for start in range(0, len(members), rows):
                chosen = members[start : start + rows]
                part = _at_time(batch.take(np.resize(chosen, rows)), int(time))
                tolerance = getattr(self, "tolerance", LARGEST_TOLERANCE)
                found = compare(self.subject, part, tolerance)
                for values, some in zip(whole, found, strict=True):
                    values[chosen] = some[: len(chosen)]
        disagreeing = np.flatnonzero(whole.wrong & counted)
        if self.certified is not None and len(disagreeing):
            counted[disagreeing] = self.certified(batch.take(disagreeing))
        return whole, counted

    def region(self, sizes: tuple[int, ...], problems: int, seed: int) -> Region | None:
        """The region without a disagreement, which fresh problems confirm."""
        for attempt in range(1, _ROUNDS + 1):
            region = self._fitted()
            if region is None:
                return None
            contradicted = False
            for group in _cover(self.task, sizes, problems, seed + 1000 * attempt):
                before = len(self.wrong)
                inside = region.holds(coordinates(group.batch))
                chosen = np.flatnonzero(inside)
                if not len(chosen):
                    continue
                problems_inside = [group.problems[i] for i in chosen]
                names = [group.names[i] for i in chosen]
                self.examine(names, problems_inside, group.batch.take(chosen))
                contradicted |= len(self.wrong) > before
            if not contradicted:
                return self._fitted()
        return None

    def _fitted(self) -> Region | None:
        tables = [coordinates(e.batch) for e in self.examined]
        names = [name for name in tables[0] if all(name in table for table in tables)]
        counted = np.concatenate([e.counted for e in self.examined])
        values = {name: np.concatenate([t[name] for t in tables])[counted] for name in names}
        wrong = np.concatenate([e.result.wrong for e in self.examined])[counted]
        sampled = np.concatenate(
            [(e.names == SAMPLER) & (e.batch.nodes == self._learnt) for e in self.examined]
        )[counted]
        return find_region(values, wrong, sampled)

    @property
    def _learnt(self) -> int:
        return min(self.sizes, key=lambda n: abs(n - _LEARNT))

    def shrunk(self) -> Counterexample | None:
        """The smallest problem that is found to disagree: nodes and edges are taken away and
        numbers rounded, as long as it still does."""
        if not self.wrong:
            return None
        candidate = min(
            self.wrong, key=lambda c: (size(c.problem), np.count_nonzero(c.problem.get("A", ())))
        )
        problem = candidate.problem
        while True:
            smaller = self._first_wrong(self._fewer_nodes(problem))
            if smaller is None:
                smaller = self._first_wrong(simpler(self.kind, problem))
            if smaller is None:
                break
            problem = smaller
        batch = traced(self.task, [problem])
        result, _ = self._compare(batch)
        return Counterexample(
            candidate.family, batch, bool(result.wrong_answer[0]), int(result.first_step[0])
        )

    def _first_wrong(self, options: Iterable[Problem]) -> Problem | None:
        problems = [p for p in options if meets_needs(self.task, p)]
        for start in range(0, len(problems), 256):
            some = problems[start : start + 256]
            result, counted = self._compare(traced(self.task, some))
            wrong = result.wrong & counted
            if wrong.any():
                return some[int(wrong.argmax())]
        return None

    def _fewer_nodes(self, problem: Problem) -> list[Problem]:
        """The problem at the next smaller size of the ladder, some of its nodes gone: those without
        edges first."""
        n = size(problem)
        below = [m for m in _SHRINKING if self.task.smallest <= m < n]
        fixed = isinstance(self.subject, Network) and self.subject.config.attention_bias
        if not below or fixed or not (self.kind.has_graph or self.kind.numbers):
            return []
        A = problem.get("A")
        lonely = np.zeros(n) if A is None else ((A != 0) | (A.T != 0)).any(0)
        options = []
        for _ in range(_rows(below[-1]) // 2):
            option: Problem | None = problem
            order = np.argsort(lonely + 0.5 * self.random.random(n), kind="stable")
            if self.random.random() < 0.5:
                order = self.random.permutation(n)
            removed = sorted(order[: n - below[-1]].tolist(), reverse=True)
            for node in removed:
                option = option and without_node(option, node)
            if option is not None:
                options.append(option)
        return options

    def result(self, region: Region | None, smallest: Counterexample | None) -> Falsification:
        names = np.concatenate([e.names[e.counted] for e in self.examined])
        wrong = np.concatenate([e.result.wrong[e.counted] for e in self.examined])
        answers = np.concatenate([e.result.wrong_answer[e.counted] for e in self.examined])
        lengths = np.concatenate([np.asarray(e.batch.lengths)[e.counted] for e in self.examined])
        rates = [
            FamilyRate(
                str(name),
                int((names == name).sum()),
                int(wrong[names == name].sum()),
                int(answers[names == name].sum()),
            )
            for name in dict.fromkeys(names.tolist())
        ]
        counted = sum(int(e.counted.sum()) for e in self.examined)
        tried = sum(len(e.counted) for e in self.examined)
        return Falsification(
            self.task.name,
            rates,
            (min(self.sizes), max(self.sizes)),
            int(lengths.max()) - 1 if len(lengths) else 0,
            tried - counted,
            self.certified is not None,
            self.tolerance,
            region,
            smallest,
        )


def _rows(n: int) -> int:
    """How many problems of n nodes run side by side."""
    return 256 if n <= 8 else 128 if n <= 16 else 64 if n <= 32 else 32 if n <= 64 else 8


def _time(n: int, length: int) -> int:
    """To how many steps a problem is padded: few different ones, so that little is compiled."""
    time = 17
    for longer in (n + 1, 4 * n + 1, 16 * n + 1, 64 * n + 1, 256 * n + 1):
        if length <= time:
            break
        time = max(time, longer)
    return time


def _at_time(batch: Batch, time: int) -> Batch:
    """Padded or cut to a length of time that no sample exceeds."""
    if batch.time <= time:
        return batch.padded(time)
    hints = {name: hint[:, :time] for name, hint in batch.hints.items()}
    return dataclasses.replace(batch, hints=hints)
