"""From a program to the weights of the very network that one trains.

    layout      every input that is read gets a channel, every term of an update a hidden unit
    selections  linear scores are pairs of LeakyReLU units of a head, f(z) - f(-z) = 1.01 z, and a
                cut at zero is one more: max(0, z) = (f(z) - 0.01 z) / 0.99
    updates     a term is ReLU(value - M unmet): what is selected through the values, the node's own
                through the skip
    encoders    an input goes to its channel
    decoders    pointers by the nearest position, all else by linear forms of the new state

The result is named arrays for `networks.with_arrays`, and nothing else.
"""

import dataclasses
from typing import NamedTuple

import jax
import numpy as np

from algoscope import networks, tasks
from algoscope.networks import Network, NetworkConfig
from algoscope.programs.language import (
    ALWAYS,
    EDGE,
    ONE,
    OTHER,
    OWN,
    POSITION,
    ZERO,
    Atom,
    GraphProgram,
    Linear,
    Selection,
    Shown,
    Term,
    read,
)
from algoscope.tasks import Feature, Kind, Location

_INPUT_BOUND = 1.25
"""Inputs lie between 0 and this."""
_POINTER_SHARPNESS = 2.0**20
_MASK_SHARPNESS = 2.0**10
_SLOPE = 0.01
_FARTHEST = 8.0
_LEAK = 17.0
_MASK = 1e9


