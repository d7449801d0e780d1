"""Which machine predicts what exchanges of states do to a model's answers?

A machine is fitted by its clock alone: how many steps it has taken after each layer, at most one a
layer. With v(o) how far the answer after an exchange is option o, from 0 to 1, and p the option
that the machine predicts at that time,

    agreement = v(p)

The clock is chosen on half of the mazes and scored on the others, and the other way round;
intervals are bootstraps over mazes. Three things are asked of a machine:

- *share*: the agreement where it predicts an answer that neither base nor donor has, at each of its
  steps. It is how much of the answer goes through the machine's variables: a copy of the donor's
  answer, or of the base's, has 0, and an answer of which 95 % leak has 0.05.
- agreement where it is *contested*: where some other algorithm predicts otherwise. Elsewhere, as
  before the first step and after the last, all agree.
- to be better than every other algorithm where the two predict different answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.candidates import MACHINES
from algoscope.llm.exchange import Outcome, Scale
from algoscope.llm.machines import Machine
from algoscope.statistics import Estimate

FEWEST = 8
"""Mazes that a step has to be tried in to be judged."""


class Evidence(NamedTuple):
    """What exchanges led to, whatever was asked."""

    values: np.ndarray
    """How far the answer is each option, 0 to 1: [exchange, layer, option]."""
    answers: np.ndarray
    """The right ones of base and donor: int [exchange, 2]."""
    groups: np.ndarray
    """Exchanges of one maze, or one problem, have the same number, from 0: int [exchange]."""


def evidence(outcomes: Sequence[Outcome], scale: Scale) -> Evidence:
    """Of mazes: the options are No and Yes."""
    yes = scale(np.array([o.patched for o in outcomes]))
    groups = np.unique([o.exchange.base.pair for o in outcomes], return_inverse=True)[1]
    answers = np.array([o.exchange.answers for o in outcomes], int)
    return Evidence(np.stack([1 - yes, yes], -1), answers, groups)


class Step(NamedTuple):
    number: int
    layers: tuple[int, ...]
    """After which it was the last step taken."""
    share: Estimate
    mazes: int


class Fit(NamedTuple):
    machine: Machine
    clock: tuple[int, ...]
    """Steps taken after each layer, the embedding first; by all mazes."""
    agreement: Estimate
    """On held-out mazes, over all exchanges."""
    contested: Estimate
    """Where any other algorithm predicts otherwise."""
    share: Estimate
    """Where an answer is predicted that neither prompt has."""
    steps: tuple[Step, ...]
    """Those that were tried in enough mazes."""
    held_out: np.ndarray
    """Agreement, [exchange, layer]."""
    predicted: np.ndarray
    """The option, by the clock of the other half; -1 where it says none: int [exchange, layer]."""

    @property
    def name(self) -> str:
        return self.machine.name


class Rival(NamedTuple):
    fit: Fit
    above: Estimate
    """By how much the winner agrees better where the two differ."""
    mazes: int
    """In which they differ."""


def fits(
    outcomes: Sequence[Outcome], scale: Scale, machines: Sequence[Machine] = MACHINES
) -> list[Fit]:
    """The best machine of each name, the best first."""
    told = {m: np.array([o.exchange.predicted[m] for o in outcomes], int) for m in machines}
    return ranked(evidence(outcomes, scale), told)


def ranked(found: Evidence, told: Mapping[Machine, np.ndarray]) -> list[Fit]:
    """The best machine of each name, the best first; `told` is the option that each predicts if
    states are exchanged after t of its steps, and r more follow: int [exchange, t, r]."""
    best: dict[str, Fit] = {}
    for machine, table in told.items():
        fitted = _fit(machine, table, found)
        before = best.get(machine.name)
        if before is None or fitted.agreement.value > before.agreement.value:
            best[machine.name] = fitted
    return [
        fit._replace(contested=by_maze(fit.held_out, _contested(fit, best.values()), found.groups))
        for fit in sorted(best.values(), key=lambda fit: -fit.agreement.value)
    ]


def _contested(fit: Fit, fits: Iterable[Fit]) -> np.ndarray:
    others = [other.predicted for other in fits if other.machine.algorithm]
    return np.any([_differ(fit.predicted, other) for other in others], 0)


def _differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two machines predict different answers; one that predicts none does not."""
    return (one != other) & (one >= 0) & (other >= 0)


