"""The weights of a network as matrices with named rows and columns.

    encoders    features to channels, of nodes or edges
    processor   channels and state to attention units, values and state; one a round
    decoders    channels, state before and state after the step to hints and outputs

A bias is the last row of its matrix, named 1. What a program leaves unused has no name.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope import networks
from algoscope.networks import Network
from algoscope.networks.encoders import reads_at
from algoscope.programs import triplets
from algoscope.programs.compiler import compile_program, head_units
from algoscope.programs.language import BACK, OWN, GraphProgram
from algoscope.programs.lowering import Head, lower
from algoscope.programs.precision import FLOAT32
from algoscope.tasks import Location


class Panel(NamedTuple):
    title: str
    values: np.ndarray
    """[rows, columns]"""
    rows: list[str]
    columns: list[str]


def panels(program: GraphProgram) -> dict[str, list[Panel]]:
    """The panels of a compiled program."""
    network = compile_program(program).network
    names = _Names if program.pairs is None else _TripletNames
    return network_panels(network, names(program, network.config.width).rows_and_columns)


def network_panels(
    network: Network, names: Callable[[str], tuple[list[str], list[str]]]
) -> dict[str, list[Panel]]:
    """The panels of each picture: `encoders`, `processor` (or `processor.0`, …), `decoders`. The
    names of rows and columns are those of a layer, such as `processor.value`; there may be fewer
    than it has, or more."""
    arrays = {name: np.asarray(array) for name, array in networks.arrays(network).items()}
    pictures: dict[str, list[Panel]] = {}
    for name, weight in arrays.items():
        if weight.ndim != 2:
            continue
        layer = name.removesuffix(".weight")
        rows, columns = names(layer)
        picture, title = _place(layer)
        rows, columns = _filled(rows, len(weight)), _filled(columns, weight.shape[1])
        if f"{layer}.bias" in arrays:
            weight, rows = np.vstack([weight, arrays[f"{layer}.bias"]]), [*rows, "1"]
        pictures.setdefault(picture, []).append(Panel(title, weight, rows, columns))
    return pictures


def _place(layer: str) -> tuple[str, str]:
    """The picture that a layer belongs to, and its title there."""
    group, _, name = layer.partition(".")
    number, _, part = name.partition(".")
    return (f"{group}.{number}", part) if number.isdigit() else (group, name)


def _filled(names: Sequence[str], length: int) -> list[str]:
    return [*names[:length], *[""] * (length - len(names))]


class _Names:
    """What the rows and columns of each layer stand for."""

    def __init__(self, program: GraphProgram, width: int):
        self.width = width
        self.features = {f.name: f for f in program.task.features}
        self.lowered = self.lower(program)
        self.nodes = _filled(self.lowered.nodes, width)
        self.edges, self.graph = list(self.lowered.edges), list(self.lowered.graph)
        self.states = [_numbered([u.variable for u in r.units]) for r in self.lowered.rounds]

    def lower(self, program: GraphProgram) -> Any:
        return lower(program)

    def rows_and_columns(self, layer: str) -> tuple[list[str], list[str]]:
        match layer.split("."):
            case ["encoders", name, *_]:
                feature = self.features[name]
                rows = _numbered([name] * feature.classes)
                rows += [f"{row} {view}" for view in (BACK, OWN) for row in rows]
                columns = {
                    Location.NODE: self.nodes,
                    Location.EDGE: self.edges,
                    Location.GRAPH: self.graph,
                }
                return rows, columns[reads_at(feature)]
            case ["processor", *number, part]:
                return self._processor(part, int(number[0]) if number else 0)
            case ["decoders", _, *_, part]:
                return self._decoder_rows(part), []
        raise ValueError(f"{layer}: not a layer of a compiled network")

    def _processor(self, part: str, number: int) -> tuple[list[str], list[str]]:
        heads = self.lowered.rounds[number].heads
        read = {"edge": self.edges, "information": self.edges, "graph": self.graph}.get(
            part, self.nodes + self.states[number - 1]
        )
        match part:
            case "skip":
                return read, self.states[number]
            case "value" | "information":
                return read, self._values(heads, self.states[number])
            case "head":
                units = max((len(head.units) for head in heads), default=0)
                return [str(unit + 1) for unit in range(units)], [head.name for head in heads]
        return read, self._scores(heads)

    def _values(self, heads: Sequence[Head], state: list[str]) -> list[str]:
        return [f"{h.name}: {unit}" for h in heads for unit in _filled(state, self.width)]

    def _scores(self, heads: Sequence[Head]) -> list[str]:
        several = max(len(round_.heads) for round_ in self.lowered.rounds) > 1
        most = head_units(self.lowered) if several else self.width
        return [
            name
            for h in heads
            for name in _filled([f"{h.name} {unit + 1}" for unit in range(len(h.units))], most)
        ]

    def _decoder_rows(self, part: str) -> list[str]:
        match part:
            case "edge":
                return self.edges
            case "graph" | "score":
                return []
        before = [f"{name} before" for name in self.states[-1]]
        return self.nodes + _filled(before, self.width) + self.states[-1]


class _TripletNames(_Names):
    """Those of a processor that takes maxima: messages and triplets are numbered."""

    def lower(self, program: GraphProgram) -> Any:
        return triplets.lower(program, FLOAT32)

    def rows_and_columns(self, layer: str) -> tuple[list[str], list[str]]:
        parts = layer.split(".")
        if parts[0] == "processor":
            number = int(parts[1]) if parts[1].isdigit() else 0
            return self._processor(".".join(parts[2 if parts[1].isdigit() else 1 :]), number)
        return super().rows_and_columns(layer)

    def _processor(self, part: str, number: int) -> tuple[list[str], list[str]]:
        read = self.nodes + self.states[number - 1]
        messages = [f"message {k + 1}" for k in range(len(self.lowered.rounds[number].messages))]
        channels = [f"triplet {k + 1}" for k in range(len(self.lowered.pairs.channels))]
        match part:
            case "own":
                return read, self.states[number]
            case "message":
                return messages, self.states[number]
            case "edge":
                return self.edges, []
            case "mlp.1":
                return messages, messages
            case "mlp.0":
                return [], messages
            case "first" | "second" | "third":
                return read, channels
            case "first_second" | "first_third" | "second_third":
                return self.edges, channels
            case "triplet_out":
                return channels, self._pairs()
        return (read if part in ("sender", "receiver") else []), []

    def _pairs(self) -> list[str]:
        return _numbered([unit.variable for unit in self.lowered.pairs.units])

    def _decoder_rows(self, part: str) -> list[str]:
        if part == "edge":
            return _filled(self.edges, self.width) + self._pairs()
        return super()._decoder_rows(part)


def _numbered(names: Sequence[str]) -> list[str]:
    """Names that occur several times get a number: a, b, b -> a, b 1, b 2."""
    counts, seen = Counter(names), Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} {seen[name]}" if counts[name] > 1 else name)
    return numbered
