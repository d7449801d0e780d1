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

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from algoscope.networks.config import NetworkConfig
from algoscope.networks.encoders import Encoded
from algoscope.networks.layers import LayerNorm, Linear
from algoscope.networks.processors.base import Processed, Processor, masked_softmax


class GATv2(Processor):
    attends: ClassVar[bool] = True
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

    def __call__(self, encoded: Encoded, hidden: Float[Array, "n width"]) -> Processed:
        z = jnp.concatenate([encoded.nodes, hidden], -1)
        selected, attention = self.selected(z, encoded)
        skip = self.skip(z)
        if self.config.activation == "sum":
            hidden = jax.nn.relu(selected + skip)
        else:
            hidden = selected + jax.nn.relu(skip)
        if self.norm is not None:
            hidden = self.norm(hidden)
        return Processed(hidden, attention)

    def selected(
        self, z: Float[Array, "n inputs"], encoded: Encoded
    ) -> tuple[Float[Array, "n width"], Float[Array, "heads n n"]]:
        """s, and α"""
        attention = masked_softmax(self.logits(z, encoded), encoded.adjacency, self.config)
        selected = jnp.einsum("hij,jhv->ihv", attention, self.by_head(self.value(z)))
        if self.information is not None:
            information = self.by_head(encoded.edges @ self.information)
            selected += jnp.einsum("hij,ijhv->ihv", attention, information)
        return self.combined(selected), attention

    def logits(self, z: Float[Array, "n inputs"], encoded: Encoded) -> Float[Array, "heads n n"]:
        units = (
            self.receiver(z)[:, None]
            + self.sender(z)[None]
            + self.edge(encoded.edges)
            + self.graph(encoded.graph)[None, None]
        )
        if self.bias is not None:
            units += self.bias[..., None]
        units = self.by_head(jax.nn.leaky_relu(units))
        logits = jnp.einsum("ijhp,ph->hij", units, self.head.weight)
        return logits + self.head.bias[:, None, None]

    def by_head(self, x: Float[Array, "... units"]) -> Float[Array, "... heads part"]:
        return x.reshape(*x.shape[:-1], self.config.heads, -1)

    def combined(self, x: Float[Array, "... heads values"]) -> Float[Array, "... width"]:
        if self.config.head_combination == "concatenate":
            return x.reshape(*x.shape[:-2], -1)
        return x.sum(-2)
