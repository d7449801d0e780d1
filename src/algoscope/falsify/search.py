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

SIZES = {4: 0.34, 8: 0.34, 16: 0.24, 32: 0.06, 64: 0.015, 128: 0.005}
"""Numbers of nodes, and the share of the problems that each has: small ones are cheap, and most
faults show in them; large ones are for depth."""
PROBLEMS = 4000
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
        hunt.examine(group)
        report(f"{group.batch.nodes} nodes: {hunt.status}")
    shares = _shares(sizes)
    for n in sizes:
        if count := round((1 - _COVERED) * problems * shares[n]):
            hunt.evolve(n, count)
            report(f"search at {n} nodes: {hunt.status}")
    region = None
    if hunt.wrong:
        report("searching for the region without a disagreement")
        region = hunt.region(sizes, problems, seed)
        report("shrinking the counterexample")
    return hunt.result(region, hunt.shrunk())


@dataclasses.dataclass(eq=False)
class _Group:
    """Problems of one size."""

    names: np.ndarray
    """Of their families: [problem]"""
    problems: list[Problem]
    batch: Batch

    @functools.cached_property
    def coordinates(self) -> dict[str, np.ndarray]:
        """See `scope`; [problem] each."""
        return coordinates(self.batch)

    def take(self, chosen: np.ndarray) -> "_Group":
        taken = _Group(
            self.names[chosen], [self.problems[i] for i in chosen], self.batch.take(chosen)
        )
        known = {name: values[chosen] for name, values in self.coordinates.items()}
        taken.__dict__["coordinates"] = known
        return taken

    @staticmethod
    def of(task: Task, named: list[tuple[str, Problem]]) -> "_Group":
        problems = [problem for _, problem in named]
        return _Group(np.array([name for name, _ in named]), problems, traced(task, problems))


def _shares(sizes: tuple[int, ...]) -> dict[int, float]:
    """Of the problems, by size."""
    weights = {n: SIZES.get(n, min(SIZES.values())) for n in sizes}
    return {n: weight / sum(weights.values()) for n, weight in weights.items()}


@functools.lru_cache(maxsize=8)
def _cover(task: Task, sizes: tuple[int, ...], problems: int, seed: int) -> list[_Group]:
    """Every family at every size; the same for every subject."""
    random = np.random.default_rng([seed, 1])
    members = families(domain(task))
    groups = []
    for n, share in _shares(sizes).items():
        count = int(_COVERED * problems * share / len(members) + 0.7)
        by_size: dict[int, list[tuple[str, Problem]]] = {}
        for member in members if count else []:
            for problem in member.draw(n, count, random):
                by_size.setdefault(size(problem), []).append((member.name, problem))
        groups += [_Group.of(task, named) for named in by_size.values()]
    return groups


class _Candidate(NamedTuple):
    margin: float
    problem: Problem
    family: str


class _Examined(NamedTuple):
    """A group that was tried."""

    group: _Group
    result: Disagreement
    counted: np.ndarray
    """Which problems count: those within the certificate, if there is one."""


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
        return sorted({tried.group.batch.nodes for tried in self.examined})

    @property
    def status(self) -> str:
        count = sum(int(tried.counted.sum()) for tried in self.examined)
        return f"{len(self.wrong):,} disagreements in {count:,} problems"

    def examine(self, group: _Group) -> int:
        """Tries the problems, and keeps what is wrong or nearly so; how many disagree."""
        result, counted = self._compare(group.batch)
        self.examined.append(_Examined(group, result, counted))
        rows = zip(result.margin, group.problems, group.names, result.wrong, counted, strict=True)
        candidates = [
            (bool(wrong), _Candidate(float(margin), problem, str(name)))
            for margin, problem, name, wrong, counts in rows
            if counts
        ]
        disagreeing = [candidate for wrong, candidate in candidates if wrong]
        self.wrong += disagreeing
        nodes = group.batch.nodes
        near = self.near.get(nodes, []) + [c for wrong, c in candidates if not wrong]
        self.near[nodes] = sorted(near, key=lambda c: c.margin)[:_KEPT]
        return len(disagreeing)

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
                self.examine(_Group.of(self.task, [(SEARCH, mutant) for mutant in mutants]))

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
            inside = (
                group.take(np.flatnonzero(region.holds(group.coordinates)))
                for group in _cover(self.task, sizes, problems, seed + 1000 * attempt)
            )
            if not sum(self.examine(group) for group in inside if len(group.names)):
                return self._fitted()
        return None

    def _fitted(self) -> Region | None:
        tables = [tried.group.coordinates for tried in self.examined]
        names = [name for name in tables[0] if all(name in table for table in tables)]
        counted = np.concatenate([tried.counted for tried in self.examined])
        values = {name: np.concatenate([t[name] for t in tables])[counted] for name in names}
        wrong = np.concatenate([tried.result.wrong for tried in self.examined])[counted]
        sampled = [
            (tried.group.names == SAMPLER) & (tried.group.batch.nodes == self._learnt)
            for tried in self.examined
        ]
        return find_region(values, wrong, np.concatenate(sampled)[counted])

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
        def joined(values: Callable[[_Examined], np.ndarray]) -> np.ndarray:
            return np.concatenate([values(tried)[tried.counted] for tried in self.examined])

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
        left_out = sum(int((~tried.counted).sum()) for tried in self.examined)
        return Falsification(
            self.task.name,
            rates,
            (min(self.sizes), max(self.sizes)),
            int(lengths.max()) - 1 if len(lengths) else 0,
            left_out,
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
    time = max(17, n + 1)
    for longer in (4 * n + 1, 16 * n + 1, 64 * n + 1, 256 * n + 1):
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
