"""A network without its silent parts, which shows the same in less time.

Compiled networks are mostly zeros: all their rounds have as many heads, and all heads and pointers
as many units, as the largest needs. What only ever adds zeros is left out: heads that bring
nothing, units of no weight, and encoders of features that nobody reads. Sums lose terms that are 0,
so that all else is as it was, up to the order in which a processor adds.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from algoscope.networks.config import NetworkConfig
from algoscope.networks.decoders import (
    Decoder,
    EdgePointerDecoder,
    PermutationDecoder,
    PointerDecoder,
)
from algoscope.networks.encoders import Encoded, Encoder
from algoscope.networks.layers import Linear
from algoscope.networks.network import Network
from algoscope.networks.processors import Processor
from algoscope.networks.processors.base import Processed
from algoscope.networks.processors.gatv2 import GATv2
from algoscope.networks.processors.triplet_gmpnn import TripletGMPNN
from algoscope.tasks import Stage


def lean(network: Network) -> Network:
    """The same network, if it has silent parts a smaller one; its weights have to be known."""
    processor = network.processor
    slim = tuple(map(_slim, processor)) if isinstance(processor, tuple) else _slim(processor)
    decoders = dict(network.decoders)
    for stage in (Stage.HINT, Stage.OUTPUT):
        decoders |= _with_loud_units(network.decoders_at(stage))
    for name, decoder in decoders.items():
        if isinstance(decoder, EdgePointerDecoder):
            decoders[name] = _loud_edge_pointer(decoder)
    # Features that join nodes say who is whose neighbour, where that matters.
    silent = {
        feature.name
        for feature in network.features
        if (network.config.processor.endswith("_full") or not feature.joins_nodes)
        and feature.name in network.encoders
        and _is_zero(network.encoders[feature.name])
    }
    encoders = {name: e for name, e in network.encoders.items() if name not in silent}
    return Network(encoders, slim, decoders, network.features, network.config)


def _is_zero(weights: Encoder | Linear) -> bool:
    return not any(np.any(np.asarray(leaf)) for leaf in jax.tree.leaves(weights))


class Split(Processor):
    """A GATv2 whose heads are of two kinds: those that bring all nodes the same, because they read
    nothing of the receiver or the edge, and others. It shows whom nobody reads."""

    alike: GATv2 | None
    own: GATv2 | None
    skip: Linear

    def __call__(self, encoded: Encoded, hidden: Float[Array, "n width"]) -> Processed:
        z = jnp.concatenate([encoded.nodes, hidden], -1)
        total = self.skip(z)
        for heads in (self.alike, self.own):
            total += 0.0 if heads is None else heads.selected(z, encoded)[0]
        return Processed(jax.nn.relu(total), no_attention(z))


def no_attention(z: Float[Array, "n inputs"]) -> Float[Array, "0 n n"]:
    return jnp.zeros((0, len(z), len(z)), z.dtype)


class SlimTriplets(TripletGMPNN):
    """A Triplet-GMPNN that asks third nodes only in those channels that read something of them. It
    shows whom nobody reads."""

    thirds: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, encoded: Encoded, hidden: Float[Array, "n width"]) -> Processed:
        made = super().__call__(encoded, hidden)
        return made._replace(attention=made.attention[:0])

    def new_edges(self, z: Float[Array, "n inputs"], encoded: Encoded) -> Float[Array, "n n width"]:
        edges, thirds = encoded.edges, np.array(self.thirds, int)
        # Channels first: of each, all pairs are one block.
        first, second, third = (
            jnp.moveaxis(layer(z), -1, 0) for layer in (self.first, self.second, self.third)
        )
        to_self, to_other, of_pair = (
            jnp.moveaxis(layer(edges), -1, 0)
            for layer in (self.first_second, self.first_third, self.second_third)
        )
        graph = self.triplet_graph(encoded.graph)[:, None, None]
        shared = second[:, :, None] + third[:, None] + of_pair + graph
        with_thirds = (
            first[thirds][:, :, None, None]
            + second[thirds][:, None, :, None]
            + third[thirds][:, None, None]
            + to_self[thirds][:, :, :, None]
            + to_other[thirds][:, :, None]
            + of_pair[thirds][:, None]
            + graph[thirds][:, None]
        )
        highest = shared.at[thirds].set(with_thirds.max(1))
        return jax.nn.relu(self.triplet_out(jnp.moveaxis(highest, 0, -1)))


def _slim_triplets(processor: TripletGMPNN) -> SlimTriplets:
    read = [processor.first, processor.first_second, processor.first_third]
    weights = np.concatenate([np.asarray(array) for layer in read for array in _rows(layer)])
    asks = weights.any(0)
    thirds = tuple(np.flatnonzero(asks).tolist())
    parts = {f.name: getattr(processor, f.name) for f in dataclasses.fields(processor)}
    slim = object.__new__(SlimTriplets)
    for name, value in (parts | {"thirds": thirds}).items():
        object.__setattr__(slim, name, value)
    return slim


def _rows(layer: Linear) -> tuple[Any, Any]:
    return layer.weight, layer.bias[None]


def _slim(processor: Processor) -> Processor:
    """Without silent heads, and the others apart by whether they read the same for all nodes."""
    if isinstance(processor, TripletGMPNN):
        return _slim_triplets(processor)
    if not isinstance(processor, GATv2) or not _may_be_slim(processor.config):
        return processor
    heads, width = processor.config.heads, processor.config.width
    brought = [processor.value.weight, processor.value.bias[None]]
    brought += [] if processor.information is None else [processor.information]
    values = np.concatenate([np.asarray(array) for array in brought])
    loud = np.flatnonzero(values.reshape(-1, heads, width).any((0, 2)))
    read = [processor.receiver.weight, processor.edge.weight]
    by_unit = np.concatenate([np.asarray(array) for array in read])
    differs = np.asarray(by_unit.reshape(len(by_unit), heads, -1).any((0, 2)))
    if processor.information is not None:
        brought_by_edges = np.asarray(processor.information).reshape(-1, heads, width)
        differs |= brought_by_edges.any((0, 2))
    if not processor.config.processor.endswith("_full"):
        differs[:] = True
    alike, own = (
        _with_heads(processor, loud[differs[loud] == kind])
        if (differs[loud] == kind).any()
        else None
        for kind in (False, True)
    )
    return Split(alike, own, processor.skip)


def _with_heads(processor: GATv2, loud: np.ndarray) -> GATv2:
    """With some of the heads, and without units that are silent in all of these."""
    heads = processor.config.heads
    units = np.flatnonzero(np.asarray(processor.head.weight)[:, loud].any(1))
    units = units if len(units) else np.array([0])

    def kept(array: Any, part: np.ndarray | slice = slice(None)) -> Any:
        """Of the last axis: of loud heads, a part or all."""
        by_head = array.reshape(*array.shape[:-1], heads, -1)
        return by_head[..., loud, :][..., part].reshape(*array.shape[:-1], -1)

    def layer(linear: Linear, part: np.ndarray | slice = slice(None)) -> Linear:
        return Linear(kept(linear.weight, part), kept(linear.bias, part))

    slim = [
        layer(processor.value),
        processor.skip,
        *(layer(x, units) for x in (processor.sender, processor.receiver)),
        *(layer(x, units) for x in (processor.edge, processor.graph)),
        Linear(processor.head.weight[units][:, loud], processor.head.bias[loud]),
        None if processor.information is None else kept(processor.information),
    ]
    config = dataclasses.replace(
        processor.config, heads=len(loud), attention_width=len(loud) * len(units)
    )
    # The weights in the places of one that has these sizes.
    places = eqx.filter_eval_shape(GATv2, config, jax.random.key(0))
    return jax.tree.unflatten(jax.tree.structure(places), jax.tree.leaves(slim))


def _may_be_slim(config: NetworkConfig) -> bool:
    """Heads are summed up, and nothing is computed with the sum but what is known here."""
    return (
        config.head_combination == "sum"
        and config.activation == "sum"
        and config.attention_bias is None
        and not config.layer_norm
    )


def _with_loud_units(decoders: Mapping[str, Decoder]) -> dict[str, Decoder]:
    """Decoders that point, with the units that have a weight in some of them: they are computed
    together, so that all need as many."""
    pointers = {name: p for name, d in decoders.items() if (p := _pointer(d)) is not None}
    if not pointers:
        return {}
    weighs = np.any([np.asarray(p.score.weight).any(1) for p in pointers.values()], 0)
    units = np.flatnonzero(weighs) if weighs.any() else np.array([0])
    reads_edges = any(p.edge is not None and not _is_zero(p.edge) for p in pointers.values())

    def layer(linear: Linear) -> Linear:
        return Linear(linear.weight[:, units], linear.bias[units])

    slim = {}
    for name, p in pointers.items():
        edge = layer(p.edge) if p.edge is not None and reads_edges else None
        score = Linear(p.score.weight[units], p.score.bias)
        pointer = PointerDecoder(layer(p.receiver), layer(p.sender), edge, score)
        decoder = decoders[name]
        if isinstance(decoder, PermutationDecoder):
            slim[name] = PermutationDecoder(pointer, decoder.first)
        else:
            slim[name] = pointer
    return slim


def _loud_edge_pointer(decoder: EdgePointerDecoder) -> EdgePointerDecoder:
    units = np.flatnonzero(np.asarray(decoder.score.weight).any(1))
    units = units if len(units) else np.array([0])

    def layer(linear: Linear) -> Linear:
        return Linear(linear.weight[:, units], linear.bias[units])

    return EdgePointerDecoder(
        layer(decoder.receiver),
        layer(decoder.sender),
        layer(decoder.edge),
        layer(decoder.target),
        Linear(decoder.score.weight[units], decoder.score.bias),
    )


def _pointer(decoder: Decoder) -> PointerDecoder | None:
    if isinstance(decoder, PermutationDecoder):
        return decoder.pointer
    return decoder if isinstance(decoder, PointerDecoder) else None
