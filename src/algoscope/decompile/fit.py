"""How much of what a network does a program predicts.

A network is looked at on problems, once; every program is then interpreted on the same ones.

    reads    of all rows of attention, the share in which the program's choice is read most. Every
             head of the program has the head of the network that agrees most, and every head of
             the network the program's
    shows    of the entries of hints that change in a step, for the network or for the program, and
             of all entries of the answer, the share that is the same
    goes on  with another problem's state put in: of the entries in which exact programs of the task
             differ (`measures.exchanges`), the share that is the same

The *fit* is the mean of those that there are. Problems on which a program breaks a promise of the
language count as not predicted.
"""

from typing import NamedTuple

import numpy as np

from algoscope import networks, tasks
from algoscope.measures.exchanges import (
    Exchanges,
    continuation,
    differ,
    in_margins,
    valid_exchanges,
)
from algoscope.measures.state_match import go_on
from algoscope.networks import Network
from algoscope.programs import GraphProgram
from algoscope.programs.interpreter import follow
from algoscope.recording import Recording
from algoscope.statistics import Estimate, interval, resamples, share
from algoscope.tasks import Batch, Feature, Stage, Task
from algoscope.tasks.graph_kinds import graph_options

READS, SHOWS, GOES_ON = "reads", "shows", "goes on"
KINDS = ("plain", "deep", "sparse")
SIZE = 11
_EXCHANGES = 32
_RESAMPLES = 1000


class Counts(NamedTuple):
    """Of one part of the fit."""

    same: np.ndarray
    """Rows or entries that the program predicts: int [problem, step]"""
    all: np.ndarray
    """Those that count: int [problem, step]"""

    @property
    def share(self) -> float:
        return share(self.same.sum(), self.all.sum())

    @property
    def by_step(self) -> list[float | None]:
        """The share in each step; None where nothing counts."""
        totals = zip(self.same.sum(0), self.all.sum(0), strict=True)
        return [float(same / counted) if counted else None for same, counted in totals]

    def estimate(self, seed: int = 0) -> Estimate:
        """With a bootstrap interval over problems."""
        drawn = resamples(len(self.all), _RESAMPLES, seed)
        same, counted = (values.sum(1)[drawn].sum(1) for values in self)
        return Estimate(self.share, *interval(same / np.maximum(counted, 1)))


class Fit(NamedTuple):
    parts: dict[str, Counts]
    """By `READS`, `SHOWS` and `GOES_ON`, those that can be said."""

    @property
    def value(self) -> float:
        """The mean of the parts; 0 of none."""
        known = [part.share for part in self.parts.values() if part.all.sum()]
        return float(np.mean(known)) if known else 0.0

    @property
    def error(self) -> float:
        """The standard error of the value, parts and problems being independent."""
        errors = []
        for part in self.parts.values():
            if part.all.sum():
                rest = part.same.sum(1) - part.share * part.all.sum(1)
                errors.append(np.sqrt((rest**2).sum()) / part.all.sum())
        return float(np.sqrt(np.sum(np.square(errors))) / max(1, len(errors)))


