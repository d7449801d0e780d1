"""A program as the units of a network: which sum each unit computes, before any array is written.

    selections  the logit of a head is sharpness * sum of weight * LeakyReLU(form): one unit for a
                score whose sign is known and two for any other, f(z) - f(-z) = 1.01 z; one for the
                conditions that are not met, which is exactly 0 where all are; and one for every cut
                at zero, max(0, z) = (f(z) - 0.01 z) / 0.99
    updates     a term is ReLU(value - M unmet)
    pointers    the nearest position; all else that is shown is a linear form of the new state

The compiler writes these units into arrays; the certificate bounds what rounding does to them.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.programs.language import (
    ALWAYS,
    EDGE,
    NOT,
    ONE,
    OWN,
    POSITION,
    ZERO,
    GraphProgram,
    Linear,
    Selection,
    Shown,
    Term,
)
from algoscope.tasks import Feature, Kind, Location

_INPUT_BOUND = 1.25
"""Inputs lie between 0 and this."""
_SLOPE = 0.01
_FARTHEST = 8.0


class CompileError(ValueError):
    """The program asks for something that the network cannot compute exactly."""


class Weighted(NamedTuple):
    """A unit and its weight in the sum that it belongs to."""

    form: Linear
    weight: float


class Head(NamedTuple):
    """The attention of a selection."""

    name: str
    score: tuple[Weighted, ...]
    conditions: tuple[Weighted, ...]
    """At most 0 in each form, where a sender meets them all."""
    worst: float
    """The sum of units lies between minus this and this."""

    @property
    def units(self) -> tuple[Weighted, ...]:
        return self.score + self.conditions


class HiddenUnit(NamedTuple):
    """A variable is the sum of coefficient * ReLU(form) over its units."""

    variable: str
    coefficient: float
    form: Linear


class LoweredRound(NamedTuple):
    heads: tuple[Head, ...]
    units: tuple[HiddenUnit, ...]


class ShownPointer(NamedTuple):
    """The j with the largest sum of weight * max(form_i, position_j)."""

    feature: Feature
    units: tuple[Weighted, ...]


class ShownForms(NamedTuple):
    """One form a class: of each node, or the largest over all nodes for a graph feature."""

    feature: Feature
    forms: tuple[Linear, ...]


@dataclasses.dataclass(frozen=True)
class Lowered:
    nodes: tuple[str, ...]
    """Node inputs and hints that are read, such as `input.pos`; each has a channel."""
    edges: tuple[str, ...]
    rounds: tuple[LoweredRound, ...]
    shown: tuple[ShownPointer | ShownForms, ...]
    bounds: "Bounds"


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The largest values of variables and hints; inputs have one in common. No atom is below 0."""

    largest: dict[str, float]

    def of(self, form: Linear) -> float:
        """The largest absolute value that the form can have."""
        sizes = (abs(c) * self._atom(a.name) for a, c in form.terms.items())
        return sum(sizes, abs(form.constant))

    def most(self, form: Linear) -> float:
        """The largest value that the form can have."""
        gains = (max(0.0, c) * self._atom(a.name) for a, c in form.terms.items())
        return sum(gains, form.constant)

    def _atom(self, name: str) -> float:
        return self.largest.get(name, _INPUT_BOUND)


def lower(program: GraphProgram) -> Lowered:
    program = _plain(program)
    bounds = _bounds(program)
    nodes, edges = _channels(program)
    rounds = tuple(
        LoweredRound(
            tuple(_lower_selection(s, bounds) for s in round_.selections),
            tuple(
                HiddenUnit(update.variable, t.coefficient, _lower_term(t, program, bounds))
                for update in round_.updates
                for t in update.terms
            ),
        )
        for round_ in program.rounds
    )
    features = {f.name: f for f in tasks.get(program.task).features}
    shown = tuple(_lower_shown(s, features[s.feature]) for s in program.shown)
    return Lowered(nodes, edges, rounds, shown, bounds)


def _plain(program: GraphProgram) -> GraphProgram:
    """The program with `1 - x` for `not x` in the conditions of Bools, where x has a channel.
    Beside a number, `not x` is exact; in a mixture of senders for whom x is 0, x is."""
    read = {atom.name for form in _forms(program) for atom in form.terms}

    def plain(form: Linear) -> Linear:
        total = ONE * form.constant
        for atom, c in form.terms.items():
            name = atom.name.removeprefix(NOT)
            if name != atom.name and name in read:
                total += (ONE - Linear({atom._replace(name=name): 1.0})) * c
            else:
                total += Linear({atom: c})
        return total

    def of_term(term: Term) -> Term:
        if term.value.terms:
            return term
        guard = dataclasses.replace(term.guard, unmet=plain(term.guard.unmet))
        return term._replace(guard=guard)

    rounds = tuple(
        dataclasses.replace(
            round_,
            updates=tuple(
                dataclasses.replace(u, terms=tuple(map(of_term, u.terms))) for u in round_.updates
            ),
        )
        for round_ in program.rounds
    )
    return dataclasses.replace(program, rounds=rounds)


