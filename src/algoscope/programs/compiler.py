"""From a program to the weights of the very network that one trains.

    lower       every term of an update becomes a hidden unit, every selection a head (`lowering`)
    choose      the sharpness that the arithmetic allows
    write       selections, updates, encoders, decoders
    certify     what that is exact for (`certificate`)

The result is named arrays for `networks.with_arrays`, and nothing else.
"""

from typing import NamedTuple

import numpy as np

from algoscope import markup, networks
from algoscope.networks import Network, NetworkConfig, Source
from algoscope.programs.certificate import Certificate, certify
from algoscope.programs.channels import Channel
from algoscope.programs.language import (
    BACK,
    EDGE,
    GRAPH,
    OTHER,
    OWN,
    SELF,
    Atom,
    GraphProgram,
    Linear,
)
from algoscope.programs.lowering import (
    AnyEmitted,
    CompileError,
    EmittedForms,
    EmittedPointer,
    Head,
    Lowered,
    Weighted,
    lower,
)
from algoscope.programs.parser import parse
from algoscope.programs.precision import FLOAT32, MASK_SHARPNESS, Precision
from algoscope.programs.running_errors import certain
from algoscope.table import Table
from algoscope.tasks import Batch, Kind, Location, Task

_VIEWS = {"": 0, BACK: 1, OWN: 2}
"""Which part of its encoder's rows a view of an edge has."""
_DECODERS = {Location.NODE: "node", Location.GRAPH: "nodes", Location.EDGE: "receiver"}
"""The layer that reads a node's state, or the receiver's."""


class Compiled(NamedTuple):
    network: Network
    certificate: Certificate
    program: GraphProgram

    @property
    def source(self) -> Source:
        """For `networks.save`: a file with it is judged inside the certificate."""
        return Source(self.program.name, self.program.text, self.program.fully_connected)

    def certified(self, batch: Batch) -> np.ndarray:
        """On which samples float32 cannot make the network differ from its program: bool [batch].
        A sample on which the program breaks a promise of its language is none of them, nor one
        with other positions than the program needs."""
        sure = certain(self.program, batch, self.certificate.sharpness)
        if self.program.needs_even_positions:
            even = np.arange(batch.nodes) / batch.nodes
            sure &= (np.abs(batch.inputs["pos"] - even) < FLOAT32.rounding).all(1)
        return sure

    def _repr_html_(self) -> str:
        """For notebooks: what is certified, and where the weights are."""
        named = {name: np.asarray(array) for name, array in networks.arrays(self.network).items()}
        used = {name: a for name, a in named.items() if a.ndim == 2 and a.any()}
        certified = self.certificate._asdict()
        rows = [[name.replace("_", " "), f"{value:,.4g}"] for name, value in certified.items()]
        rows.append(["parameters", f"{sum(array.size for array in named.values()):,}"])
        pictures = " ".join(
            f"<figure>{markup.heat_map(np.abs(a) / np.abs(a).max(), name)}"
            f"<figcaption>{markup.escape(name)}</figcaption></figure>"
            for name, a in used.items()
        )
        return (
            markup.table(Table("Compiled program", ["certified", "value"], rows))
            + f'<div style="display:flex;flex-wrap:wrap">{pictures}</div>'
        )


def compile_program(
    program: GraphProgram,
    width: int | None = None,
    *,
    sharpness: float | None = None,
    precision: Precision = FLOAT32,
) -> Compiled:
    """The network that runs the program, as narrow as possible or of the given width."""
    lowered = lower(program, precision.resolution)
    smallest = smallest_width(lowered)
    width = smallest if width is None else width
    if width < smallest:
        raise CompileError(f"width: got {width}, needed at least {smallest} for {program.name}")
    if sharpness is None:
        sharpness = sharpest(program, lowered, precision)
    network = empty_network(program, lowered, width, precision)
    writer = _Writer(lowered, sharpness, precision, network)
    for number in range(len(lowered.rounds)):
        writer.write_round(number)
    writer.encode()
    for emitted in lowered.emitted:
        writer.decode(emitted)
    certificate = certify(lowered, sharpness, precision)
    if program.needs_even_positions:
        certificate = certificate._replace(largest_random_size=0)
    return Compiled(networks.with_arrays(network, writer.arrays), certificate, program)


