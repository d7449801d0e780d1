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

from algoscope.networks.layers import LEAKY_SLOPE
from algoscope.programs.language import (
    ALWAYS,
    EDGE,
    GRAPH,
    NOT,
    ONE,
    POSITION,
    SELF,
    Emitted,
    Form,
    GraphProgram,
    Linear,
    Round,
    Selection,
    Term,
    Type,
    read,
)
from algoscope.programs.precision import FLOAT32
from algoscope.tasks import Feature, Kind, Location

_INPUT_BOUND = 1.25
"""Inputs lie between 0 and this."""
_BELOW_POSITIONS = -8.0
"""Positions are larger than this."""


class CompileError(ValueError):
    """The program asks for something that the network cannot compute exactly."""


class Weighted(NamedTuple):
    """A unit and its weight in the sum that it belongs to."""

    form: Linear[float]
    weight: float


class Head(NamedTuple):
    """The attention of a selection."""

    name: str
    score: tuple[Weighted, ...]
    conditions: tuple[Weighted, ...]
    """At most 0 in each form, where a sender meets them all."""
    worst: float
    """The sum of units lies between minus this and this."""
    uses_n: bool
    """Whether N is in the score."""

    @property
    def units(self) -> tuple[Weighted, ...]:
        return self.score + self.conditions


class HiddenUnit(NamedTuple):
    """A variable is the sum of coefficient * ReLU(form) over its units."""

    variable: str
    coefficient: float
    form: Linear[float]


class LoweredRound(NamedTuple):
    heads: tuple[Head, ...]
    units: tuple[HiddenUnit, ...]
    uses_n: bool
    """Whether N is in a unit."""


class EmittedPointer(NamedTuple):
    """The j with the largest sum of weight * max(form_i, idx_j)."""

    feature: Feature
    units: tuple[Weighted, ...]
    first: Linear[float] | None = None
    """Of a permutation: largest at the first node."""


class EmittedForms(NamedTuple):
    """One form a class: of each node; of the graph, where every channel is the largest over nodes;
    or of an edge, over SELF, OTHER and EDGE."""

    feature: Feature
    forms: tuple[Linear[float], ...]


AnyEmitted = EmittedPointer | EmittedForms


