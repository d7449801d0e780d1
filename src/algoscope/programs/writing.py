"""Writes lowered forms into the named arrays of an empty network: encoders, rounds, decoders."""

from typing import Any

import numpy as np

from algoscope import networks
from algoscope.networks import Network
from algoscope.programs.channels import Channel
from algoscope.programs.language import BACK, EDGE, GRAPH, OTHER, OWN, SELF, Atom, Linear
from algoscope.programs.lowering import (
    AnyEmitted,
    EmittedForms,
    EmittedPointer,
    Head,
    Weighted,
)
from algoscope.programs.precision import Precision
from algoscope.tasks import Kind, Location

_VIEWS = {"": 0, BACK: 1, OWN: 2}
"""Which part of its encoder's rows a view of an edge has."""
_DECODERS = {Location.NODE: "node", Location.GRAPH: "nodes", Location.EDGE: "receiver"}
"""The layer that reads a node's state, or the receiver's."""


class Writer:
    """Fills the named arrays of an empty network."""

    def __init__(self, lowered: Any, sharpness: float, precision: Precision, network: Network):
        """`lowered` is a Lowered, or what another target's writer reads in its place."""
        self.lowered, self.sharpness, self.precision = lowered, sharpness, precision
        self.width = network.config.width
        self.features = {feature.name: feature for feature in network.features}
        self.arrays = {name: np.zeros(a.shape) for name, a in networks.arrays(network).items()}

    def written(self) -> dict[str, np.ndarray]:
        """All arrays, by name."""
        several = len(self.lowered.rounds) > 1
        for number in range(len(self.lowered.rounds)):
            self.processor = f"processor.{number}" if several else "processor"
            # The round before a step's first is the last of the step before.
            self.before = number - 1
            self.write_round(number)
        self.encode()
        for emitted in self.lowered.emitted:
            self.decode(emitted)
        return self.arrays

    def write_round(self, number: int) -> None:
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
                self._decode(f"{decoder}.first.node", first * self.precision.masks, 0)
            case EmittedPointer(_, units):
                self._point(decoder, units)
            case EmittedForms(feature, forms):
                for column, form in enumerate(forms):
                    if feature.kind is Kind.MASK:
                        form = (form - Linear({}, 0.5)) * self.precision.masks
                    elif feature.kind in (Kind.MASK_ONE, Kind.CATEGORICAL):
                        form = form * self.precision.masks
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
