"""GAT (Veličković et al., 2018). With z_i = [node features_i, hidden_i] and, for each head,

    a_ij   = LeakyReLU(w_receiver · z_i + w_sender · z_j + w_edge · e_ij + w_graph · g)
    α_i    = softmax_j(a_ij + 1e9 (A_ij - 1))
    hidden = LayerNorm(ReLU(sum_j α_ij W_value z_j + W_skip z_i))

z [n, 2 width], e [n, n, width], a and α [n, n]; heads are concatenated, each with width / heads
values. The LeakyReLU's slope is 0.01.
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


class GAT(Processor):
    attends: ClassVar[bool] = True
    value: Linear
    skip: Linear
    receiver: Linear
    sender: Linear
    edge: Linear
    graph: Linear
    norm: LayerNorm | None
    config: NetworkConfig = eqx.field(static=True)

    def __init__(self, config: NetworkConfig, key: PRNGKeyArray):
        width, heads = config.width, config.heads
        keys = iter(jax.random.split(key, 6))
        self.value = Linear.start(next(keys), 2 * width, width)
        self.skip = Linear.start(next(keys), 2 * width, width)
        self.receiver = Linear.start(next(keys), 2 * width, heads)
        self.sender = Linear.start(next(keys), 2 * width, heads)
        self.edge = Linear.start(next(keys), width, heads)
        self.graph = Linear.start(next(keys), width, heads)
        self.norm = LayerNorm.start(width) if config.layer_norm else None
        self.config = config

    def __call__(self, encoded: Encoded, hidden: Float[Array, "n width"]) -> Processed:
        z = jnp.concatenate([encoded.nodes, hidden], -1)
        logits = (
            self.receiver(z)[:, None]
            + self.sender(z)[None]
            + self.edge(encoded.edges)
            + self.graph(encoded.graph)[None, None]
        )
        logits = jnp.moveaxis(jax.nn.leaky_relu(logits), -1, 0)
        attention = masked_softmax(logits, encoded.adjacency, self.config)
        values = self.value(z).reshape(len(z), self.config.heads, -1)
        selected = jnp.einsum("hij,jhv->ihv", attention, values).reshape(len(z), -1)
        hidden = jax.nn.relu(selected + self.skip(z))
        if self.norm is not None:
            hidden = self.norm(hidden)
        return Processed(hidden, attention)