class Behaviour(NamedTuple):
    """What a network did."""

    batch: Batch
    features: list[Feature]
    """The hints that the network predicts."""
    chosen: np.ndarray
    """Whom each node reads most: int [problem, step, head, receiver]"""
    hints: np.ndarray
    """In margins: [problem, step, entry]"""
    first: np.ndarray
    """The hints before the first step: [problem, 1, entry]"""
    outputs: np.ndarray
    """[problem, 1, entry]"""
    exchanges: Exchanges | None
    went_on: np.ndarray | None
    """Hints of the steps after each exchange, in margins: [exchange, step, entry]"""

    def part(self, number: int, parts: int) -> "Behaviour":
        """One of so many parts, of problems and of exchanges."""
        mine = np.arange(number, len(self.batch), parts)
        exchanges, went_on = self.exchanges, self.went_on
        if exchanges is not None and went_on is not None:
            exchanged = np.arange(number, len(exchanges.steps), parts)
            exchanges, went_on = exchanges.take(exchanged), went_on[exchanged]
        return Behaviour(
            self.batch.take(mine),
            self.features,
            self.chosen[mine],
            self.hints[mine],
            self.first[mine],
            self.outputs[mine],
            exchanges,
            went_on,
        )

    def fit(self, program: GraphProgram) -> Fit:
        run = follow(program, self.batch)
        kept = ~run.broken
        parts = {
            READS: self._reads(run.recording, kept),
            SHOWS: self._shows(run.recording, kept),
        }
        if self.exchanges is not None and self.went_on is not None:
            parts[GOES_ON] = self._goes_on(program, self.exchanges, self.went_on)
        return Fit(parts)

    def _reads(self, run: Recording, kept: np.ndarray) -> Counts:
        choices = np.asarray(run.attention).argmax(-1)
        valid = np.asarray(run.valid)
        # [problem, step, head of the network, head of the program]
        heads = range(choices.shape[2])
        same = np.stack([(self.chosen == choices[:, :, [head]]).sum(3) for head in heads], -1)
        same *= (valid & kept[:, None])[:, :, None, None]
        total = same.sum((0, 1))
        of_network, of_program = map(np.arange, total.shape)
        best = same[:, :, total.argmax(0), of_program].sum(-1)
        best += same[:, :, of_network, total.argmax(1)].sum(-1)
        return Counts(best, valid * (choices.shape[-1] * sum(total.shape)))

    def _shows(self, run: Recording, kept: np.ndarray) -> Counts:
        """The last of the steps is the answer."""
        shown = in_margins(self.features, _arrays(run.hints))
        said_before, before = (
            np.concatenate([self.first, hints[:, :-1]], 1) for hints in (self.hints, shown)
        )
        moved = differ(self.hints, said_before) | differ(shown, before)
        moved &= np.asarray(run.valid)[:, :, None] & (self.batch.lengths > 1)[:, None, None]
        answer = _answer(self.batch, run)
        same = [moved & ~differ(self.hints, shown), ~differ(self.outputs, answer)]
        counted = [moved, np.ones_like(answer, bool)]
        same, counted = (
            np.concatenate([entries.sum(2) for entries in group], 1) for group in (same, counted)
        )
        return Counts(same * kept[:, None], counted)

    def _goes_on(self, program: GraphProgram, exchanges: Exchanges, said: np.ndarray) -> Counts:
        counted = exchanges.disagreement(self.features)
        account = continuation(program, exchanges.base, exchanges.donor, exchanges.steps)
        same = counted & ~differ(said, in_margins(self.features, account.hints))
        return Counts(same.sum(2) * account.kept[:, None], counted.sum(2))


def observe(network: Network, task: Task, count: int, sets: int, seed: int) -> list[Behaviour]:
    """What the network does on so many problems of each kind that the task has, in each of some
    sets that have no problem in common. They are recorded together: compiling a network costs more
    than running it."""
    kinds = KINDS if "family" in task.options else KINDS[:1]
    size = max(SIZE, task.smallest)

    def draw(number: int, first_seed: int) -> Batch:
        options = (graph_options(task, kind) if kind != "plain" else {} for kind in kinds)
        return Batch.join(
            [tasks.sample(task, size, number, first_seed, **some) for some in options]
        )

    batch = draw(sets * count, seed)
    recording = networks.run(network, batch)
    features = [feature for feature in batch.at(Stage.HINT) if feature.name in recording.hints]
    exchanges = valid_exchanges(draw(3 * sets * count, seed + 1), seed, most=sets * _EXCHANGES)
    went_on = None
    if exchanges is not None:
        donors = networks.run(network, exchanges.donor)
        went_on = in_margins(features, go_on(network, donors, exchanges))
    first = {f.name: np.asarray(batch.hints[f.name])[:, :1] for f in features}
    everything = Behaviour(
        batch,
        features,
        np.asarray(recording.attention).argmax(-1),
        in_margins(features, _arrays(recording.hints)),
        in_margins(features, first),
        _answer(batch, recording),
        exchanges,
        went_on,
    )
    return [everything.part(number, sets) for number in range(sets)]


def _answer(batch: Batch, recording: Recording) -> np.ndarray:
    outputs = {name: np.asarray(value)[:, None] for name, value in recording.outputs.items()}
    return in_margins(batch.at(Stage.OUTPUT), outputs)


def _arrays(values: dict) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in values.items()}
