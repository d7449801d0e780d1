"""Weights from and to dm-clrs, whose parameters are named by the order of construction.

    named = dm_clrs.read_checkpoint("checkpoints/best.pkl")
    network = dm_clrs.from_parameters(network, named)

A checkpoint is a pickle, and a pickle can run any code when it is read in the ordinary way. This
reader calls nothing that a pickle names, except what rebuilds a numpy array from its bytes.
"""

import io
import os
import pathlib
import pickle
import pickletools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from algoscope import files
from algoscope.errors import together
from algoscope.networks.decoders import (
    EdgeDecoder,
    EdgePointerDecoder,
    GraphDecoder,
    NodeDecoder,
    PermutationDecoder,
    PointerDecoder,
)
from algoscope.networks.encoders import EdgePointerEncoder
from algoscope.networks.network import Network
from algoscope.networks.processors.gat import GAT
from algoscope.networks.processors.gatv2 import GATv2
from algoscope.networks.processors.pgn import MPNN, PGN, DeepSets
from algoscope.networks.processors.triplet_gmpnn import TripletGMPNN
from algoscope.networks.weights import WeightsError, arrays, with_arrays

Parameters = Mapping[str, Mapping[str, Any]]
"""Haiku's: module name -> parameter name (w, b, scale, offset) -> array."""

_MESSAGES = ("receiver", "sender", "edge", "graph", "own", "message")
_GATES = ("gate.own", "gate.message", "gate.gate")
_TRIPLETS = (
    "first", "second", "third", "first_second", "first_third", "second_third", "triplet_graph",
    "triplet_out",
)  # fmt: skip
_PROCESSORS = {
    GAT: ("gat_aggr", ("value", "skip", "receiver", "sender", "edge", "graph")),
    GATv2: ("gatv2_aggr", ("value", "skip", "sender", "receiver", "edge", "graph", "head")),
    PGN: ("mpnn_aggr", _MESSAGES + _GATES),
    MPNN: ("mpnn_aggr", _MESSAGES + _GATES),
    DeepSets: ("mpnn_aggr", _MESSAGES + _GATES),
    TripletGMPNN: ("mpnn_aggr", _MESSAGES + _TRIPLETS + _GATES),
}
"""Each processor's Haiku name, and its linear layers in the order in which dm-clrs makes them."""
_CODERS = {
    EdgePointerEncoder: ("over_first", "over_second"),
    NodeDecoder: ("node",),
    PointerDecoder: ("receiver", "sender", "edge", "score"),
    EdgeDecoder: ("receiver", "sender", "edge"),
    EdgePointerDecoder: ("receiver", "sender", "edge", "target", "score"),
    GraphDecoder: ("nodes", "graph"),
}
"""Likewise for encoders and decoders."""


class _Place(NamedTuple):
    """Where an array of ours stands in dm-clrs's parameters."""

    name: str
    module: str
    parameter: str
    column: int | None = None
    """The head, where dm-clrs has a module for each and we have one array."""


def from_parameters(network: Network, parameters: Parameters, algorithm: int = 0) -> Network:
    """The network with a dm-clrs model's parameters; `algorithm` is the task's index in a model
    of several."""
    named: dict[str, np.ndarray] = {}
    faults = []
    for place in _places(network, algorithm):
        try:
            array = np.asarray(parameters[place.module][place.parameter])
        except KeyError:
            faults.append(f"missing: {place.module} {place.parameter}, for {place.name}")
            continue
        if place.column is not None and place.name in named:
            array = np.concatenate([named[place.name], array], -1)
        named[place.name] = array
    if faults:
        raise WeightsError(together("parameters do not fit the network:", faults))
    return with_arrays(network, named)


def to_parameters(network: Network, algorithm: int = 0) -> dict[str, dict[str, np.ndarray]]:
    """The network's weights as dm-clrs's parameters."""
    named = arrays(network)
    parameters: dict[str, dict[str, np.ndarray]] = {}
    for place in _places(network, algorithm):
        array = np.asarray(named[place.name])
        if place.column is not None:
            array = array[..., place.column : place.column + 1]
        parameters.setdefault(place.module, {})[place.parameter] = array
    return parameters


