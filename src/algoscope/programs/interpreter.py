"""The meaning of a program: runs it on problems without a network, and records what it does.

Exact choices in float64. A selection is a one-hot row of attention. Where a program breaks a
promise of the language (a Bool that becomes 2, a value beyond its bound), the interpreter says so.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from algoscope.programs.language import (
    EDGE,
    OTHER,
    OWN,
    Atom,
    GraphProgram,
    Linear,
    Selection,
    Shown,
    Term,
    Type,
)
from algoscope.recording import Recording
from algoscope.tasks import Batch, Feature, Kind, Location, Stage

_SLACK = 1e-9
Values = dict[Atom, np.ndarray]
"""What can be read: [batch, n], or [batch, receiver, sender] in a selection."""


class PromiseError(ValueError):
    """A program did what the language says it never does."""


class Interpretation(NamedTuple):
    recording: Recording
    margins: np.ndarray
    """By how much the best score of a selection was ahead of the second best, at the closest: over
    all steps of a sample and all nodes that found somebody who meets the conditions. [batch]"""


def interpret(program: GraphProgram, batch: Batch) -> Recording:
    """What the program does on each problem of the batch."""
    return interpret_with_margins(program, batch).recording


def interpret_with_margins(program: GraphProgram, batch: Batch) -> Interpretation:
    machine = _Machine(program, batch)
    steps = [machine.step() for _ in range(max(1, _times(batch) - 1))]
    shown = {
        name: jnp.asarray(np.stack([step.shown[name] for step in steps], 1))
        for name in steps[0].shown
    }
    last = np.maximum(np.asarray(batch.lengths) - 2, 0)
    outputs = {f.name for f in batch.task.at(Stage.OUTPUT)}
    recording = Recording(
        jnp.asarray(np.stack([step.attention for step in steps], 1)),
        jnp.asarray(np.stack([step.state for step in steps], 1)),
        {name: values for name, values in shown.items() if name not in outputs},
        {n: values[np.arange(len(last)), last] for n, values in shown.items() if n in outputs},
        jnp.asarray(batch.lengths),
        {},
    )
    return Interpretation(recording, machine.margins)


def _times(batch: Batch) -> int:
    return next(iter(batch.hints.values())).shape[1]


class _Step:
    def __init__(self, attention: np.ndarray, state: np.ndarray, shown: dict[str, np.ndarray]):
        self.attention, self.state, self.shown = attention, state, shown


class _Machine:
    """A batch of problems in the midst of a program."""

    def __init__(self, program: GraphProgram, batch: Batch):
        self.program = program
        self.features = {f.name: f for f in batch.task.features}
        inputs = {
            f"input.{f.name}": np.asarray(batch.inputs[f.name], float)
            for f in batch.task.at(Stage.INPUT)
        }
        self.at_nodes = {name: v for name, v in inputs.items() if self._is_at(name, Location.NODE)}
        self.at_edges = {name: v for name, v in inputs.items() if self._is_at(name, Location.EDGE)}
        self.positions = inputs["input.pos"]
        count, self.nodes = self.positions.shape
        self.neighbours = np.broadcast_to(
            np.eye(self.nodes, dtype=bool), (count,) + (self.nodes,) * 2
        )
        for feature in batch.task.at(Stage.INPUT):
            self._connect(feature, inputs[f"input.{feature.name}"])
        self.state = {v.name: np.zeros((count, self.nodes)) for v in program.variables}
        self.hints = {
            f.name: np.asarray(batch.hints[f.name][:, 0]) for f in batch.task.at(Stage.HINT)
        }
        self.number = 0
        self.steps = np.maximum(np.asarray(batch.lengths) - 1, 1)
        self.margins = np.full(count, np.inf)

    def _is_at(self, name: str, location: Location) -> bool:
        return self.features[name.partition(".")[2]].location is location

    def _connect(self, feature: Feature, value: np.ndarray) -> None:
        """Edge masks and node pointers make neighbours, in both directions, as in the network."""
        match feature.location, feature.kind:
            case Location.EDGE, Kind.MASK:
                made = value > 0
            case Location.NODE, Kind.POINTER:
                made = np.eye(self.nodes, dtype=bool)[value.astype(int)]
            case _:
                return
        self.neighbours = self.neighbours | made | np.swapaxes(made, 1, 2)

    def step(self) -> _Step:
        before = self.neighbours
        for name, value in self.hints.items():
            self._connect(self.features[name], value)
        attention = []
        for round_ in self.program.rounds:
            values = self._own(with_hints=True)
            for selection in round_.selections:
                chosen = self._choose(selection)
                attention.append(np.eye(self.nodes)[chosen])
                values |= self._fetch(selection.name, chosen)
            zero = np.zeros_like(self.positions)
            self.state = {u.variable: zero + _total(u.terms, values) for u in round_.updates}
            self._snap()
            self._check()
        self.neighbours = before
        after = self._own(with_hints=False)
        shown = {s.feature: self._dense(s, after) for s in self.program.shown}
        self.hints = {name: shown[name] for name in self.hints}
        self.number += 1
        return _Step(np.stack(attention, 1), np.stack(list(self.state.values()), -1), shown)

    def _own(self, with_hints: bool) -> Values:
        hints = {
            f"hint.{name}": value.astype(float)
            for name, value in self.hints.items()
            if with_hints and value.ndim == 2
        }
        return {Atom(OWN, n): v for n, v in (self.state | self.at_nodes | hints).items()}

    def _choose(self, selection: Selection) -> np.ndarray:
        """[batch, receiver] -> the sender; the lowest of several that score the same."""
        own = self._own(with_hints=True)
        values: Values = {atom: value[:, :, None] for atom, value in own.items()}
        values |= {Atom(OTHER, atom.name): value[:, None] for atom, value in own.items()}
        values |= {Atom(EDGE, name): value for name, value in self.at_edges.items()}
        zero = np.zeros(self.neighbours.shape)
        unmet = zero + _evaluate(selection.unmet, values)
        for hinge in selection.unmet_hinges:
            unmet = unmet + np.maximum(_evaluate(hinge, values), 0.0)
        score = zero + _evaluate(selection.score, values) + _total(selection.hinges, values)
        allowed = np.ones_like(self.neighbours) if self.program.everyone else self.neighbours
        unmet = np.where(allowed, unmet, np.inf)
        first = unmet <= unmet.min(-1, keepdims=True) + _SLACK
        score = np.where(first, score, -np.inf)
        self._note_margins(score, unmet.min(-1) <= _SLACK)
        return np.argmax(score, -1)

    def _note_margins(self, score: np.ndarray, matters: np.ndarray) -> None:
        """matters [batch, receiver]: whether the best sender meets all conditions."""
        if self.nodes == 1:
            return
        second, best = np.moveaxis(np.partition(score, -2, -1)[..., -2:], -1, 0)
        ahead = np.where(matters & np.isfinite(second), best - second, np.inf).min(1)
        self.margins = np.where(
            self.number < self.steps, np.minimum(self.margins, ahead), self.margins
        )

    def _fetch(self, name: str, chosen: np.ndarray) -> Values:
        fetched = {
            Atom(name, atom.name): np.take_along_axis(value, chosen, 1)
            for atom, value in self._own(with_hints=True).items()
        }
        return fetched | {
            Atom(f"{name}.{EDGE}", what): np.take_along_axis(v, chosen[..., None], 2)[..., 0]
            for what, v in self.at_edges.items()
        }

    def _snap(self) -> None:
        """Takes rounding off Bools: sums of large numbers that cancel leave some."""
        for variable in self.program.variables:
            if variable.type is Type.BOOL:
                value = self.state[variable.name]
                whole = np.round(value)
                self.state[variable.name] = np.where(np.abs(value - whole) < 1e-6, whole, value)

    def _check(self) -> None:
        """Promises hold until a sample's last step; what follows is padding."""
        for variable in self.program.variables:
            value = self.state[variable.name][self.number < self.steps]
            if not value.size:
                continue
            where = f"{variable.name}, step {self.number}"
            if value.max() > variable.bound + _SLACK or value.min() < -_SLACK:
                raise PromiseError(
                    f"{where}: got values from {value.min():.6g} to {value.max():.6g}, needed from "
                    f"0 to {variable.bound:g}; if a Float, declare it larger; if a Bool, two of "
                    "its cases hold at once"
                )
            if variable.type is Type.BOOL and not np.isin(value, (0, 1)).all():
                raise PromiseError(f"{where}: got a value that is neither 0 nor 1")

    def _dense(self, shown: Shown, values: Values) -> np.ndarray:
        """The shown value in the form of the batch."""
        feature = self.features[shown.feature]
        zero = np.zeros_like(self.positions)
        classes = [zero + _total(terms, values) for terms in shown.classes]
        match feature.location, feature.kind:
            case Location.GRAPH, _:
                return classes[0].max(1)
            case _, Kind.CATEGORICAL:
                return np.eye(len(classes))[np.argmax(np.stack(classes, -1), -1)]
            case _, Kind.MASK_ONE:
                return np.eye(self.nodes)[np.argmax(classes[0], -1)]
            case _, Kind.POINTER:
                distance = np.abs(classes[0][..., None] - self.positions[:, None, :])
                return np.argmin(distance, -1)
        return classes[0]


def _evaluate(linear: Linear, values: Values) -> np.ndarray | float:
    return sum((values[atom] * c for atom, c in linear.terms.items()), linear.constant)


def _total(terms: tuple[Term, ...], values: Values) -> np.ndarray:
    total = np.zeros(())
    for term in terms:
        met = (_evaluate(term.guard.unmet, values) == 0) & (
            np.abs(_evaluate(term.guard.excess, values)) <= _SLACK
        )
        value = np.maximum(_evaluate(term.value, values), 0.0)
        total = total + np.where(met, value, 0.0) * term.coefficient
    return total