def _fit(machine: Machine, told: np.ndarray, found: Evidence) -> Fit:
    values, groups = found.values, found.groups
    pairs = zip(values, told, strict=True)
    agreement = np.array([np.where(t >= 0, v[:, t], 0) for v, t in pairs])
    clocks = [_clock(agreement[groups % 2 == half]) for half in range(2)]
    own = [clocks[1 - group % 2] for group in groups]
    predicted = np.array([_at(t, clock) for t, clock in zip(told, own, strict=True)])
    chosen = np.take_along_axis(values, predicted.clip(0)[..., None], -1)[..., 0]
    held_out = np.where(predicted >= 0, chosen, 0)
    new = new_of(predicted, found.answers)
    clock = _clock(agreement)
    layers = np.array(own)
    steps = [
        _step(number, clock, held_out, new & (layers == number), groups)
        for number in range(1, clock[-1] + 1)
    ]
    return Fit(
        machine,
        clock,
        by_maze(held_out, np.ones_like(new), groups),
        by_maze(held_out, np.ones_like(new), groups),
        by_maze(held_out, new, groups),
        tuple(step for step in steps if step.mazes >= FEWEST),
        held_out,
        predicted,
    )


def new_of(predicted: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Where an answer is predicted that neither prompt has: bool [exchange, layer]."""
    return (predicted >= 0) & (predicted != answers[:, :1]) & (predicted != answers[:, 1:])


def new_answers(predicted: np.ndarray, outcomes: Sequence[Outcome]) -> np.ndarray:
    """The same, of mazes."""
    return new_of(predicted, np.array([o.exchange.answers for o in outcomes], int))


def _at(table: np.ndarray, clock: Sequence[int]) -> np.ndarray:
    """table [t, r] by layer: t steps are taken, and the clock's others follow."""
    taken = np.array(clock)
    return table[taken, taken[-1] - taken]


def _step(
    number: int, clock: Sequence[int], held_out: np.ndarray, cells: np.ndarray, groups: np.ndarray
) -> Step:
    layers = tuple(layer for layer, taken in enumerate(clock) if taken == number)
    return Step(
        number, layers, by_maze(held_out, cells, groups), len(np.unique(groups[cells.any(1)]))
    )


def by_maze(values: np.ndarray, cells: np.ndarray, groups: np.ndarray) -> Estimate:
    """The mean over mazes of the mean over cells [exchange, layer]."""
    count = np.bincount(groups, cells.sum(1))
    total = np.bincount(groups, np.where(cells, values, 0).sum(1))
    return statistics.bootstrap(total[count > 0] / count[count > 0])


def _clock(agreement: np.ndarray) -> tuple[int, ...]:
    """The clock that agrees best: agreement [exchange, layer, t, r] -> steps taken [layer].

    At first none or one is taken, and each layer takes none or one; no more than were predicted.
    The earliest, of equals."""
    total = agreement.sum(0)
    layers = len(total)
    best: tuple[float, tuple[int, ...]] = (-np.inf, ())
    for last in range(1, min(layers, total.shape[1])):
        gain = np.stack([total[:, t, last - t] for t in range(last + 1)], 1)
        score = np.full((layers, last + 1), -np.inf)
        before = np.zeros((layers, last + 1), int)
        score[0, :2] = gain[0, :2]
        for layer in range(1, layers):
            for t in range(last + 1):
                stayed = score[layer - 1, t]
                moved = score[layer - 1, t - 1] if t else -np.inf
                before[layer, t] = t - 1 if moved > stayed else t
                score[layer, t] = max(stayed, moved) + gain[layer, t]
        if score[-1, last] > best[0] + 1e-9:
            clock = [last]
            for layer in range(layers - 1, 0, -1):
                clock.append(int(before[layer, clock[-1]]))
            best = (float(score[-1, last]), tuple(reversed(clock)))
    return best[1]


def rivals(winner: Fit, others: Sequence[Fit], outcomes: Sequence[Outcome]) -> list[Rival]:
    """The other algorithms against the winner, the closest first."""
    groups = np.unique([o.exchange.base.pair for o in outcomes], return_inverse=True)[1]
    return compared(winner, others, groups)


def compared(winner: Fit, others: Sequence[Fit], groups: np.ndarray) -> list[Rival]:
    """The same, with the number of each exchange's maze or problem: int [exchange]."""
    found = []
    for fit in others:
        if fit.name != winner.name:
            differ = _differ(fit.predicted, winner.predicted)
            above = by_maze(winner.held_out - fit.held_out, differ, groups)
            found.append(Rival(fit, above, len(np.unique(groups[differ.any(1)]))))
    return sorted(found, key=lambda rival: rival.above.low)