class CompileError(ValueError):
    """The program asks for something that the network cannot compute exactly."""


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where everything stands: channels of encoded nodes and edges, hidden units of terms."""

    nodes: tuple[str, ...]
    """Node inputs and hints, such as `input.pos`."""
    edges: tuple[str, ...]
    units: tuple[tuple[tuple[str, Term], ...], ...]
    """(variable, term) of each hidden unit, after each round."""
    bounds: dict[str, float]

    def of_variable(self, name: str, after: int) -> list[tuple[int, float]]:
        """The hidden units whose weighted sum is the variable after a round, with the weights."""
        return [(k, t.coefficient) for k, (n, t) in enumerate(self.units[after]) if n == name]

    def bound(self, form: Linear) -> float:
        """The largest absolute value that the form can have."""
        sizes = (abs(c) * self.bounds.get(a.name, _INPUT_BOUND) for a, c in form.terms.items())
        return sum(sizes, abs(form.constant))

    def most(self, form: Linear) -> float:
        """The largest value that the form can have: no atom is below 0."""
        gains = (max(0.0, c) * self.bounds.get(a.name, _INPUT_BOUND) for a, c in form.terms.items())
        return sum(gains, form.constant)


class Certificate(NamedTuple):
    """Under which conditions the compiled network is exact in float32; computed, not measured."""

    sharpness: float
    margin: float
    """The best score has to be ahead of the second by this, for the attention to be one-hot."""
    largest_uniform_size: int | None
    """The number of nodes up to which uniform positions are far enough apart; None if no selection
    depends on positions. Random positions are exact where the margin is kept."""


class Compiled(NamedTuple):
    network: Network
    certificate: Certificate


def compile_program(
    program: GraphProgram, width: int | None = None, sharpness: float = 2.0**22
) -> Compiled:
    """The network that runs the program, as narrow as possible or of the given width."""
    layout = lay_out(program)
    smallest = smallest_width(program, layout)
    width = smallest if width is None else width
    if width < smallest:
        raise CompileError(f"width: got {width}, needed at least {smallest} for {program.name}")
    network = empty_network(program, width)
    sharpness = _below_mask(program, layout, sharpness)
    writer = _Writer(program, layout, width, sharpness, network)
    for number in range(len(program.rounds)):
        writer.write_round(number)
    writer.encode()
    for shown in program.shown:
        writer.show(shown)
    certificate = certify(program, layout, sharpness)
    return Compiled(networks.with_arrays(network, writer.arrays), certificate)


def lay_out(program: GraphProgram) -> Layout:
    units = tuple(
        tuple((u.variable, term) for u in round_.updates for term in u.terms)
        for round_ in program.rounds
    )
    terms = [term for round_units in units for _, term in round_units]
    terms += [term for s in program.shown for of_class in s.classes for term in of_class]
    forms = [form for t in terms for form in (t.value, t.guard.unmet, t.guard.excess)]
    for s in _selections(program):
        forms += [s.score, s.unmet, *s.unmet_hinges, *(hinge.value for hinge in s.hinges)]
    atoms = {atom for form in forms for atom in form.terms if "." in atom.name}
    at_edges = {atom.name for atom in atoms if atom.where.endswith(EDGE)}
    at_nodes = {atom.name for atom in atoms if not atom.where.endswith(EDGE)} | {POSITION}
    bounds = {v.name: v.bound for v in program.variables} | {POSITION: 1.0}
    layout = Layout(tuple(sorted(at_nodes)), tuple(sorted(at_edges)), units, bounds)
    for shown in program.shown:
        sizes = (abs(t.coefficient) * layout.bound(t.value) for t in shown.classes[0])
        bounds[f"hint.{shown.feature}"] = max(1.0, sum(sizes))
    return layout


def _selections(program: GraphProgram) -> list[Selection]:
    return [selection for round_ in program.rounds for selection in round_.selections]


def smallest_width(program: GraphProgram, layout: Layout) -> int:
    kinds = {f.name: f.kind for f in tasks.get(program.task).features}
    pointers = [len(s.classes[0]) + 1 for s in program.shown if kinds[s.feature] is Kind.POINTER]
    units = max(len(round_units) for round_units in layout.units)
    several = _heads(program) > 1
    attention = 0 if several else _head_units(program)
    return max(len(layout.nodes), len(layout.edges), units, attention, *pointers)


def _heads(program: GraphProgram) -> int:
    return max(len(round_.selections) for round_ in program.rounds)


def _head_units(program: GraphProgram) -> int:
    return max(2 + len(s.hinges) + len(s.unmet_hinges) for s in _selections(program))


def empty_network(program: GraphProgram, width: int) -> Network:
    heads = _heads(program)
    config = NetworkConfig(
        processor="gatv2_full" if program.everyone else "gatv2",
        width=width,
        heads=heads,
        head_combination="concatenate" if heads == 1 else "sum",
        attention_width=None if heads == 1 else heads * _head_units(program),
        layer_norm=False,
        matrix_precision="highest",
        edge_information=_reads_selected_edges(program),
        rounds=len(program.rounds),
        shared_rounds=len(program.rounds) == 1,
    )
    return networks.build(tasks.get(program.task), config, key=jax.random.key(0))


def _reads_selected_edges(program: GraphProgram) -> bool:
    return any(
        atom.where.endswith(f".{EDGE}")
        for round_ in program.rounds
        for update in round_.updates
        for term in update.terms
        for atom in (term.value + term.guard.unmet).terms
    )


def certify(program: GraphProgram, layout: Layout, sharpness: float) -> Certificate:
    """A second best that is behind by 17 in the logits gets less than 2^-24 of the attention; and
    each score of a sender that meets the conditions is a sum of rounded numbers: the score itself,
    penalties that cancel, and the LeakyReLU's small slope below the cuts."""
    margins, sizes = [], []
    for selection in _selections(program):
        penalty = _penalty(selection, layout)
        cancelling = layout.bound(_seen(selection.unmet))
        below_cuts = 2 * _SLOPE * sum(layout.bound(cut) for cut in selection.unmet_hinges)
        largest = layout.bound(_seen(selection.score)) + penalty * (cancelling + below_cuts)
        largest += sum(abs(h.coefficient) * layout.bound(h.value) for h in selection.hinges)
        margin = _LEAK / sharpness + float(np.finfo(np.float32).eps) * largest
        margins.append(margin)
        gap = abs(selection.score.terms.get(Atom(OTHER, POSITION), 0.0))
        sizes += [int(gap / margin)] if gap else []
    return Certificate(sharpness, max(margins), min(sizes, default=None))


