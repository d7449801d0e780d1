"""Encoders: what the network reads of a problem and its present hints.

Each feature f has a linear encoder, and those that enter at the same place are summed up:

    x_i  = sum_f W_f f_i + b_f         features of nodes                                 [n, width]
    e_ij = sum_f W_f f_ij + b_f        of edges; pointers of nodes, as one-hot rows   [n, n, width]
    g    = sum_f W_f f + b_f           of the graph                                         [width]

Features are in the form of *values*, see `kinds`. Edge masks and pointers of nodes also say who is
whose neighbour. With `NetworkConfig.edge_views`, f_ij is [f_ij, f_ji, f_ij if i = j else 0].
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from algoscope.networks.config import NetworkConfig
from algoscope.networks.layers import Linear
from algoscope.tasks.features import Feature, Kind, Location, Stage

EDGE_VIEWS = 3
"""Of an edge: itself, the one that leads back, and itself if it is a loop."""


class Encoded(NamedTuple):
    """A problem and the present hints, as the encoders give them to the processor."""

    nodes: Float[Array, "n width"]
    edges: Float[Array, "n n width"]
    graph: Float[Array, " width"]
    adjacency: Bool[Array, "n n"]
    """Symmetric, with all self-loops."""


class EdgePointerEncoder(eqx.Module):
    """Reads pointers of edges p_ijk (edge ij points to k) as edge features: to jk the mean over i
    through `over_first`, to ik the mean over j through `over_second`."""

    over_first: Linear
    over_second: Linear

    def __call__(self, pointers: Float[Array, "n n n 1"]) -> Float[Array, "n n width"]:
        return self.over_first(pointers.mean(0)) + self.over_second(pointers.mean(1))


Encoder = Linear | EdgePointerEncoder


def start_encoder(feature: Feature, config: NetworkConfig, key: PRNGKeyArray) -> Encoder:
    small = (
        config.encoder_start == "xavier_on_scalars"
        and feature.stage is Stage.HINT
        and feature.kind is Kind.SCALAR
    )
    spread = config.width**-0.5 if small else None
    if (feature.location, feature.kind) == (Location.EDGE, Kind.POINTER):
        keys = jax.random.split(key)
        return EdgePointerEncoder(*(Linear.start(k, 1, config.width, spread) for k in keys))
    views = EDGE_VIEWS if config.edge_views and reads_at(feature) is Location.EDGE else 1
    return Linear.start(key, views * feature.classes, config.width, spread)


def reads_at(feature: Feature) -> Location:
    """Where the encoded feature enters: a node's pointer is a feature of edges."""
    return Location.EDGE if feature.is_pointer else feature.location


def encoder_inputs(feature: Feature, value: Array, encoder: Encoder) -> Float[Array, "... rows"]:
    """What the encoder reads: a number for each class, or three, if it reads edges three ways."""
    # Only categorical features have an axis of classes in a batch.
    value = value if feature.kind is Kind.CATEGORICAL else value[..., None]
    if isinstance(encoder, EdgePointerEncoder) or len(encoder.weight) == value.shape[-1]:
        return value
    loops = jnp.eye(len(value), dtype=value.dtype)[..., None]
    return jnp.concatenate([value, jnp.swapaxes(value, 0, 1), loops * value], -1)


def adjacency(
    features: Sequence[Feature], values: Mapping[str, Array], nodes: int
) -> Bool[Array, "n n"]:
    """Every node, and the pairs that some feature joins."""
    joined = jnp.eye(nodes, dtype=bool)
    for feature in features:
        if feature.name in values and feature.joins_nodes:
            joined |= feature.joined(values[feature.name])
    return joined


def encode(
    encoders: Mapping[str, Encoder],
    features: Sequence[Feature],
    values: Mapping[str, Array],
    width: int,
) -> Encoded:
    """The encoded features of the values that there are."""
    n = len(values["pos"])
    dtype = values["pos"].dtype
    total = {
        Location.NODE: jnp.zeros((n, width), dtype),
        Location.EDGE: jnp.zeros((n, n, width), dtype),
        Location.GRAPH: jnp.zeros(width, dtype),
    }
    for feature in features:
        if feature.name in values:
            encoder = encoders[feature.name]
            value = encoder_inputs(feature, values[feature.name], encoder)
            total[reads_at(feature)] += encoder(value)
    return Encoded(
        total[Location.NODE],
        total[Location.EDGE],
        total[Location.GRAPH],
        adjacency(features, values, n),
    )
