"""Reading: the gated cross-attention through which tokens read a reasoner's nodes and edges.

For tokens T [token, width] and states G [entry, state width], entries being nodes or pairs of
nodes,

    attended = softmax((T Q)(G K)ᵀ / sqrt(part)) G V                   for nodes, and for edges
    n, e     = gelu(attended_nodes W_n), gelu(attended_edges W_e)
    answer   = tanh(gate) · mix(n, e)

where mix is one of (`TowerConfig.mix`)

    joined       [n ; e] M
    sum          (n + e) M
    mlp          gelu([n ; e] H) M
    orthogonal   [n ; e - n (e·n) / (n·n)] M

The text calls nodes by their numbers, so a state comes with the number of its node (an edge's with
both) in sines and cosines; without them, nothing says which node is "node 3".
"""

import functools
import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from algoscope.configuration import Mix, TowerConfig

_NUMBER_WIDTH = 32
_SHORTEST, _LONGEST = 2.5, 200.0
"""Wavelengths of the waves in which a node's number is written."""
_GATE_RATE = 10.0
"""Gates are tanh(10 α): they start shut, and should not be what training waits for."""
_SHUT_OUT = -1e9
_EPSILON = 1e-6
recomputed = functools.partial(jax.checkpoint, prevent_cse=False)
"""A function of which only the arguments are saved for the backward pass: recomputing is faster
than saving and reloading."""


class Widths(NamedTuple):
    """Of the reasoner's states."""

    node: int
    edge: int


class Graph(NamedTuple):
    """A reasoner's states on a batch of problems, padded to the same number of nodes.

    `stages` is 1 for final states, or the number of layers that read one step each."""

    nodes: Float[Array, "stages batch n node_width"]
    edges: Float[Array, "stages batch n n edge_width"]
    mask: Bool[Array, "batch n"]
    """Which nodes are no padding."""


class Stream(eqx.Module):
    """What reads nodes, or edges, in all layers."""

    query: Float[Array, "layer width width"]
    key: Float[Array, "layer state width"]
    value: Float[Array, "layer state width"]
    transform: Float[Array, "layer width width/2"]


class Reader(eqx.Module):
    norm: Float[Array, "layer width"]
    nodes: Stream
    edges: Stream
    mix: Float[Array, "layer mixed width"]
    """M; `mixed` is half the width for a sum, else the width."""
    hidden: Float[Array, "layer width width"] | None
    """H, of an MLP."""
    gate: Float[Array, " layer"]
    kind: Mix = eqx.field(static=True)

    @staticmethod
    def start(key: PRNGKeyArray, config: TowerConfig, widths: Widths) -> "Reader":
        width, depth = config.width, config.layers
        half = width // 2
        keys = iter([*jax.random.split(key, 9), jax.random.fold_in(key, 9)])

        def weights(inputs: int, outputs: int) -> Array:
            return inputs**-0.5 * jax.random.normal(next(keys), (depth, inputs, outputs))

        def stream(state: int) -> Stream:
            shapes = [(width, width), (state, width), (state, width), (width, half)]
            return Stream(*(weights(*shape) for shape in shapes))

        return Reader(
            jnp.ones((depth, width)),
            stream(widths.node + _NUMBER_WIDTH),
            stream(widths.edge + 2 * _NUMBER_WIDTH),
            weights(half if config.mix == "sum" else 2 * half, width),
            weights(2 * half, 2 * half) if config.mix == "mlp" else None,
            jnp.zeros(depth),
            config.mix,
        )


class Entries(NamedTuple):
    keys: Float[Array, "batch entry head part"]
    values: Float[Array, "batch entry head part"]
    mask: Bool[Array, "batch entry"]


class Memory(NamedTuple):
    """What one layer's queries meet."""

    nodes: Entries
    edges: Entries