def _below_mask(program: GraphProgram, layout: Layout, sharpness: float) -> float:
    """The sharpness, lowered until no score outweighs the mask that hides who is no neighbour."""
    if program.everyone:
        return sharpness
    for selection in _selections(program):
        missed = layout.most(selection.unmet)
        missed += sum(max(0.0, layout.most(cut)) for cut in selection.unmet_hinges)
        largest = layout.bound(selection.score) + _penalty(selection, layout) * missed
        largest += sum(abs(h.coefficient) * layout.bound(h.value) for h in selection.hinges)
        while 2 * sharpness * largest > _MASK:
            sharpness /= 2
    return sharpness


def _seen(form: Linear) -> Linear:
    """What a softmax over senders sees of a form: nothing that all senders share."""
    return Linear({atom: c for atom, c in form.terms.items() if atom.where != OWN})


def _penalty(selection: Selection, layout: Layout) -> float:
    """What one unmet condition costs, in units of the score: more than any score can gain."""
    gain = layout.bound(_seen(selection.score))
    gain += sum(abs(h.coefficient) * layout.bound(h.value) for h in selection.hinges)
    return _power_of_two_from(2 * gain + 1)


def _power_of_two_from(value: float) -> float:
    return float(2.0 ** np.ceil(np.log2(value)))


