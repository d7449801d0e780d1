"""Exchanges of states, and what every program of a task makes of them.

A run of a problem, the *donor*, gives its whole state after some step; another problem, the *base*,
goes on from there. What a program keeps is then the donor's, and what it looks up is the base's:
programs that keep different things go on differently, though all of them are exact.

In a *valid* exchange the two problems differ by one edge or key, and each exact program of the task
goes on just as it would on one of the two. What follows is then a trace that some problem has,
whatever the subject keeps. States of any other problem (`between`, with `interchange.partners`) are
a harder test: most fit no problem.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import programs
from algoscope.measures.counterfactual import (
    LARGEST_WEIGHT,
    LEAST_WEIGHT,
    Problem,
    changeable,
    has_flips,
    problems_of,
    traced,
    with_other_key,
    with_value,
)
from algoscope.measures.trace_match import NUMBER_MARGIN, entries
from algoscope.programs import GraphProgram, Role
from algoscope.programs.exchange import Continuation, resume, states_after
from algoscope.tasks import Batch, Feature, Kind, Stage, Task
from algoscope.tasks.given_problems import complaints

AHEAD = 3
"""The steps after an exchange that count."""
_MOST = 64
_LEAST = 6
"""Of fewer exchanges nothing follows: six that all speak for one of two programs are p = 0.03."""
_TRIES = 4
_CLASS_MARGIN = 0.5


class Exchanges(NamedTuple):
    base: Batch
    """The problems that are gone on with, cut to the steps ahead."""
    donor: Batch
    """Those from which the states come."""
    steps: np.ndarray
    """The donor's step after which its state is taken: int [exchange]."""
    accounts: dict[str, Continuation]
    """How each exact program of the task goes on, by its name."""
    wrong_accounts: dict[str, Continuation]
    """How each of its wrong programs does."""

    def take(self, chosen: np.ndarray) -> "Exchanges":
        """Some of the exchanges, by a mask or indices."""
        accounts, wrong = (
            {name: _taken(account, chosen) for name, account in group.items()}
            for group in (self.accounts, self.wrong_accounts)
        )
        base, donor = self.base.take(chosen), self.donor.take(chosen)
        return Exchanges(base, donor, self.steps[chosen], accounts, wrong)

    def disagreement(self, features: Sequence[Feature]) -> np.ndarray:
        """The entries of these hints in which exact programs differ:
        bool [exchange, step, entry]."""
        first, *others = (in_margins(features, account.hints) for account in self.accounts.values())
        return np.any([differ(first, other) for other in others], axis=0)


def exact_rivals(task: Task) -> list[GraphProgram]:
    """All exact programs of the task: references, variants, and those of another state."""
    roles = (Role.REFERENCE, Role.VARIANT, Role.STATE)
    return [program for role in roles for program in programs.of_task(task, role)]


def valid_exchanges(batch: Batch, seed: int = 0, most: int = _MOST) -> Exchanges | None:
    """At most one valid exchange for each problem of the batch, of those after which programs
    disagree, in balance of who goes on as which problem; none if the task has fewer than two exact
    programs, or if there are too few such exchanges."""
    rivals = exact_rivals(batch.task)
    if len(rivals) < 2 or changeable(batch) is None or batch.nodes < 2:
        return None
    hints = batch.at(Stage.HINT)
    candidates = _candidates(batch, np.random.default_rng(seed))
    if candidates is None:
        return None
    base, donor, steps = candidates
    ways = [in_margins(hints, _ahead_in_trace(problems, steps)) for problems in (base, donor)]
    chosen = np.arange(len(steps))
    as_base = np.zeros((len(rivals), len(steps)), bool)
    for number, program in enumerate(rivals):
        if not len(chosen):
            return None
        onwards = continuation(program, base.take(chosen), donor.take(chosen), steps[chosen])
        account = in_margins(hints, onwards.hints)
        as_base[number, chosen], as_donor = (
            ~differ(account, way[chosen]).any((1, 2)) for way in ways
        )
        chosen = chosen[onwards.kept & (as_base[number, chosen] | as_donor)]
    as_base = as_base[:, chosen]
    telling = np.flatnonzero(as_base.any(0) & ~as_base.all(0))
    if len(telling) < _LEAST:
        return None
    chosen = np.sort(chosen[telling[_balanced(as_base[:, telling].T)[:most]]])
    return between(base.take(chosen), donor.take(chosen), steps[chosen])


def between(base: Batch, donor: Batch, steps: np.ndarray) -> Exchanges:
    """The exchanges of these states; those after which an exact program breaks a promise are left
    out."""
    task = base.task
    accounts, wrong = (
        {p.name: continuation(p, base, donor, steps) for p in group}
        for group in (exact_rivals(task), programs.of_task(task, Role.WRONG))
    )
    kept = np.all([account.kept for account in accounts.values()], axis=0)
    return Exchanges(cut(base, AHEAD), donor, steps, accounts, wrong).take(kept)


def draw_steps(batch: Batch, random: np.random.Generator) -> np.ndarray:
    """A step of each sample, not its last if it has several."""
    return random.integers(0, np.maximum(batch.lengths - 3, 0) + 1)


def cut(batch: Batch, steps: int) -> Batch:
    """The batch with so many steps, none of which is padding."""
    kept = np.minimum(np.arange(steps + 1), batch.time - 1)
    hints = {name: hint[:, kept] for name, hint in batch.hints.items()}
    return dataclasses.replace(batch, hints=hints, lengths=np.full(len(batch), steps + 1))