def _places(network: Network, algorithm: int) -> Iterator[_Place]:
    config = network.config
    processor = network.processor
    foreign = config.edge_information, config.edge_views, config.attention_bias
    if isinstance(processor, tuple) or any(foreign):
        raise WeightsError(
            "network: got separate weights per round, edge information, edge views or an "
            "attention bias, which dm-clrs's networks do not have"
        )
    kind, linears = _PROCESSORS[type(processor)]
    prefix = f"net/{kind}_clrs_processor"
    made = [name for name in linears if _exists(processor, name)]
    number = 0
    for name in made:
        heads = range(config.heads) if name == "head" else [None]
        for head in heads:
            module = f"{prefix}/{_numbered('linear', number)}"
            yield from _linear(f"processor.{name}", module, head)
            number += 1
    if isinstance(processor, PGN):
        for layer in (0, 1):
            yield from _linear(f"processor.mlp.{layer}", f"{prefix}/mlp/~/linear_{layer}")
    if config.layer_norm:
        for parameter in ("scale", "offset"):
            yield _Place(f"processor.norm.{parameter}", f"{prefix}/layer_norm", parameter)

    prefix = f"net/~_construct_encoders_decoders/algo_{algorithm}"
    for name, encoder in network.encoders.items():
        yield from _coder(f"encoders.{name}", f"{prefix}_{name}_enc_linear", encoder)
    for name, decoder in network.decoders.items():
        ours, theirs = f"decoders.{name}", f"{prefix}_{name}"
        if isinstance(decoder, PermutationDecoder):
            yield from _coder(f"{ours}.pointer", f"{theirs}_dec_linear", decoder.pointer)
            yield from _coder(f"{ours}.first", f"{theirs}_mask_dec_linear", decoder.first)
        else:
            yield from _coder(ours, f"{theirs}_dec_linear", decoder)


def _exists(processor: Any, name: str) -> bool:
    return getattr(processor, name.partition(".")[0]) is not None


def _coder(name: str, module: str, coder: Any) -> Iterator[_Place]:
    if type(coder) not in _CODERS:
        yield from _linear(name, module)
        return
    for number, part in enumerate(_CODERS[type(coder)]):
        yield from _linear(f"{name}.{part}", _numbered(module, number))


def _linear(name: str, module: str, head: int | None = None) -> Iterator[_Place]:
    yield _Place(f"{name}.weight", module, "w", head)
    yield _Place(f"{name}.bias", module, "b", head)


def _numbered(module: str, number: int) -> str:
    return f"{module}_{number}" if number else module


def read_checkpoint(path: str | os.PathLike) -> Parameters:
    """The parameters in a checkpoint that dm-clrs's `save_model` wrote."""
    path = pathlib.Path(path)
    octets = files.read_bytes(path)
    try:
        _check_places(octets)
        content = _ArraysOnly(io.BytesIO(octets)).load()
    except Exception as error:
        raise WeightsError(f"{path}: not a checkpoint of dm-clrs ({error})") from None
    parameters = content.get("params") if isinstance(content, dict) else None
    if not isinstance(parameters, Mapping) or not all(
        isinstance(module, Mapping) and all(isinstance(a, np.ndarray) for a in module.values())
        for module in parameters.values()
    ):
        raise WeightsError(
            f"{path}: needed a dictionary with arrays under 'params', as dm-clrs saves"
        )
    return parameters


def _check_places(octets: bytes) -> None:
    """Refuses a pickle that asks for more memory than its own length accounts for: it numbers what
    it remembers, and Python makes room for the highest number."""
    for code, argument, _ in pickletools.genops(octets):
        numbered = code.name in ("PUT", "BINPUT", "LONG_BINPUT")
        if numbered and not 0 <= int(argument or 0) <= len(octets):
            raise pickle.UnpicklingError(f"the number {argument} of something remembered")


class _Inert:
    """Stands for every class and function that a pickle names: takes anything, does nothing."""

    def __new__(cls, *args, **kwargs):
        del args, kwargs
        return super().__new__(cls)

    def __call__(self, *args, **kwargs):
        del args, kwargs
        return self

    def __setstate__(self, state):
        del state

    def __setitem__(self, key, value):
        del key, value

    def append(self, item):
        del item

    def extend(self, items):
        del items


def _as_bytes(text: str, encoding: str) -> bytes:
    """How old pickle protocols spell bytes."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"text in {encoding!r} where the bytes of an array should be")
    return text.encode("latin1")


class _ArraysOnly(pickle.Unpickler):
    """Rebuilds arrays and plain containers; everything else that a pickle names becomes inert."""

    def find_class(self, module: str, name: str) -> Any:
        match module.split("."), name:
            case ["numpy", *_], "_reconstruct":
                return np.zeros(1).__reduce__()[0]
            case ["numpy", *_], "_frombuffer":
                return np.zeros(1).__reduce_ex__(5)[0]
            case ["numpy"], "ndarray" | "dtype":
                return getattr(np, name)
            case ["_codecs"], "encode":
                return _as_bytes
        return _Inert

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError(f"a reference {pid!r} to something outside the file")