@dataclasses.dataclass(frozen=True)
class Lowered:
    nodes: tuple[str, ...]
    """Node inputs and hints that are read, such as `input.pos`; each has a channel."""
    edges: tuple[str, ...]
    graph: tuple[str, ...]
    rounds: tuple[LoweredRound, ...]
    emitted: tuple[AnyEmitted, ...]
    bounds: "Bounds"
    idx: str
    """The channel or variable that names nodes."""
    misses: frozenset[str]
    """The variables that are exactly 0 where they meet a condition."""


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The largest values of variables and hints; inputs have one in common. No atom is below 0."""

    largest: dict[str, float]

    def size(self, form: Linear[float]) -> float:
        """The largest absolute value that the form can have."""
        sizes = (abs(c) * self._atom(a.name) for a, c in form.terms.items())
        return sum(sizes, abs(form.constant))

    def most(self, form: Linear[float]) -> float:
        """The largest value that the form can have."""
        gains = (max(0.0, c) * self._atom(a.name) for a, c in form.terms.items())
        return sum(gains, form.constant)

    def _atom(self, name: str) -> float:
        return self.largest.get(name, _INPUT_BOUND)


def lower(program: GraphProgram, resolution: float = FLOAT32.resolution) -> Lowered:
    """The units of the program where positions are equal or at least 1 / resolution apart."""
    for selection in (s for round_ in program.rounds for s in round_.selections):
        if selection.among:
            raise CompileError(
                f"{selection.name}: got among(…) in a program without variables of pairs, needed "
                "minimum(…) or maximum(…): only where there are pairs do nodes take maxima"
            )
    program = _plain(program)
    bounds = bounds_of(program, resolution)
    nodes, edges, graph = channels_read(program)
    rounds = tuple(_lower_round(round_, bounds, resolution) for round_ in program.rounds)
    emitted = lower_all_emitted(program, resolution)
    misses = frozenset(v.name for v in program.variables if v.type is Type.MISS)
    return Lowered(nodes, edges, graph, rounds, emitted, bounds, program.idx, misses)


def _plain(program: GraphProgram) -> GraphProgram:
    """The program with `1 - x` for `not x` in the conditions of Bools, where x has a channel.
    Beside a number, `not x` is exact; in a mixture of senders for whom x is 0, x is."""
    names = {atom.name for atom in program.atoms}

    def plain(form: Form) -> Form:
        total = ONE * form.constant
        for atom, c in form.terms.items():
            name = atom.name.removeprefix(NOT)
            if name != atom.name and name in names:
                total += (ONE - read(atom.where, name)) * c
            else:
                total += read(*atom) * c
        return total

    def plain_term(term: Term) -> Term:
        if term.value.terms:
            return term
        guard = dataclasses.replace(term.guard, unmet=plain(term.guard.unmet))
        return term._replace(guard=guard)

    def plain_round(round_: Round) -> Round:
        updates = (
            dataclasses.replace(update, terms=tuple(map(plain_term, update.terms)))
            for update in round_.updates
        )
        return dataclasses.replace(round_, updates=tuple(updates))

    return dataclasses.replace(program, rounds=tuple(map(plain_round, program.rounds)))


def bounds_of(program: GraphProgram, resolution: float) -> Bounds:
    largest = {v.name: v.bound.at(resolution) for v in program.variables} | {POSITION: 1.0}
    variables = Bounds(dict(largest))
    numbers = {f.name for f in program.task.features if f.location is not Location.EDGE}
    for emitted in (e for e in program.emitted if e.feature in numbers):
        sizes = (
            abs(t.coefficient.at(resolution)) * variables.size(t.value.at(resolution))
            for t in emitted.classes[0]
        )
        largest[f"hint.{emitted.feature}"] = max(1.0, sum(sizes))
    return Bounds(largest)


def channels_read(
    program: GraphProgram,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The features of nodes, edges and the graph that the program reads anywhere."""
    atoms = {atom for atom in program.atoms if "." in atom.name}
    at_edges = {atom.name for atom in atoms if atom.where.endswith(EDGE)}
    at_graph = {atom.name for atom in atoms if atom.where == GRAPH}
    at_nodes = {a.name for a in atoms if not a.where.endswith(EDGE) and a.where != GRAPH}
    return tuple(sorted(at_nodes | {POSITION})), tuple(sorted(at_edges)), tuple(sorted(at_graph))


def _lower_round(round_: Round, bounds: Bounds, resolution: float) -> LoweredRound:
    terms = [(update.variable, term) for update in round_.updates for term in update.terms]
    units = (
        HiddenUnit(variable, term.coefficient.at(resolution), lower_term(term, bounds, resolution))
        for variable, term in terms
    )
    return LoweredRound(
        tuple(_lower_selection(s, bounds, resolution) for s in round_.selections),
        tuple(units),
        any(term.uses_n for _, term in terms),
    )


def _lower_selection(selection: Selection, bounds: Bounds, resolution: float) -> Head:
    """score - penalty * unmet, where a penalty outweighs whatever a score can gain."""
    score = _seen(selection.score.at(resolution))
    hinges = [
        Weighted(h.value.at(resolution), h.coefficient.at(resolution)) for h in selection.hinges
    ]
    cuts = [cut.at(resolution) for cut in selection.unmet_hinges]
    unmet = selection.unmet.at(resolution)
    gain = bounds.size(score)
    gain += sum(abs(h.weight) * max(0.0, bounds.most(h.form)) for h in hinges)
    penalty = power_of_two_from(gain + 1)
    hinges = [Weighted(h.form, h.weight / (1 - LEAKY_SLOPE)) for h in hinges]
    conditions = [Weighted(cut, -penalty / (1 - LEAKY_SLOPE)) for cut in cuts]
    for form, weight in hinges + conditions:
        score -= _seen(form) * (weight * LEAKY_SLOPE)
    missed = sum(max(0.0, bounds.most(cut)) for cut in cuts)
    if unmet.terms:
        conditions.append(Weighted(unmet, -penalty))
        missed += bounds.most(unmet)
    return Head(
        selection.name,
        (*_signed(score), *hinges),
        tuple(conditions),
        gain + penalty * missed,
        selection.uses_n,
    )