def _bounds(program: GraphProgram) -> Bounds:
    largest = {v.name: v.bound for v in program.variables} | {POSITION: 1.0}
    of_variables = Bounds(dict(largest))
    for shown in program.shown:
        sizes = (abs(t.coefficient) * of_variables.of(t.value) for t in shown.classes[0])
        largest[f"hint.{shown.feature}"] = max(1.0, sum(sizes))
    return Bounds(largest)


def _channels(program: GraphProgram) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The node and edge features that the program reads anywhere."""
    atoms = {atom for form in _forms(program) for atom in form.terms if "." in atom.name}
    at_edges = {atom.name for atom in atoms if atom.where.endswith(EDGE)}
    at_nodes = {atom.name for atom in atoms if not atom.where.endswith(EDGE)} | {POSITION}
    return tuple(sorted(at_nodes)), tuple(sorted(at_edges))


def _forms(program: GraphProgram) -> list[Linear]:
    terms = [t for r in program.rounds for update in r.updates for t in update.terms]
    terms += [term for s in program.shown for of_class in s.classes for term in of_class]
    forms = [form for t in terms for form in (t.value, t.guard.unmet, t.guard.excess)]
    for s in (s for round_ in program.rounds for s in round_.selections):
        forms += [s.score, s.unmet, *s.unmet_hinges, *(hinge.value for hinge in s.hinges)]
    return forms


def _lower_selection(selection: Selection, bounds: Bounds) -> Head:
    """score - penalty * unmet, where a penalty outweighs whatever a score can gain."""
    gain = bounds.of(_seen(selection.score))
    gain += sum(abs(h.coefficient) * max(0.0, bounds.most(h.value)) for h in selection.hinges)
    penalty = _power_of_two_from(gain + 1)
    hinges = [Weighted(h.value, h.coefficient / (1 - _SLOPE)) for h in selection.hinges]
    conditions = [Weighted(cut, -penalty / (1 - _SLOPE)) for cut in selection.unmet_hinges]
    score = _seen(selection.score)
    for value, weight in hinges + conditions:
        score -= _seen(value) * (weight * _SLOPE)
    missed = sum(max(0.0, bounds.most(cut)) for cut in selection.unmet_hinges)
    if selection.unmet.terms:
        conditions.append(Weighted(selection.unmet, -penalty))
        missed += bounds.most(selection.unmet)
    return Head(
        selection.name,
        (*_signed(score), *hinges),
        tuple(conditions),
        gain + penalty * missed,
    )


def _signed(score: Linear) -> list[Weighted]:
    """Atoms are at least 0, so a form whose coefficients agree in sign has that sign itself."""
    if not score.terms:
        return []
    if all(c > 0 for c in score.terms.values()):
        return [Weighted(score, 1.0)]
    if all(c < 0 for c in score.terms.values()):
        return [Weighted(score * -1.0, -1.0)]
    return [Weighted(score, 1 / (1 + _SLOPE)), Weighted(score * -1.0, -1 / (1 + _SLOPE))]


def _seen(form: Linear) -> Linear:
    """What a softmax over senders sees of a form: nothing that all senders share."""
    return Linear({atom: c for atom, c in form.terms.items() if atom.where != OWN})


def _lower_term(term: Term, program: GraphProgram, bounds: Bounds) -> Linear:
    """value - M missed, where missed is 0 if the guard is met and at least 1 elsewhere."""
    missed = term.guard.unmet + term.guard.excess * program.resolution
    return term.value - missed * _power_of_two_from(max(1.0, bounds.of(term.value)))


def _lower_shown(shown: Shown, feature: Feature) -> ShownPointer | ShownForms:
    match feature.location, feature.kind:
        case Location.NODE, Kind.POINTER:
            return ShownPointer(feature, _pointer_units(shown))
        case (Location.NODE, _) | (Location.GRAPH, Kind.SCALAR):
            return ShownForms(feature, tuple(_linear(shown, feature, t) for t in shown.classes))
    raise CompileError(f"{shown.feature}: a {feature.kind} at {feature.location} cannot be shown")


def _linear(shown: Shown, feature: Feature, terms: tuple[Term, ...]) -> Linear:
    if any(term.guard != ALWAYS for term in terms):
        raise CompileError(
            f"{shown.feature}: a {feature.kind} is decoded linearly, and a case is not "
            "linear; make the case a variable and show that"
        )
    return sum((term.value * term.coefficient for term in terms), ZERO)


def _pointer_units(shown: Shown) -> tuple[Weighted, ...]:
    """With m exclusive cases v_i, of which the others are at most 0,

        y_ij = (2m - 1) x_j - 2 sum max(v_i, x_j) = x_j - 2 max(v_i, x_j) of the one

    which is largest at the x_j nearest to v_i.
    """
    cases = [Weighted(t.value - t.guard.unmet * 2.0, -2.0) for t in shown.classes[0]]
    return (*cases, Weighted(ONE * -_FARTHEST, 2.0 * len(cases) - 1.0))


def _power_of_two_from(value: float) -> float:
    return float(2.0 ** np.ceil(np.log2(value)))
