"""Writes a program of pairs into the arrays of a Triplet-GMPNN (see `triplets`)."""

from algoscope.networks import Network
from algoscope.programs.language import (
    EDGE,
    FIRST_LEG,
    GRAPH,
    OTHER,
    PAIR,
    SECOND_LEG,
    SELF,
    VIA,
    Atom,
    Linear,
)
from algoscope.programs.lowering import Weighted
from algoscope.programs.precision import Precision
from algoscope.programs.triplets import MESSAGE, LoweredTriplets, MaxRound, sharpness, turned
from algoscope.programs.writing import Writer
from algoscope.tasks import Location

_OPEN = 2.0**10
"""The bias of a gate that is open: its sigmoid is 1."""
_NODES = {VIA: "first", SELF: "second", OTHER: "third"}
"""The layers of triplets that read nodes."""


class TripletWriter(Writer):
    def __init__(self, lowered: LoweredTriplets, precision: Precision, network: Network):
        super().__init__(lowered, sharpness(precision), precision, network)
        self.pairs = lowered.pairs

    def write_round(self, number: int) -> None:
        round_ = self.lowered.rounds[number]
        self.arrays[f"{self.processor}.gate.gate.bias"][:] = _OPEN
        self._write_messages(round_)
        for column, unit in enumerate(round_.units):
            self._update(column, unit.form)
        if number + 1 == len(self.lowered.rounds):
            self._write_triplets()

    def _write_messages(self, round_: MaxRound) -> None:
        row = 0
        for number, message in enumerate(round_.messages):
            for form, weight in message.units:
                self._add_pair_form(form, row)
                self.arrays[f"{self.processor}.mlp.0.weight"][row, number] = weight
                row += 1
            self.arrays[f"{self.processor}.mlp.1.weight"][number, number] = message.sign

    def _add_pair_form(self, form: Linear[float], column: int) -> None:
        """Of receiver and sender; the processor reads the edge from the sender."""
        self.arrays[f"{self.processor}.receiver.bias"][column] += form.constant
        for atom, c in form.terms.items():
            if atom.where == EDGE:
                self._add_edge(f"{self.processor}.edge.weight", turned(atom.name), column, c)
            elif atom.where == GRAPH:
                row = self.lowered.graph.index(atom.name)
                self.arrays[f"{self.processor}.graph.weight"][row, column] += c
            else:
                side = "sender" if atom.where == OTHER else "receiver"
                self._add_node(f"{self.processor}.{side}.weight", atom.name, column, c)

    def _update(self, column: int, form: Linear[float]) -> None:
        self.arrays[f"{self.processor}.own.bias"][column] += form.constant
        for atom, c in form.terms.items():
            if atom.where == MESSAGE:
                self.arrays[f"{self.processor}.message.weight"][int(atom.name), column] += c
            else:
                self._add_node(f"{self.processor}.own.weight", atom.name, column, c)

    def _write_triplets(self) -> None:
        for column, form in enumerate(self.pairs.channels):
            for atom, c in form.terms.items():
                match atom.where:
                    case "graph":
                        row = self.lowered.graph.index(atom.name)
                        self.arrays[f"{self.processor}.triplet_graph.weight"][row, column] += c
                    case place if place == FIRST_LEG:
                        layer = f"{self.processor}.first_second.weight"
                        self._add_edge(layer, turned(atom.name), column, c)
                    case place if place in (SECOND_LEG, EDGE):
                        ends = "first_third" if place == SECOND_LEG else "second_third"
                        self._add_edge(f"{self.processor}.{ends}.weight", atom.name, column, c)
                    case place:
                        layer = f"{self.processor}.{_NODES[place]}.weight"
                        self._add_node(layer, atom.name, column, c)
        for column, unit in enumerate(self.pairs.units):
            self.arrays[f"{self.processor}.triplet_out.bias"][column] += unit.form.constant
            for atom, c in unit.form.terms.items():
                self.arrays[f"{self.processor}.triplet_out.weight"][int(atom.name), column] += c

    def _point(self, decoder: str, units: tuple[Weighted, ...]) -> None:
        name = decoder.split(".")[1]
        if self.features[name].location is not Location.EDGE:
            super()._point(decoder, units)
            return
        idx = Linear({Atom(SELF, self.lowered.idx): 1.0}, 0.0)
        for column, (form, weight) in enumerate(units):
            self._decode(f"{decoder}.receiver", form, column)
            self._decode(f"{decoder}.target", idx, column)
            score = weight * self.precision.sharpness
            self.arrays[f"{decoder}.score.weight"][column, 0] = score

    def _decode(self, layer: str, form: Linear[float], column: int) -> None:
        """Of edges also what pairs computed, which stands behind what edges were given."""
        own = {a: c for a, c in form.terms.items() if a.where != PAIR}
        super()._decode(layer, Linear(own, form.constant), column)
        decoder, _, _ = layer.rpartition(".")
        for atom, c in form.terms.items():
            if atom.where == PAIR:
                for row, unit in enumerate(self.pairs.units, self.width):
                    if unit.variable == atom.name:
                        weights = self.arrays[f"{decoder}.edge.weight"]
                        weights[row, column] += c * unit.coefficient