def _signed(score: Linear[float]) -> list[Weighted]:
    """Atoms are at least 0, so a form whose coefficients agree in sign has that sign itself."""
    if not score.terms:
        return []
    if all(c > 0 for c in score.terms.values()):
        return [Weighted(score, 1.0)]
    if all(c < 0 for c in score.terms.values()):
        return [Weighted(score * -1.0, -1.0)]
    return [Weighted(score, 1 / (1 + LEAKY_SLOPE)), Weighted(score * -1.0, -1 / (1 + LEAKY_SLOPE))]


def _seen(form: Linear[float]) -> Linear[float]:
    """What a softmax over senders sees of a form: nothing that all senders share."""
    shared = (SELF, GRAPH)
    return Linear({atom: c for atom, c in form.terms.items() if atom.where not in shared}, 0.0)


def lower_term(term: Term, bounds: Bounds, resolution: float) -> Linear[float]:
    """value - M missed, where missed is 0 if the guard is met and at least 1 elsewhere."""
    value = term.value.at(resolution)
    missed = term.guard.unmet.at(resolution) + term.guard.excess.at(resolution) * resolution
    return value - missed * power_of_two_from(max(1.0, bounds.size(value)))


def lower_all_emitted(program: GraphProgram, resolution: float) -> tuple[AnyEmitted, ...]:
    features = {f.name: f for f in program.task.features}
    return tuple(
        _lower_emitted(e, features[e.feature], resolution, program.pairs is not None)
        for e in program.emitted
    )


def _lower_emitted(
    emitted: Emitted, feature: Feature, resolution: float, has_pairs: bool
) -> AnyEmitted:
    match feature.location, feature.kind:
        case Location.NODE, Kind.POINTER:
            return EmittedPointer(feature, _pointer_units(emitted, resolution))
        case Location.NODE, Kind.PERMUTATION:
            first = _decoded(feature, emitted.classes[1], resolution)
            return EmittedPointer(feature, _pointer_units(emitted, resolution), first)
        case Location.EDGE, Kind.POINTER:
            if has_pairs:
                return EmittedPointer(feature, _pointer_units(emitted, resolution))
            raise CompileError(
                f"{emitted.feature}: a pointer of an edge cannot be shown; variables are of nodes, "
                "and an edge shows sums of what its ends hold; declare variables of pairs"
            )
    forms = (_decoded(feature, terms, resolution) for terms in emitted.classes)
    return EmittedForms(feature, tuple(forms))


def _decoded(feature: Feature, terms: tuple[Term, ...], resolution: float) -> Linear[float]:
    if any(term.guard != ALWAYS for term in terms):
        raise CompileError(
            f"{feature.name}: a {feature.kind} is decoded linearly, and a case is not "
            "linear; make the case a variable and show that"
        )
    parts = (t.value.at(resolution) * t.coefficient.at(resolution) for t in terms)
    return sum(parts, Linear({}, 0.0))


def _pointer_units(emitted: Emitted, resolution: float) -> tuple[Weighted, ...]:
    """With m exclusive cases v_i, of which the others are at most 0,

        y_ij = (2m - 1) x_j - 2 sum max(v_i, x_j) = x_j - 2 max(v_i, x_j) of the one

    which is largest at the x_j nearest to v_i.
    """
    cases = [
        Weighted((term.value - term.guard.unmet * 2.0).at(resolution), -2.0)
        for term in emitted.classes[0]
    ]
    return (*cases, Weighted(Linear({}, _BELOW_POSITIONS), 2.0 * len(cases) - 1.0))


def power_of_two_from(value: float) -> float:
    return float(2.0 ** np.ceil(np.log2(value)))