class _Writer:
    """Fills the named arrays of an empty network."""

    def __init__(
        self,
        program: GraphProgram,
        layout: Layout,
        width: int,
        sharpness: float,
        network: Network,
    ):
        self.program, self.layout, self.width, self.sharpness = program, layout, width, sharpness
        self.arrays = {name: np.zeros(a.shape) for name, a in networks.arrays(network).items()}
        self.features = {f.name: f for f in tasks.get(program.task).features}

    def write_round(self, number: int) -> None:
        several = len(self.program.rounds) > 1
        self.processor = f"processor.{number}" if several else "processor"
        self.before = number - 1  # The round before a step's first is the last of the step before.
        round_ = self.program.rounds[number]
        self.names = [selection.name for selection in round_.selections]
        for head, selection in enumerate(round_.selections):
            self._select(head, selection)
        for unit, (_, term) in enumerate(self.layout.units[number]):
            self._update(unit, term)

    def _add_node(self, array: str, atom_name: str, column: int, c: float) -> None:
        """Adds c times a node's atom, as it was before the round, to a column."""
        if "." in atom_name:
            self.arrays[array][self.layout.nodes.index(atom_name), column] += c
        for unit, weight in self.layout.of_variable(atom_name, self.before):
            self.arrays[array][self.width + unit, column] += c * weight

    def _add_edge(self, array: str, atom_name: str, column: int, c: float) -> None:
        self.arrays[array][self.layout.edges.index(atom_name), column] += c

    def _select(self, number: int, selection: Selection) -> None:
        """The head's score: sharpness * (score - penalty * unmet)."""
        penalty = _penalty(selection, self.layout)
        cuts = [(hinge.value, hinge.coefficient) for hinge in selection.hinges]
        cuts += [(hinge, -penalty) for hinge in selection.unmet_hinges]
        form = _seen(selection.score) - _seen(selection.unmet) * penalty
        for value, coefficient in cuts:
            form -= _seen(value) * (coefficient * _SLOPE / (1 - _SLOPE))
        units = [(form, 1 / (1 + _SLOPE)), (form * -1.0, -1 / (1 + _SLOPE))]
        units += [(value, coefficient / (1 - _SLOPE)) for value, coefficient in cuts]
        part = self.arrays[f"{self.processor}.head.weight"].shape[0]
        for unit, (content, weight) in enumerate(units):
            self.arrays[f"{self.processor}.head.weight"][unit, number] = weight * self.sharpness
            column = number * part + unit
            self.arrays[f"{self.processor}.receiver.bias"][column] += content.constant
            for atom, c in content.terms.items():
                if atom.where == EDGE:
                    self._add_edge(f"{self.processor}.edge.weight", atom.name, column, c)
                else:
                    side = "sender" if atom.where == OTHER else "receiver"
                    self._add_node(f"{self.processor}.{side}.weight", atom.name, column, c)

    def _update(self, unit: int, term: Term) -> None:
        form = term.value - self._missed(term) * _power_of_two_from(
            max(1.0, self.layout.bound(term.value))
        )
        self.arrays[f"{self.processor}.skip.bias"][unit] += form.constant
        for atom, c in form.terms.items():
            name, _, of_edge = atom.where.partition(".")
            if atom.where == OWN:
                self._add_node(f"{self.processor}.skip.weight", atom.name, unit, c)
                continue
            column = self.names.index(name) * self.width + unit
            if of_edge:
                self._add_edge(f"{self.processor}.information", atom.name, column, c)
            else:
                self._add_node(f"{self.processor}.value.weight", atom.name, column, c)

    def _missed(self, term: Term) -> Linear:
        """0 where the guard is met, at least 1 elsewhere. With comparisons, whose excess may be
        below 0 where a Bool is not met, the Bools weigh more."""
        if not term.guard.excess.terms:
            return term.guard.unmet
        resolution = self.program.resolution
        return term.guard.unmet * (2 * resolution) + term.guard.excess * resolution

    def encode(self) -> None:
        for channels in (self.layout.nodes, self.layout.edges):
            for channel, name in enumerate(channels):
                encoder = f"encoders.{name.partition('.')[2]}.weight"
                self.arrays[encoder][0, channel] = 1.0

    def show(self, shown: Shown) -> None:
        feature = self.features[shown.feature]
        match feature.location, feature.kind:
            case Location.NODE, Kind.POINTER:
                self._show_pointer(shown)
            case Location.NODE, _:
                self._show_linear(feature, shown, f"decoders.{shown.feature}.node")
            case Location.GRAPH, Kind.SCALAR:
                self._show_linear(feature, shown, f"decoders.{shown.feature}.nodes")
            case _:
                raise CompileError(
                    f"{shown.feature}: a {feature.kind} at {feature.location} cannot be shown"
                )

    def _show_linear(self, feature: Feature, shown: Shown, name: str) -> None:
        for column, terms in enumerate(shown.classes):
            if any(term.guard != ALWAYS for term in terms):
                raise CompileError(
                    f"{shown.feature}: a {feature.kind} is decoded linearly, and a case is not "
                    "linear; make the case a variable and show that"
                )
            form = sum((term.value * term.coefficient for term in terms), ZERO)
            if feature.kind is Kind.MASK:
                form = (form - ONE * 0.5) * _MASK_SHARPNESS
            elif feature.kind in (Kind.MASK_ONE, Kind.CATEGORICAL):
                form = form * _MASK_SHARPNESS
            self._decode(name, form, column)

    def _show_pointer(self, shown: Shown) -> None:
        """With m exclusive cases v_i, of which the others are at most 0,

            y_ij = c ((2m - 1) x_j - 2 sum max(v_i, x_j)) = c (x_j - 2 max(v_i, x_j)) of the one

        which is largest at the x_j nearest to v_i.
        """
        name = f"decoders.{shown.feature}"
        cases = [(t.value - t.guard.unmet * 2.0, -2.0) for t in shown.classes[0]]
        cases.append((ONE * -_FARTHEST, 2.0 * len(cases) - 1.0))
        for unit, (form, weight) in enumerate(cases):
            self._decode(f"{name}.receiver", form, unit)
            self._decode(f"{name}.sender", read(OWN, POSITION), unit)
            self.arrays[f"{name}.score.weight"][unit, 0] = weight * _POINTER_SHARPNESS

    def _decode(self, name: str, form: Linear, column: int) -> None:
        """Reads the state after the step: [encoded nodes, hidden before, hidden after]."""
        self.arrays[f"{name}.bias"][column] += form.constant
        for atom, c in form.terms.items():
            if "." in atom.name:
                self.arrays[f"{name}.weight"][self.layout.nodes.index(atom.name), column] += c
            for unit, weight in self.layout.of_variable(atom.name, len(self.layout.units) - 1):
                self.arrays[f"{name}.weight"][2 * self.width + unit, column] += c * weight
