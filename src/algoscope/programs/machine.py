"""A batch of problems in the midst of a program: one step after the other, without a network.

Exact choices in float64. A selection is a one-hot row of attention. Where a program breaks a
promise of the language (a Bool that becomes 2, a value beyond its bound), the machine notes it.
"""

from typing import NamedTuple, Protocol

import numpy as np

from algoscope.programs import pairs
from algoscope.programs.channels import Channels, channels
from algoscope.programs.language import (
    EDGE,
    GRAPH,
    NOT,
    OTHER,
    PAIR,
    SELF,
    Atom,
    Emitted,
    Form,
    GraphProgram,
    Linear,
    Round,
    Selection,
    Term,
    Type,
    Variable,
)
from algoscope.programs.precision import FLOAT32
from algoscope.tasks import Batch, Feature, Kind, Location, Stage

_SLACK = 1e-9
_NEAR = 1e-3
"""Sums of large numbers that cancel leave no more."""
Values = dict[Atom, np.ndarray]
"""What can be read: [batch, n], or [batch, receiver, sender] in a selection."""


class RoundView(NamedTuple):
    """A round of a run: what every node could read, and whom it selected."""

    nodes: Values
    """[batch, n] by atom, before the round."""
    edges: dict[str, np.ndarray]
    """[batch, receiver, sender] by name"""
    graph: dict[str, np.ndarray]
    """[batch] by name"""
    allowed: np.ndarray
    """Who can be selected: [batch, receiver, sender]."""
    chosen: dict[str, np.ndarray]
    """[batch, receiver] -> the sender, by selection."""
    running: np.ndarray
    """Which samples have not ended: [batch]."""
    thirds: dict[str, np.ndarray]
    """[batch, self, other] -> the third node, by selection of pairs; in a step's last round."""


class Observer(Protocol):
    """Follows a run round by round."""

    def after_round(self, number: int, view: RoundView, state: dict[str, np.ndarray]) -> None: ...

    def after_step(self, emitted: dict[str, np.ndarray], running: np.ndarray) -> None: ...


class Step(NamedTuple):
    chosen: list[np.ndarray]
    """[batch, receiver] -> the sender, of each selection of all rounds"""
    state: np.ndarray
    """[batch, n, variable]"""
    emitted: dict[str, np.ndarray]
    """In the form of `Batch.hints` and `Batch.outputs`: [batch, …]"""

    @property
    def attention(self) -> np.ndarray:
        """One-hot: [batch, selection of all rounds, receiver, sender]"""
        return np.stack([np.eye(senders.shape[1])[senders] for senders in self.chosen], 1)


