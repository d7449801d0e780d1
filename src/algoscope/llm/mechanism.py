"""Which machine predicts what exchanges of states do to a model's answers?

A machine is fitted by its clock alone: how many steps it has taken after each layer, at most one a
layer. With v the answer after an exchange, from 0 (No) to 1 (Yes), and p what the machine predicts
at that time,

    agreement = p v + (1 - p) (1 - v)

The clock is chosen on half of the mazes and scored on the others, and the other way round;
intervals are bootstraps over mazes. Three things are asked of a machine:

- *share*: the agreement where it predicts an answer that neither base nor donor has, at each of its
  steps. It is how much of the answer goes through the machine's variables: a copy of the donor's
  answer, or of the base's, has 0, and an answer of which 95 % leak has 0.05.
- agreement where it is *contested*: where some other algorithm predicts otherwise. Elsewhere, as
  before the first step and after the last, all agree.
- to be better than every other algorithm where the two predict different answers.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.exchange import Outcome, Scale
from algoscope.llm.machines import MACHINES, Machine
from algoscope.statistics import Estimate

FEWEST = 8
"""Mazes that a step has to be tried in to be judged."""


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
    """By the clock of the other half: bool [exchange, layer]."""

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
    values = scale(np.array([o.patched for o in outcomes]))
    groups = np.unique([o.exchange.base.pair for o in outcomes], return_inverse=True)[1]
    found: dict[str, Fit] = {}
    for machine in machines:
        fitted = _fit(machine, outcomes, values, groups)
        best = found.get(machine.name)
        if best is None or fitted.agreement.value > best.agreement.value:
            found[machine.name] = fitted
    return [
        fit._replace(contested=by_maze(fit.held_out, _contested(fit, found.values()), groups))
        for fit in sorted(found.values(), key=lambda fit: -fit.agreement.value)
    ]


def _contested(fit: Fit, fits: Iterable[Fit]) -> np.ndarray:
    others = [other.predicted for other in fits if other.machine.algorithm]
    return np.any([fit.predicted != other for other in others], 0)


def _fit(
    machine: Machine, outcomes: Sequence[Outcome], values: np.ndarray, groups: np.ndarray
) -> Fit:
    told = np.array([o.exchange.predicted[machine] for o in outcomes])
    agreement = np.where(told[:, None], values[..., None, None], 1 - values[..., None, None])
    clocks = [_clock(agreement[groups % 2 == half]) for half in range(2)]
    own = [clocks[1 - group % 2] for group in groups]
    predicted = np.array([_at(t, clock) for t, clock in zip(told, own, strict=True)])
    held_out = np.where(predicted, values, 1 - values)
    new = new_answers(predicted, outcomes)
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


def new_answers(predicted: np.ndarray, outcomes: Sequence[Outcome]) -> np.ndarray:
    """Where an answer is predicted that neither prompt has: bool [exchange, layer]."""
    answers = np.array([o.exchange.answers for o in outcomes])
    return (predicted != answers[:, :1]) & (predicted != answers[:, 1:])


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

    At first none or one is taken, and each layer takes none or one. The earliest, of equals."""
    total = agreement.sum(0)
    layers = len(total)
    best: tuple[float, tuple[int, ...]] = (-np.inf, ())
    for last in range(1, layers):
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
    compared = []
    for fit in others:
        if fit.name != winner.name:
            differ = fit.predicted != winner.predicted
            above = by_maze(winner.held_out - fit.held_out, differ, groups)
            compared.append(Rival(fit, above, len(np.unique(groups[differ.any(1)]))))
    return sorted(compared, key=lambda rival: rival.above.low)