def in_margins(features: Sequence[Feature], hints: Mapping[str, np.ndarray]) -> np.ndarray:
    """All entries of the features side by side, in units of the margin within which two are the
    same: [batch, step, entry]."""
    columns = []
    for feature in features:
        values = entries(feature, hints[feature.name])
        margin = NUMBER_MARGIN if feature.kind is Kind.SCALAR else _CLASS_MARGIN
        columns.append(values.reshape(*values.shape[:2], -1) / margin)
    return np.concatenate(columns, -1)


def differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which entries are not the same, of `in_margins`."""
    return np.abs(one - other) > 1


def continuation(
    program: GraphProgram, base: Batch, donor: Batch, steps: np.ndarray
) -> Continuation:
    """How a program goes on with the base, from its state after a step of the donor."""
    return resume(program, cut(base, AHEAD), states_after(program, donor, steps), AHEAD)


def _balanced(rows: np.ndarray) -> np.ndarray:
    """An order in which every kind of row comes about as early as every other: int [row]"""
    _, kinds = np.unique(rows, axis=0, return_inverse=True)
    ranks = [int((kinds[:row] == kind).sum()) for row, kind in enumerate(kinds)]
    return np.argsort(ranks, kind="stable")


def _taken(account: Continuation, chosen: np.ndarray) -> Continuation:
    hints, initial_hints = (
        {name: hint[chosen] for name, hint in group.items()}
        for group in (account.hints, account.initial_hints)
    )
    return Continuation(hints, initial_hints, account.kept[chosen])


def _ahead_in_trace(batch: Batch, steps: np.ndarray, ahead: int = AHEAD) -> dict[str, np.ndarray]:
    """The algorithm's trace in the steps that follow; it rests at its end."""
    when = np.minimum(steps[:, None] + 2 + np.arange(ahead), batch.lengths[:, None] - 1)
    samples = np.arange(len(batch))[:, None]
    return {name: hint[samples, when] for name, hint in batch.hints.items()}


def _candidates(
    batch: Batch, random: np.random.Generator
) -> tuple[Batch, Batch, np.ndarray] | None:
    """Pairs of a problem and the same changed, and a step: the first of several tries for each
    problem of the batch in which the change is noticed. None if there are too few."""
    pairs: dict[int, tuple[Problem, Problem]] = {}
    steps: dict[int, int] = {}
    originals = problems_of(batch)
    for _ in range(_TRIES):
        unchanged = [sample for sample in range(len(batch)) if sample not in pairs]
        if not unchanged:
            break
        tried = [_pair(batch, originals[sample], sample, random) for sample in unchanged]
        base, donor = (traced(batch, side) for side in zip(*tried, strict=True))
        for sample, pair, step in zip(
            unchanged, tried, _telling_steps(base, donor, random), strict=True
        ):
            if step >= 0:
                pairs[sample], steps[sample] = pair, int(step)
    if len(pairs) < _LEAST:
        return None
    chosen = sorted(pairs)
    base, donor = (traced(batch, [pairs[sample][k] for sample in chosen]) for k in (0, 1))
    return base, donor, np.array([steps[sample] for sample in chosen], int)


def _telling_steps(base: Batch, donor: Batch, random: np.random.Generator) -> np.ndarray:
    """A step of each sample, not its last if it has several: one of the first after which the two
    traces differ, or do a step later; -1 if there is none. int [batch]"""
    features = base.at(Stage.HINT)
    most = int(donor.lengths.max())
    whole = [
        in_margins(features, _ahead_in_trace(batch, np.zeros(len(batch), int) - 1, most))
        for batch in (base, donor)
    ]
    now = np.asarray(differ(*whole).any(-1))
    apart = now | np.pad(now[:, 1:], [(0, 0), (0, 1)])
    apart &= np.arange(most) <= np.maximum(donor.lengths - 3, 0)[:, None]
    apart &= np.cumsum(apart, 1) <= AHEAD + 1
    drawn = np.where(apart, random.uniform(size=apart.shape), -1.0)
    return np.where(apart.any(-1), drawn.argmax(-1), -1)


def _pair(
    batch: Batch, problem: Problem, sample: int, random: np.random.Generator
) -> tuple[Problem, Problem]:
    """Base and donor: the problem, and the same with another key; or with an edge more or less, or
    of another weight, at a node that no answer points to, so that little follows from it; every
    other time the edge that its own answer points along. Twice the same if the task's algorithm
    does not take the changed one."""
    if "A" not in problem:
        return problem, with_other_key(batch, problem, random)
    edge = _edge(batch, sample, random)
    weighted, value = has_flips(batch), problem["A"][edge]
    other = random.uniform(LEAST_WEIGHT, LARGEST_WEIGHT) if weighted else float(value == 0)
    changed = with_value("A", problem, edge, other)
    if any(complaints(batch.task, changed | {"labels": np.arange(batch.nodes)})):
        return problem, problem
    # What the donor keeps has to differ from what the base offers. A heavier edge would be given up
    # for the base's lighter one by those who keep, too. An edge that the base lacks would be there
    # all the same: pointers that are read back join their nodes.
    donor_is_changed = other < value
    return (problem, changed) if donor_is_changed else (changed, problem)


def _edge(batch: Batch, sample: int, random: np.random.Generator) -> tuple[int, int]:
    """Sender and receiver of the edge that `_pair` changes."""
    nodes = np.arange(batch.nodes)
    targets = nodes
    for feature in batch.at(Stage.OUTPUT):
        if feature.kind is Kind.POINTER and batch.outputs[feature.name].ndim == 2:
            targets = batch.outputs[feature.name][sample].astype(int)
    leaves = np.setdiff1d(nodes, targets[targets != nodes])
    node = int(random.choice(leaves if len(leaves) else nodes))
    sender = int(targets[node])
    if sender == node or random.uniform() < 0.5:
        sender = int(random.choice(np.delete(nodes, node)))
    return sender, node