def recompiled(network: Network, task: Task | str, source: Source | None) -> Compiled | None:
    """The compiled program that the network is, bit for bit; None if it is none, or another."""
    if source is None:
        return None
    program = parse(source.name, task, source.text, fully_connected=source.fully_connected)
    compiled = compile_program(program, network.config.width)
    if compiled.network.config != network.config:
        return None
    pairs = zip(
        networks.arrays(compiled.network).values(), networks.arrays(network).values(), strict=True
    )
    return compiled if all(np.array_equal(ours, theirs) for ours, theirs in pairs) else None


def smallest_width(lowered: Lowered) -> int:
    pointers = [len(e.units) for e in lowered.emitted if isinstance(e, EmittedPointer)]
    units = max(len(round_.units) for round_ in lowered.rounds)
    attention = 0 if _heads(lowered) > 1 else head_units(lowered)
    channels = len(lowered.nodes), len(lowered.edges), len(lowered.graph)
    return max(*channels, units, attention, *pointers)


def _heads(lowered: Lowered) -> int:
    return max(len(round_.heads) for round_ in lowered.rounds)


def head_units(lowered: Lowered) -> int:
    """The number of attention units of the largest head."""
    return max(len(head.units) for round_ in lowered.rounds for head in round_.heads)


def sharpest(program: GraphProgram, lowered: Lowered, precision: Precision) -> float:
    """The sharpness, lowered until no score makes up for a missing edge."""
    sharpness = precision.sharpness
    if not program.fully_connected:
        worst = max(head.worst for round_ in lowered.rounds for head in round_.heads)
        while sharpness * worst > precision.largest_logit:
            sharpness /= 2
    return sharpness


def empty_network(
    program: GraphProgram, lowered: Lowered, width: int, precision: Precision
) -> Network:
    heads = _heads(lowered)
    config = NetworkConfig(
        processor="gatv2_full" if program.fully_connected else "gatv2",
        width=width,
        heads=heads,
        head_combination="concatenate" if heads == 1 else "sum",
        attention_width=None if heads == 1 else heads * head_units(lowered),
        attention_mask=precision.mask,
        layer_norm=False,
        matrix_precision="highest",
        edge_information=any(
            atom.where.endswith(f".{EDGE}")
            for round_ in lowered.rounds
            for unit in round_.units
            for atom in unit.form.terms
        ),
        edge_views=any(Channel.of(name).view for name in lowered.edges),
        rounds=len(program.rounds),
        shared_rounds=len(program.rounds) == 1,
    )
    empty = networks.skeleton(program.task, config)
    networks.check_memory(empty)
    return empty


