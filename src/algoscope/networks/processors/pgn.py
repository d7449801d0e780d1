"""Max-aggregation of messages: pointer graph networks (PGN, Veličković et al., 2020), message
passing among all nodes (MPNN, Gilmer et al., 2017) and Deep Sets (Zaheer et al., 2017).

With z_i = [node features_i, hidden_i] and the edge features e_ji from sender j to receiver i,

    m_ij   = MLP(ReLU(W_receiver z_i + W_sender z_j + W_edge e_ji + W_graph g))
    m_i    = max_j m_ij over the neighbours j           all nodes (MPNN), only i itself (Deep Sets)
    hidden = LayerNorm(ReLU(W_own z_i + W_message m_i))

z [n, 2 width], m_ij [n, n, width]; the MLP has two layers of the width. Gated (Ibarz et al., 2022):

    gate   = sigmoid(W_gate ReLU(W_gate_own z_i + W_gate_message m_i) - 3 at the start)
    hidden = gate hidden + (1 - gate) previous hidden
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from algoscope.networks.config import NetworkConfig
from algoscope.networks.encoders import Encoded
from algoscope.networks.layers import LayerNorm, Linear
from algoscope.networks.processors.base import Processed, Processor

_NO_MESSAGE = -1e6
_CLOSED = -3.0


class Gate(eqx.Module):
    own: Linear
    message: Linear
    gate: Linear

    def __init__(self, width: int, key: PRNGKeyArray):
        keys = jax.random.split(key, 3)
        self.own = Linear.start(keys[0], 2 * width, width)
        self.message = Linear.start(keys[1], width, width)
        self.gate = Linear.start(keys[2], width, width, bias=_CLOSED)

    def __call__(
        self, z: Float[Array, "n inputs"], message: Float[Array, "n width"]
    ) -> Float[Array, "n width"]:
        return jax.nn.sigmoid(self.gate(jax.nn.relu(self.own(z) + self.message(message))))


class PGN(Processor):
    receiver: Linear
    sender: Linear
    edge: Linear
    graph: Linear
    own: Linear
    message: Linear
    mlp: tuple[Linear, Linear]
    gate: Gate | None
    norm: LayerNorm | None
    config: NetworkConfig = eqx.field(static=True)

    def __init__(self, config: NetworkConfig, key: PRNGKeyArray):
        width = config.width
        keys = iter(jax.random.split(key, 9))
        self.receiver = Linear.start(next(keys), 2 * width, width)
        self.sender = Linear.start(next(keys), 2 * width, width)
        self.edge = Linear.start(next(keys), width, width)
        self.graph = Linear.start(next(keys), width, width)
        self.own = Linear.start(next(keys), 2 * width, width)
        self.message = Linear.start(next(keys), width, width)
        self.mlp = (
            Linear.start(next(keys), width, width),
            Linear.start(next(keys), width, width),
        )
        self.gate = (
            Gate(width, next(keys)) if config.gated or config.processor == "triplet_gmpnn" else None
        )
        self.norm = LayerNorm.start(width) if config.layer_norm else None
        self.config = config

    def neighbours(self, encoded: Encoded) -> Bool[Array, "n n"]:
        """[receiver, sender]"""
        return encoded.adjacency

    def __call__(self, encoded: Encoded, hidden: Float[Array, "n width"]) -> Processed:
        z = jnp.concatenate([encoded.nodes, hidden], -1)
        messages = (
            self.receiver(z)[:, None]
            + self.sender(z)[None]
            + self.edge(jnp.swapaxes(encoded.edges, 0, 1))
            + self.graph(encoded.graph)[None, None]
        )
        messages = self.mlp[1](jax.nn.relu(self.mlp[0](jax.nn.relu(messages))))
        messages = jnp.where(self.neighbours(encoded)[..., None], messages, _NO_MESSAGE)
        message = messages.max(1)
        taken = messages == message[:, None]
        attention = (taken / taken.sum(1, keepdims=True)).mean(-1)

        updated = jax.nn.relu(self.own(z) + self.message(message))
        if self.norm is not None:
            updated = self.norm(updated)
        if self.gate is not None:
            gate = self.gate(z, message)
            updated = updated * gate + hidden * (1 - gate)
        return Processed(updated, attention[None], self.new_edges(z, encoded))

    def new_edges(
        self, z: Float[Array, "n inputs"], encoded: Encoded
    ) -> Float[Array, "n n width"] | None:
        """New edge features; only Triplet-GMPNNs have them."""
        del z, encoded


class MPNN(PGN):
    def neighbours(self, encoded: Encoded):
        return jnp.ones_like(encoded.adjacency)


class DeepSets(PGN):
    def neighbours(self, encoded: Encoded):
        return jnp.eye(len(encoded.adjacency), dtype=bool)
