"""Encoders merged into the layers that read them.

Encoders are linear: what enters at a place is a few scalars s times the rows R of one matrix, and a
layer on that is a layer on the scalars,

    e = s R + c        e W + b = s (R W) + (c W + b)        s [..., K], R [K, width], K about 3 to 6

So features of edges and of the graph are never formed: processors and decoders read scalars through
layers that are `compose`d with the encoders'. Features of nodes x are read together with states h.
On a GPU, where such layers cost what they read and write, merging them too saves a fifth of a step:

    [x, h] [W; V] + b = [s, h] [R W; V] + (c W + b)

Elsewhere they read x, which rounds as dm-clrs does.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from algoscope.networks.encoders import (
    EdgePointerEncoder,
    Encoder,
    adjacency,
    encoder_inputs,
    reads_at,
)
from algoscope.networks.fast.layers import summed
from algoscope.networks.fast.pairs import PairLayers
from algoscope.networks.layers import Linear
from algoscope.networks.network import Network
from algoscope.tasks.features import Feature, Kind, Location, Stage

_FILLED_TO = 16
_EXPONENT, _MANTISSA = 8, 10
"""Bits of the numbers that a GPU multiplies."""


class Scalars(NamedTuple):
    """A problem and the present hints, as merged layers read them."""

    nodes: Float[Array, "n width"]
    """Encoded features."""
    merged_nodes: Float[Array, "n inputs"]
    """What merged layers read in place of them."""
    edges: Float[Array, "n n K"]
    graph: Float[Array, " K"]
    adjacency: Bool[Array, "n n"]


class MergedNodes(eqx.Module):
    """The encoders of nodes, merged into layers or not."""

    encoder: Linear | None
    """R, those rows of it again that are of exact scalars, and c; None where layers read x."""
    exact: tuple[int, ...] = eqx.field(static=True)
    """Which scalars must not be rounded, such as positions."""

    @staticmethod
    def of(encoder: Linear, exact: Sequence[int], merges: bool) -> "MergedNodes":
        if not merges:
            return MergedNodes(None, tuple(exact))
        rows = jnp.concatenate([encoder.weight, *(encoder.weight[k][None] for k in exact)])
        filled = jnp.pad(rows, ((0, -len(rows) % _FILLED_TO), (0, 0)))
        return MergedNodes(Linear(filled, encoder.bias), tuple(exact))

    def inputs(
        self, x: Float[Array, "n width"], scalars: Sequence[Float[Array, "n _"]]
    ) -> Float[Array, "n inputs"]:
        """What merged layers read: the scalars, and what a GPU would round off the exact ones."""
        if self.encoder is None:
            return x
        s = jnp.concatenate(scalars, -1)
        exact = np.isin(np.arange(s.shape[1]), self.exact)
        off = jnp.where(exact, s - jax.lax.reduce_precision(s, _EXPONENT, _MANTISSA), 0)
        off = jax.lax.stop_gradient(off)
        both = jnp.concatenate([s - off, *(off[:, k : k + 1] for k in self.exact)], -1)
        return jnp.pad(both, ((0, 0), (0, len(self.encoder.weight) - both.shape[-1])))

    def layer(self, linear: Linear) -> Linear:
        weight, bias = self._merged(linear.weight)
        return Linear(weight, linear.bias + bias)

    def pairs(self, layers: PairLayers) -> PairLayers:
        weight, bias = self._merged(layers.nodes)
        offsets = layers.offsets + bias.reshape(layers.offsets.shape)
        return dataclasses.replace(layers, nodes=weight, offsets=offsets)

    def _merged(
        self, weight: Float[Array, "inputs outputs"]
    ) -> tuple[Float[Array, "merged outputs"], Float[Array, " outputs"]]:
        if self.encoder is None:
            return weight, jnp.zeros(weight.shape[1], weight.dtype)
        of_x, of_states = jnp.split(weight, [self.encoder.weight.shape[1]])
        rows, bias = (
            jnp.matmul(part, of_x, precision="highest")
            for part in (self.encoder.weight, self.encoder.bias)
        )
        return jnp.concatenate([rows, of_states]), bias


class Encoders(eqx.Module):
    """All encoders, with what depends on their weights alone."""

    layers: dict[str, Linear]
    """By feature name, on its scalars."""
    edges: Linear
    """All encoders at edges as one layer, on all scalars."""
    graph: Linear
    nodes: MergedNodes
    features: tuple[Feature, ...] = eqx.field(static=True)
    """Those that are encoded, inputs first."""

    @staticmethod
    def of(network: Network, merges_nodes: bool) -> "Encoders":
        encoded = [f for f in network.features if f.name in network.encoders]
        features = tuple(sorted(encoded, key=lambda f: f.stage is not Stage.INPUT))
        layers = {f.name: _on_scalars(network.encoders[f.name]) for f in features}

        def together(location: Location) -> Linear:
            parts = [layers[f.name] for f in features if reads_at(f) is location]
            bias = jnp.zeros(network.config.width, network.dtype)
            return Linear(
                jnp.concatenate(
                    [jnp.zeros((0, len(bias)), bias.dtype), *(p.weight for p in parts)]
                ),
                sum((part.bias for part in parts), bias),
            )

        # Choices and masks may be rounded.
        at_nodes = [f for f in features if reads_at(f) is Location.NODE]
        kinds = [f.kind for f in at_nodes for _ in range(len(layers[f.name].weight))]
        exact = [k for k, kind in enumerate(kinds) if kind is Kind.SCALAR]
        return Encoders(
            layers,
            together(Location.EDGE),
            together(Location.GRAPH),
            MergedNodes.of(together(Location.NODE), exact, merges_nodes),
            features,
        )

    @property
    def fixed(self) -> int:
        """So many of the first scalars of edges are data, which no gradient is for."""
        inputs = [f for f in self.features if f.stage is Stage.INPUT]
        return sum(len(self.layers[f.name].weight) for f in inputs if reads_at(f) is Location.EDGE)

    def __call__(self, values: Mapping[str, Array]) -> Scalars:
        """The values are those that `networks.encoders.encode` takes."""
        n = len(values["pos"])
        dtype = self.edges.bias.dtype

        def scalars(location: Location) -> list[Array]:
            features = (f for f in self.features if reads_at(f) is location)
            return [_scalars(f, values[f.name], self.layers[f.name]) for f in features]

        joined = adjacency(self.features, values, n)
        at_nodes = scalars(Location.NODE)
        layers = [self.layers[f.name] for f in self.features if reads_at(f) is Location.NODE]
        x = summed(at_nodes, layers)
        return Scalars(
            x,
            self.nodes.inputs(x, at_nodes),
            jnp.concatenate([jnp.zeros((n, n, 0), dtype), *scalars(Location.EDGE)], -1),
            jnp.concatenate([jnp.zeros(0, dtype), *scalars(Location.GRAPH)]),
            joined,
        )


def _on_scalars(encoder: Encoder) -> Linear:
    if isinstance(encoder, EdgePointerEncoder):
        first, second = encoder.over_first, encoder.over_second
        return Linear(jnp.concatenate([first.weight, second.weight]), first.bias + second.bias)
    return encoder


def _scalars(feature: Feature, value: Array, layer: Linear) -> Float[Array, "... K"]:
    """[n, K] for nodes, [n, n, K] for edges, [K] for the graph"""
    if (feature.location, feature.kind) == (Location.EDGE, Kind.POINTER):
        return jnp.stack([value.mean(0), value.mean(1)], -1)
    return encoder_inputs(feature, value, layer)