class _Writer:
    """Fills the named arrays of an empty network."""

    def __init__(self, lowered: Lowered, sharpness: float, precision: Precision, network: Network):
        self.lowered, self.sharpness, self.precision = lowered, sharpness, precision
        self.width = network.config.width
        self.features = {feature.name: feature for feature in network.features}
        self.arrays = {name: np.zeros(a.shape) for name, a in networks.arrays(network).items()}

    def write_round(self, number: int) -> None:
        several = len(self.lowered.rounds) > 1
        self.processor = f"processor.{number}" if several else "processor"
        self.before = number - 1  # The round before a step's first is the last of the step before.
        round_ = self.lowered.rounds[number]
        self.names = [head.name for head in round_.heads]
        for index, head in enumerate(round_.heads):
            self._select(index, head)
        for column, unit in enumerate(round_.units):
            self._update(column, unit.form)

    def _add_node(self, array: str, atom_name: str, column: int, c: float, after=False) -> None:
        """Adds c times a node's atom to a column that reads [encoded nodes, hidden before], or also
        [hidden after] the step; as it was before the round, or is after the step."""
        first, round_ = (2 * self.width, -1) if after else (self.width, self.before)
        if "." in atom_name:
            self.arrays[array][self.lowered.nodes.index(atom_name), column] += c
        for row, unit in enumerate(self.lowered.rounds[round_].units, first):
            if unit.variable == atom_name:
                self.arrays[array][row, column] += c * unit.coefficient

    def _add_edge(self, array: str, atom_name: str, column: int, c: float) -> None:
        self.arrays[array][self.lowered.edges.index(atom_name), column] += c

    def _select(self, index: int, head: Head) -> None:
        part = self.arrays[f"{self.processor}.head.weight"].shape[0]
        for row, (form, weight) in enumerate(head.units):
            self.arrays[f"{self.processor}.head.weight"][row, index] = weight * self.sharpness
            column = index * part + row
            self.arrays[f"{self.processor}.receiver.bias"][column] += form.constant
            for atom, c in form.terms.items():
                if atom.where == EDGE:
                    self._add_edge(f"{self.processor}.edge.weight", atom.name, column, c)
                elif atom.where == GRAPH:
                    row = self.lowered.graph.index(atom.name)
                    self.arrays[f"{self.processor}.graph.weight"][row, column] += c
                else:
                    side = "sender" if atom.where == OTHER else "receiver"
                    self._add_node(f"{self.processor}.{side}.weight", atom.name, column, c)

    def _update(self, column: int, form: Linear[float]) -> None:
        self.arrays[f"{self.processor}.skip.bias"][column] += form.constant
        for atom, c in form.terms.items():
            name, _, edge = atom.where.partition(".")
            if atom.where == SELF:
                self._add_node(f"{self.processor}.skip.weight", atom.name, column, c)
                continue
            value = self.names.index(name) * self.width + column
            if edge:
                self._add_edge(f"{self.processor}.information", atom.name, value, c)
            else:
                self._add_node(f"{self.processor}.value.weight", atom.name, value, c)

    def encode(self) -> None:
        for channels in (self.lowered.nodes, self.lowered.edges, self.lowered.graph):
            for column, name in enumerate(channels):
                channel = Channel.of(name)
                encoder = f"encoders.{channel.feature}"
                row = _VIEWS[channel.view] * self.features[channel.feature].classes + channel.index
                self.arrays[f"{encoder}.weight"][row, column] = -1.0 if channel.complement else 1.0
                self.arrays[f"{encoder}.bias"][column] += float(channel.complement)

    def decode(self, emitted: AnyEmitted) -> None:
        decoder = f"decoders.{emitted.feature.name}"
        match emitted:
            case EmittedPointer(_, units, Linear() as first):
                self._point(f"{decoder}.pointer", units)
                self._decode(f"{decoder}.first.node", first * MASK_SHARPNESS, 0)
            case EmittedPointer(_, units):
                self._point(decoder, units)
            case EmittedForms(feature, forms):
                for column, form in enumerate(forms):
                    if feature.kind is Kind.MASK:
                        form = (form - Linear({}, 0.5)) * MASK_SHARPNESS
                    elif feature.kind in (Kind.MASK_ONE, Kind.CATEGORICAL):
                        form = form * MASK_SHARPNESS
                    self._decode(f"{decoder}.{_DECODERS[feature.location]}", form, column)

    def _point(self, decoder: str, units: tuple[Weighted, ...]) -> None:
        idx = Linear({Atom(SELF, self.lowered.idx): 1.0}, 0.0)
        for column, (form, weight) in enumerate(units):
            self._decode(f"{decoder}.receiver", form, column)
            self._decode(f"{decoder}.sender", idx, column)
            score = weight * self.precision.sharpness
            self.arrays[f"{decoder}.score.weight"][column, 0] = score

    def _decode(self, layer: str, form: Linear[float], column: int) -> None:
        """Reads the state after the step; of an edge, that of both ends, and the edge."""
        decoder, _, _ = layer.rpartition(".")
        self.arrays[f"{layer}.bias"][column] += form.constant
        for atom, c in form.terms.items():
            if atom.where == EDGE:
                self._add_edge(f"{decoder}.edge.weight", atom.name, column, c)
            else:
                array = f"{decoder}.sender.weight" if atom.where == OTHER else f"{layer}.weight"
                self._add_node(array, atom.name, column, c, after=True)
