"""GATv2 (Brody et al., 2022), with the options of Mind The Gap, equations 2-14.

With z_i = [node features_i, hidden_i], edge features e_ij, graph features g and, for each head,

    a_ij   = w · LeakyReLU(W_receiver z_i + W_sender z_j + W_edge e_ij + W_graph g + B_ij) + b
    α_i    = softmax_j(a_ij + 1e9 (A_ij - 1))
    s_i    = sum_j α_ij (W_value z_j + W_info e_ij)
    hidden = LayerNorm(ReLU(s_i + W_skip z_i))      activation on the sum, as dm-clrs computes it
           = LayerNorm(s_i + ReLU(W_skip z_i))      activation on the skip, as the paper's eq. 10

z [n, 2 width], e [n, n, width], a and α [n, n]. The LeakyReLU's slope is 0.01. W_info (eq. 11-13),
B (eq. 14, [n, n], so that the network has one size) and the LayerNorm are options. Heads are
concatenated, each with width / heads values, or summed, each with width values.
"""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from algoscope.networks.config import NetworkConfig
from algoscope.networks.fused_encoders import Folding
from algoscope.networks.layers import LayerNorm, Linear, for_backward
from algoscope.networks.pairs import PairLayers, Rows
from algoscope.networks.processors.base import Encoded, Processed, Processor


def masked_softmax(logits: Float[Array, "heads n n"], encoded: Encoded, config: NetworkConfig):
    if config.processor.endswith("_full"):
        return jax.nn.softmax(logits, -1)
    mask = jnp.where(encoded.adjacency, 0.0, -config.attention_mask)
    return jax.nn.softmax(logits + mask, -1)


class Prepared(NamedTuple):
    pairs: PairLayers
    value: Float[Array, "inputs values"]
    skip: Linear
    bias: Float[Array, " width"]
    """Of s_i; with the activation on the sum, it is in that of the skip."""
    graph: Rows
    """After W_graph."""


class GATv2(Processor):
    value: Linear
    skip: Linear
    sender: Linear
    receiver: Linear
    edge: Linear
    graph: Linear
    head: Linear
    """weight [attention width / heads, heads], bias [heads]"""
    information: Float[Array, "width values"] | None
    """W_info; without a bias, which the skip has"""
    bias: Float[Array, "n n"] | None
    """B"""
    norm: LayerNorm | None
    config: NetworkConfig = eqx.field(static=True)

    def __init__(self, config: NetworkConfig, key: PRNGKeyArray):
        width, attention_width = config.width, config.attention_width or config.width
        values = width if config.head_combination == "concatenate" else width * config.heads
        keys = iter(jax.random.split(key, 8))
        self.value = Linear.start(next(keys), 2 * width, values)
        self.skip = Linear.start(next(keys), 2 * width, width)
        self.sender = Linear.start(next(keys), 2 * width, attention_width)
        self.receiver = Linear.start(next(keys), 2 * width, attention_width)
        self.edge = Linear.start(next(keys), width, attention_width)
        self.graph = Linear.start(next(keys), width, attention_width)
        self.head = Linear.start(next(keys), attention_width // config.heads, config.heads)
        self.information = (
            Linear.start(next(keys), width, values).weight if config.edge_information else None
        )
        self.bias = jnp.zeros((config.attention_bias,) * 2) if config.attention_bias else None
        self.norm = LayerNorm.start(width) if config.layer_norm else None
        self.config = config

    def prepare(self, edges: Rows, graph: Rows, nodes: Folding) -> Prepared:
        # Each head reads its own part of the attention width: a block-diagonal product.
        weight = jax.scipy.linalg.block_diag(*self.head.weight.T[..., None])
        pairs = PairLayers.of(self.receiver, self.sender, edges.through(self.edge), weight)
        value, skip = nodes.layer(self.value), nodes.layer(self.skip)
        bias = self._combined(value.bias.reshape(self.config.heads, -1))
        if self.config.activation == "sum":
            skip = Linear(skip.weight, skip.bias + bias)
        return Prepared(nodes.pairs(pairs), value.weight, skip, bias, graph.through(self.graph))

    def __call__(
        self, encoded: Encoded, hidden: Float[Array, "n width"], prepared: Prepared
    ) -> Processed:
        z = jnp.concatenate([encoded.read, hidden], -1)
        logits = self._logits(z, encoded, prepared)
        attention = for_backward(masked_softmax(logits, encoded, self.config))
        heads = self.config.heads
        # As a product of matrices: einsum gives its transpose, and XLA would then lay out every
        # array of nodes that way on a GPU.
        values = jnp.moveaxis((z @ prepared.value).reshape(len(z), heads, -1), 1, 0)
        # Without the bias of the values: attention sums up to 1, so it is one of what is selected.
        selected = jnp.moveaxis(attention @ values, 0, 1)
        if self.information is not None:
            edges = encoded.edges
            scalars = jnp.einsum("hij,ijk->ihk", attention, edges.scalars)
            rows = edges.rows.rows @ self.information
            constant = (edges.rows.bias @ self.information).reshape(heads, -1)
            rows = rows.reshape(len(rows), heads, -1)
            selected += jnp.einsum("ihk,khv->ihv", scalars, rows) + constant
        selected = self._combined(selected)
        if self.config.activation == "sum":
            # The bias apart, so that a GPU gives the sum as one product added to another.
            total = for_backward(selected + z @ prepared.skip.weight)
            hidden = jax.nn.relu(total + prepared.skip.bias)
        else:
            hidden = selected + prepared.bias + jax.nn.relu(prepared.skip(z))
        if self.norm is not None:
            hidden = self.norm(hidden)
        return Processed(hidden, attention, None)

    def _combined(self, heads: Float[Array, "... heads values"]) -> Float[Array, "... width"]:
        if self.config.head_combination == "concatenate":
            return heads.reshape(*heads.shape[:-2], -1)
        return heads.sum(-2)

    def _logits(self, z, encoded: Encoded, prepared: Prepared) -> Float[Array, "heads n n"]:
        pairs, edges = prepared.pairs, encoded.edges
        of_graph = encoded.graph.under(prepared.graph).dense()
        pairs = dataclasses.replace(pairs, offsets=pairs.offsets.at[0].add(of_graph))
        if self.bias is not None:
            edges = edges.plus(self.bias)
            ones = jnp.ones((1, 1, pairs.rows.shape[-1]), pairs.rows.dtype)
            pairs = dataclasses.replace(pairs, rows=jnp.concatenate([pairs.rows, ones], 1))
        (logits,) = pairs.scores("leaky_sum", z, edges)
        return jnp.moveaxis(logits + self.head.bias, -1, 0)
