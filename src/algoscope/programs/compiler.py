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
from algoscope.programs import triplets
from algoscope.programs.certificate import Certificate, certify
from algoscope.programs.channels import Channel
from algoscope.programs.language import EDGE, GraphProgram
from algoscope.programs.lowering import CompileError, EmittedPointer, Lowered, lower
from algoscope.programs.parser import parse
from algoscope.programs.precision import FLOAT32, Precision
from algoscope.programs.running_errors import certain
from algoscope.programs.triplet_writing import TripletWriter
from algoscope.programs.writing import Writer
from algoscope.table import Table
from algoscope.tasks import Batch, Task


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
        with other positions or more nodes than the program is for; nor any of a program with pairs,
        of which the errors are not followed."""
        most = self.program.most_nodes
        if self.program.pairs is not None or (most is not None and batch.nodes > most):
            return np.zeros(len(batch), bool)
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
    if program.pairs is not None:
        lowered = triplets.lower(program, precision)
        width = _at_least(lowered.width, width, program)
        network = triplets.empty_network(program, lowered, width)
        writer = TripletWriter(lowered, precision, network)
        certificate = triplets.certify(lowered, precision)
    else:
        lowered = lower(program, precision.resolution)
        width = _at_least(smallest_width(lowered), width, program)
        if sharpness is None:
            sharpness = sharpest(program, lowered, precision)
        network = empty_network(program, lowered, width, precision)
        writer = Writer(lowered, sharpness, precision, network)
        certificate = certify(lowered, sharpness, precision)
    if program.needs_even_positions:
        certificate = certificate._replace(largest_random_size=0)
    if program.most_nodes is not None:
        certificate = certificate.up_to(program.most_nodes)
    return Compiled(networks.with_arrays(network, writer.written()), certificate, program)


def _at_least(smallest: int, width: int | None, program: GraphProgram) -> int:
    if width is not None and width < smallest:
        raise CompileError(f"width: got {width}, needed at least {smallest} for {program.name}")
    return smallest if width is None else width


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