class Machine:
    """A batch of problems in the midst of a program."""

    def __init__(
        self,
        program: GraphProgram,
        batch: Batch,
        resolution: float = FLOAT32.resolution,
        observer: Observer | None = None,
    ):
        self.program, self.resolution, self.observer = program, resolution, observer
        self.features = {f.name: f for f in batch.task.features}
        self.inputs = {
            f: np.asarray(batch.inputs[f.name], float) for f in batch.task.at(Stage.INPUT)
        }
        self.positions = np.asarray(batch.inputs["pos"], float)
        count, self.nodes = self.positions.shape
        loops = np.eye(self.nodes, dtype=bool)
        self.neighbours = np.broadcast_to(loops, (count, *loops.shape))
        for feature, value in self.inputs.items():
            self._connect(feature, value)
        self.state = {v.name: np.zeros((count, self.nodes)) for v in program.variables}
        of_pairs = program.pairs.variables if program.pairs else ()
        self.pairs = {v.name: np.zeros(self.neighbours.shape) for v in of_pairs}
        self.hints = {
            f.name: np.asarray(batch.hints[f.name][:, 0]) for f in batch.task.at(Stage.HINT)
        }
        self.read_names: dict[str, list[str]] = {}
        for atom in program.atoms:
            self.read_names.setdefault(atom.where, []).append(atom.name)
        self.linear: dict[int, Linear[float]] = {}
        """The forms of the program where N is the resolution, by identity."""
        of_edges = {atom.name for atom in program.atoms if atom.where.endswith(EDGE)}
        self.read_of_edges = of_edges | {name.removeprefix(NOT) for name in of_edges}
        self.fixed = channels(self.inputs, self.read_of_edges)
        self.channels = self._read()
        self.number = 0
        self.steps = np.maximum(np.asarray(batch.lengths) - 1, 1)
        self.broken, self.reason = np.zeros(count, bool), ""
        self.watches_leads, self.leads = False, np.full(count, np.inf)
        self.runners_up: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        """By selection of a round: the second best senders, and how far they are behind."""
        self.those: dict[str, np.ndarray] = {}
        """Of a round, who meets the conditions of each `among`: bool [batch, receiver or 1, n]"""

    def _connect(self, feature: Feature, value: np.ndarray) -> None:
        if feature.is_pointer:
            value = np.eye(self.nodes)[value.astype(int)]
        if feature.joins_nodes:
            self.neighbours = self.neighbours | feature.joined(value)

    def _read(self) -> Channels:
        """Of the inputs and the present hints."""
        hints = {self.features[name]: value for name, value in self.hints.items()}
        present = channels(hints, self.read_of_edges)
        return Channels(*(a | b for a, b in zip(self.fixed, present, strict=True)))

    def step(self, outputs: bool = True) -> Step:
        """The next step; outputs, which count in a sample's last, may be left out."""
        before = self.neighbours
        for name, value in () if self.program.fully_connected else self.hints.items():
            self._connect(self.features[name], value)
        self.channels = self._read()
        everyone = []
        running = self.number < self.steps
        for number, round_ in enumerate(self.program.rounds):
            nodes = self._readable(self.channels.nodes)
            self.those = {}
            chosen = {s.name: self._choose(s, nodes) for s in round_.selections}
            everyone += chosen.values()
            is_last = number + 1 == len(self.program.rounds)
            thirds = self._update_pairs(nodes, running) if is_last else {}
            values = dict(nodes)
            for name, senders in chosen.items():
                values |= self._fetch(name, senders, nodes)
            zero = np.zeros_like(self.positions)
            self.state = {u.variable: zero + self._total(u.terms, values) for u in round_.updates}
            if self.watches_leads:
                self._note_leads(round_, nodes, chosen)
            self._snap(self.program.variables, self.state)
            self._check(running, self.program.variables, self.state)
            if self.observer:
                _, edges, graph = self.channels
                view = RoundView(nodes, edges, graph, self._allowed(), chosen, running, thirds)
                self.observer.after_round(number, view, self.state)
        self.neighbours = before
        emitted = self.emit(outputs)
        if self.observer:
            self.observer.after_step(emitted, running)
        self.hints = {name: emitted[name] for name in self.hints}
        self.number += 1
        return Step(everyone, np.stack(list(self.state.values()), -1), emitted)

    def _update_pairs(self, nodes: Values, running: np.ndarray) -> dict[str, np.ndarray]:
        """Whom pairs select; their variables change."""
        of_pairs = self.program.pairs
        if of_pairs is None:
            return {}
        chosen = {
            s.name: pairs.selected(s, nodes, self.channels, self._linear)
            for s in of_pairs.selections
        }
        values = pairs.readable(of_pairs, chosen, nodes, self.channels)
        zero = np.zeros(self.neighbours.shape)
        self.pairs = {u.variable: zero + self._total(u.terms, values) for u in of_pairs.updates}
        self._snap(of_pairs.variables, self.pairs)
        self._check(running, of_pairs.variables, self.pairs)
        return chosen

    def emit(self, outputs: bool = True) -> dict[str, np.ndarray]:
        """Hints and outputs of the present state, in the form of the batch: [batch, …]"""
        nodes = self._readable(self.fixed.nodes)
        return {
            e.feature: self._dense(e, nodes)
            for e in self.program.emitted
            if outputs or self.features[e.feature].stage is not Stage.OUTPUT
        }

    def _readable(self, features: dict[str, np.ndarray]) -> Values:
        """What a node can read of itself."""
        return {Atom(SELF, name): value for name, value in (self.state | features).items()}

    def _of_pairs(self, form: Form, nodes: Values) -> np.ndarray:
        """A form of receiver, sender, edge and graph: [batch, receiver, sender], where an axis on
        which nothing depends has the length 1: most selections are the same for all receivers."""
        linear = self._linear(form)
        total = np.full((1, 1, 1), linear.constant)
        for where, axis in ((SELF, 2), (OTHER, 1)):
            parts = [
                nodes[Atom(SELF, a.name)] * c for a, c in linear.terms.items() if a.where == where
            ]
            total = total + np.expand_dims(sum(parts), axis) if parts else total
        for atom, c in linear.terms.items():
            if atom.where == EDGE:
                total = total + self.channels.edges[atom.name] * c
            elif atom.where == PAIR:
                total = total + self.pairs[atom.name] * c
            elif atom.where == GRAPH:
                total = total + self.channels.graph[atom.name][:, None, None] * c
        return total

    def _choose(self, selection: Selection, nodes: Values) -> np.ndarray:
        """[batch, receiver] -> the sender; the lowest of several that score the same."""
        count = len(self.positions)
        unmet = self._of_pairs(selection.unmet, nodes)
        for hinge in selection.unmet_hinges:
            unmet = unmet + np.maximum(self._of_pairs(hinge, nodes), 0.0)
        if selection.among:
            shape = (count, unmet.shape[1], self.nodes)
            self.those[selection.name] = np.broadcast_to(unmet <= _SLACK, shape)
        score = np.zeros((count, 1, self.nodes)) + self._of_pairs(selection.score, nodes)
        for hinge in selection.hinges:
            cut = np.maximum(self._of_pairs(hinge.value, nodes), 0.0)
            score = score + cut * hinge.coefficient.at(self.resolution)
        if not self.program.fully_connected:
            unmet = np.where(self.neighbours, unmet, np.inf)
        least = unmet.min(-1, keepdims=True)
        ranked = np.where(unmet <= least + _SLACK, score, -np.inf)
        chosen = np.broadcast_to(np.argmax(ranked, -1), (count, self.nodes))
        if self.watches_leads:
            ranked = np.broadcast_to(ranked, self.neighbours.shape)
            self.runners_up[selection.name] = _runner_up(ranked, chosen)
        return chosen

    def _note_leads(self, round_: Round, nodes: Values, chosen: dict[str, np.ndarray]) -> None:
        """Keeps the least lead of a selected sender whose runner-up would have led to another
        state."""
        running = self.number < self.steps
        for name, (senders, leads) in self.runners_up.items():
            values = dict(nodes)
            for other, selected in (chosen | {name: senders}).items():
                values |= self._fetch(other, selected, nodes)
            zero = np.zeros_like(self.positions)
            differs = np.zeros(zero.shape, bool)
            for update in round_.updates:
                state = zero + self._total(update.terms, values)
                differs |= np.abs(state - self.state[update.variable]) > _SLACK
            least = np.where(differs, leads, np.inf).min(-1)
            self.leads = np.where(running, np.minimum(self.leads, least), self.leads)
        self.runners_up = {}

    def _allowed(self) -> np.ndarray:
        return np.ones_like(self.neighbours) if self.program.fully_connected else self.neighbours

    def _fetch(self, name: str, senders: np.ndarray, nodes: Values) -> Values:
        """What the selected senders and the edges to them hold; of those that meet the conditions
        of an `among`, the largest. [batch, receiver]"""
        samples, receivers = np.ogrid[: len(senders), : self.nodes]
        those = self.those.get(name)

        def held(values: np.ndarray) -> np.ndarray:
            if those is not None:
                largest = np.where(those, values, 0.0).max(-1)
                return np.broadcast_to(largest, senders.shape)
            rows = receivers if values.shape[1] > 1 else 0
            return values[samples, rows, senders]

        edges = f"{name}.{EDGE}"
        return {
            Atom(name, read): held(nodes[Atom(SELF, read)][:, None])
            for read in self.read_names.get(name, ())
        } | {
            Atom(edges, read): held(self.channels.edges[read])
            for read in self.read_names.get(edges, ())
        }

    def _snap(self, variables: tuple[Variable, ...], values: dict[str, np.ndarray]) -> None:
        """Takes rounding off Bools, and off Misses that are 0."""
        for variable in variables:
            value = values[variable.name]
            if variable.type is Type.BOOL:
                whole = np.round(value)
                values[variable.name] = np.where(np.abs(value - whole) < 1e-6, whole, value)
            elif variable.type is Type.MISS:
                values[variable.name] = np.where(value < _NEAR, 0.0, value)

    def _check(self, running: np.ndarray, variables: tuple[Variable, ...], values: dict) -> None:
        """Promises hold until a sample's last step; what follows is padding."""
        for variable in variables:
            value, bound = values[variable.name], variable.bound.at(self.resolution)
            flat = value.reshape(len(value), -1)
            beyond = running & ((flat > bound + _SLACK) | (flat < -_SLACK)).any(1)
            if beyond.any():
                self._note(
                    beyond,
                    f"{variable.name}, step {self.number}: got values from {value.min():.6g} to "
                    f"{value.max():.6g}, needed from 0 to {bound:g}; if a Float, declare it "
                    "larger; if a Bool, two of its cases hold at once",
                )
            if variable.type is Type.BOOL:
                between = running & ((flat != 0) & (flat != 1)).any(1)
                reason = f"{variable.name}, step {self.number}: got a value that is neither 0 nor 1"
                self._note(between, reason)
            elif variable.type is Type.MISS:
                between = running & ((flat > 0) & (flat < 1 - _NEAR)).any(1)
                reason = (
                    f"{variable.name}, step {self.number}: got a Miss between 0 and 1, needed "
                    "numbers that are equal, or at least 1 / (64 N) apart"
                )
                self._note(between, reason)

    def _check_excess(self, excess: np.ndarray) -> None:
        """Of a comparison a <= b, a - b: [batch, node]. The network counts from b upwards."""
        self._note(
            (self.number < self.steps) & (excess < -_SLACK).any(-1),
            f"step {self.number}: got a comparison a <= b where a is below b, by up to "
            f"{-excess.min():.6g}, needed an a that is never below b, such as idx <= first.idx "
            "with first = minimum(other.idx)",
        )

    def _note(self, broken: np.ndarray, reason: str) -> None:
        if broken.any() and not self.reason:
            self.reason = reason
        self.broken |= broken

    def _dense(self, emitted: Emitted, values: Values) -> np.ndarray:
        """The emitted value in the form of the batch."""
        feature = self.features[emitted.feature]
        zero = np.zeros_like(self.positions)
        if (feature.location, feature.kind) == (Location.EDGE, Kind.POINTER):
            cases = [
                pairs.Case(*(self._of_pairs(f, values) for f in (term.value, term.guard.unmet)))
                for term in emitted.terms
            ]
            return pairs.pointed(cases, values[Atom(SELF, self.program.idx)])
        if feature.location is Location.EDGE:
            forms = (terms[0].value for terms in emitted.classes)
            zero = np.zeros(self.neighbours.shape)
            classes = [zero + self._of_pairs(form, values) for form in forms]
        elif feature.location is Location.GRAPH:
            largest = {atom: value.max(1) for atom, value in values.items()}
            classes = [zero[:, 0] + self._total(terms, largest) for terms in emitted.classes]
        else:
            classes = [zero + self._total(terms, values) for terms in emitted.classes]
        match feature.location, feature.kind:
            case _, Kind.CATEGORICAL:
                return np.eye(len(classes))[np.argmax(np.stack(classes, -1), -1)]
            case _, Kind.MASK:
                return (classes[0] > 0.5).astype(float)
            case _, Kind.MASK_ONE:
                return np.eye(self.nodes)[np.argmax(classes[0], -1)]
            case Location.NODE, Kind.POINTER | Kind.PERMUTATION:
                idx = values[Atom(SELF, self.program.idx)]
                pointers = np.argmin(np.abs(classes[0][..., None] - idx[:, None]), -1)
                if feature.kind is Kind.POINTER:
                    return pointers
                nodes, first = np.arange(self.nodes), classes[1].argmax(-1)
                return np.where(nodes == first[:, None], nodes, pointers)
        return classes[0]

    def _linear(self, form: Form) -> Linear[float]:
        linear = self.linear.get(id(form))
        if linear is None:
            linear = self.linear[id(form)] = form.at(self.resolution)
        return linear

    def _evaluate(self, form: Form, values: Values) -> np.ndarray | float:
        linear = self._linear(form)
        return sum((values[atom] * c for atom, c in linear.terms.items()), linear.constant)

    def _total(self, terms: tuple[Term, ...], values: Values) -> np.ndarray:
        total = np.zeros(())
        for term in terms:
            value = np.maximum(self._evaluate(term.value, values), 0.0)
            if term.guard.unmet.terms or term.guard.unmet.constant:
                value = np.where(self._evaluate(term.guard.unmet, values) == 0, value, 0.0)
            if term.guard.excess.terms:
                excess = np.asarray(self._evaluate(term.guard.excess, values))
                self._check_excess(excess)
                value = np.where(np.abs(excess) <= _SLACK, value, 0.0)
            total = total + value * term.coefficient.at(self.resolution)
        return total


def _runner_up(ranked: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The second best senders, and by how much they are behind: [batch, receiver] each; infinitely
    where there is no other."""
    others = ranked.copy()
    np.put_along_axis(others, chosen[..., None], -np.inf, -1)
    senders = np.argmax(others, -1)
    best, second = (
        np.take_along_axis(array, index[..., None], -1)[..., 0]
        for array, index in ((ranked, chosen), (others, senders))
    )
    return senders, np.where(np.isfinite(second), best - second, np.inf)