def memory_of(
    reader: Reader,
    nodes: Float[Array, "batch n node_width"],
    edges: Float[Array, "batch n n edge_width"],
    mask: Bool[Array, "batch n"],
    heads: int,
) -> Memory:
    """One layer's keys and values, from that layer's weights."""
    batch, n, _ = nodes.shape
    numbers = _waves(n)
    shape = (n, n, _NUMBER_WIDTH)
    both = [jnp.broadcast_to(numbers[:, None], shape), jnp.broadcast_to(numbers[None], shape)]

    def entries(stream: Stream, states: Array, numbers: Array, mask: Array) -> Entries:
        def project(weights: Array) -> Array:
            scaled = _scaled(states).astype(weights.dtype)
            written = jnp.broadcast_to(numbers, (*states.shape[:-1], numbers.shape[-1]))
            joined = jnp.concatenate([scaled, written.astype(weights.dtype)], -1)
            return (joined @ weights).reshape(batch, -1, heads, weights.shape[-1] // heads)

        return Entries(project(stream.key), project(stream.value), mask.reshape(batch, -1))

    return Memory(
        entries(reader.nodes, nodes, numbers, mask),
        entries(reader.edges, edges, jnp.concatenate(both, -1), mask[:, :, None] & mask[:, None]),
    )


class AttentionWeights(NamedTuple):
    """One layer's cross-attention: whom each token reads."""

    nodes: Float[Array, "batch head token n"]
    edges: Float[Array, "batch head token n*n"]


def read(
    reader: Reader, x: Float[Array, "batch token width"], memory: Memory
) -> tuple[Float[Array, "batch token width"], AttentionWeights]:
    """What one layer's tokens get from the graph, and their attention to it."""
    from_nodes, node_attention = _attend(reader.nodes, x, memory.nodes)
    from_edges, edge_attention = _attend(reader.edges, x, memory.edges)
    answer = _mixed(reader, from_nodes, from_edges) @ reader.mix
    return openness(reader.gate) * answer, AttentionWeights(node_attention, edge_attention)


def _mixed(reader: Reader, nodes: Array, edges: Array) -> Float[Array, "batch token mixed"]:
    """What M is applied to."""
    if reader.kind == "sum":
        return nodes + edges
    if reader.kind == "orthogonal":
        along = jnp.sum(edges * nodes, -1, keepdims=True)
        edges -= nodes * along / (jnp.sum(nodes**2, -1, keepdims=True) + _EPSILON)
    joined = jnp.concatenate([nodes, edges], -1)
    return joined if reader.hidden is None else jax.nn.gelu(joined @ reader.hidden)


def reading_layers(config: TowerConfig) -> tuple[bool, ...]:
    """Whether each layer reads."""
    depth = range(config.layers)
    return {
        "all": tuple(True for _ in depth),
        "first": tuple(layer == 0 for layer in depth),
        "last": tuple(layer == config.layers - 1 for layer in depth),
        "alternate": tuple(layer % 2 == 0 for layer in depth),
    }[config.reading_layers]


def openness(gate: Float[Array, "..."]) -> Float[Array, "..."]:
    return jnp.tanh(_GATE_RATE * gate)


def _attend(stream: Stream, x: Array, entries: Entries) -> tuple[Array, Array]:
    batch, count, width = x.shape
    _, _, heads, part = entries.keys.shape
    query = (x @ stream.query).reshape(batch, count, heads, part) * part**-0.5
    mixed, attention = _mix(query, *entries)
    return jax.nn.gelu(mixed.reshape(batch, count, width) @ stream.transform), attention


@recomputed
def _mix(query, keys, values, mask) -> tuple[Array, Array]:
    scores = jnp.einsum("bthp,behp->bhte", query, keys).astype(jnp.float32)
    attention = jax.nn.softmax(jnp.where(mask[:, None, None], scores, _SHUT_OUT))
    return jnp.einsum("bhte,behp->bthp", attention.astype(values.dtype), values), attention


def _scaled(states: Float[Array, "... width"]) -> Float[Array, "... width"]:
    """Zero mean and unit variance, whatever the scale of the reasoner's states."""
    wide = states.astype(jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + _EPSILON)


def _waves(n: int) -> Float[Array, "n waves"]:
    """The numbers 0 … n - 1 in sines and cosines."""
    half = _NUMBER_WIDTH // 2
    rates = 2 * math.pi / jnp.geomspace(_SHORTEST, _LONGEST, half)
    angles = jnp.arange(n)[:, None] * rates[None]
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)
