"""Decoders: from the states of a step to the logits of each feature.

h_i are the states of node i, [3 width]: its encoded features, its hidden state before the step and
after it. e_ij are the features of edges, with those that the processor made; g those of the graph.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from algoscope.networks.config import NetworkConfig
from algoscope.networks.kinds import PermutationLogits, log_sinkhorn
from algoscope.networks.layers import Linear
from algoscope.tasks.features import Feature, Kind, Location

SINKHORN_STEPS = 10


class DecoderInputs(NamedTuple):
    """What decoders read."""

    nodes: Float[Array, "n decoded"]
    edges: Float[Array, "n n edge_width"]
    graph: Float[Array, " width"]
    gumbel: Float[Array, "n n"] | None = None
    """Noise that is added to the logits of permutations in training."""


class Decoder(eqx.Module):
    def __call__(self, inputs: DecoderInputs) -> Any:
        """The logits."""
        raise NotImplementedError


class NodeDecoder(Decoder):
    """y_i = W h_i"""

    node: Linear

    def __call__(self, inputs: DecoderInputs) -> Float[Array, "n ..."]:
        return drop_single(self.node(inputs.nodes))


class PointerDecoder(Decoder):
    """y_ij = w · max(W_receiver h_i, W_sender h_j + W_edge e_ji), Mind The Gap eq. 27-29"""

    receiver: Linear
    sender: Linear
    edge: Linear | None
    """None in the simple decoders."""
    score: Linear

    def __call__(self, inputs: DecoderInputs) -> Float[Array, "n n"]:
        receivers = self.receiver(inputs.nodes)[:, None]
        senders = self.sender(inputs.nodes)[None]
        if self.edge is not None:
            senders = senders + self.edge(jnp.swapaxes(inputs.edges, 0, 1))
        return drop_single(self.score(jnp.maximum(receivers, senders)))


class PermutationDecoder(Decoder):
    """Pointers, made doubly stochastic by Sinkhorn steps in log space, and the first node."""

    pointer: PointerDecoder
    first: NodeDecoder

    def __call__(self, inputs: DecoderInputs) -> PermutationLogits:
        pointers = self.pointer(inputs)
        if inputs.gumbel is not None:
            pointers += inputs.gumbel
        return PermutationLogits(log_sinkhorn(pointers, SINKHORN_STEPS), self.first(inputs))


class EdgeDecoder(Decoder):
    """y_ij = W_receiver h_i + W_sender h_j + W_edge e_ij"""

    receiver: Linear
    sender: Linear
    edge: Linear

    def __call__(self, inputs: DecoderInputs) -> Float[Array, "n n ..."]:
        receivers = self.receiver(inputs.nodes)[:, None]
        senders = self.sender(inputs.nodes)[None]
        return drop_single(receivers + senders + self.edge(inputs.edges))


class EdgePointerDecoder(Decoder):
    """y_ijk = w · max(W_receiver h_i + W_sender h_j + W_edge e_ij, W_target h_k)"""

    receiver: Linear
    sender: Linear
    edge: Linear
    target: Linear
    score: Linear

    def __call__(self, inputs: DecoderInputs) -> Float[Array, "n n n"]:
        receivers = self.receiver(inputs.nodes)[:, None]
        senders = self.sender(inputs.nodes)[None]
        pairs = receivers + senders + self.edge(inputs.edges)
        targets = self.target(inputs.nodes)[None, None]
        return drop_single(self.score(jnp.maximum(pairs[:, :, None], targets)))


class GraphDecoder(Decoder):
    """y = W_nodes max_i h_i + W_graph g"""

    nodes: Linear
    graph: Linear

    def __call__(self, inputs: DecoderInputs) -> Float[Array, "..."]:
        return drop_single(self.nodes(inputs.nodes.max(0)) + self.graph(inputs.graph))


def drop_single(y: Array) -> Array:
    """Features that are not categorical have no axis of classes."""
    return y[..., 0] if y.shape[-1] == 1 else y


def start_decoder(
    feature: Feature, config: NetworkConfig, edge_width: int, key: PRNGKeyArray
) -> Decoder:
    width = config.width
    keys = iter(jax.random.split(key, 5))

    def linear(inputs: int, outputs: int) -> Linear:
        return Linear.start(next(keys), inputs, outputs)

    def pointer() -> PointerDecoder:
        receiver, sender = linear(3 * width, width), linear(3 * width, width)
        edge = None if config.simple_decoders else linear(edge_width, width)
        return PointerDecoder(receiver, sender, edge, linear(width, 1))

    match feature.location, feature.kind:
        case Location.NODE, Kind.POINTER:
            return pointer()
        case Location.NODE, Kind.PERMUTATION:
            return PermutationDecoder(pointer(), NodeDecoder(linear(3 * width, 1)))
        case Location.NODE, _:
            return NodeDecoder(linear(3 * width, feature.classes))
        case Location.EDGE, Kind.POINTER:
            return EdgePointerDecoder(
                linear(3 * width, width),
                linear(3 * width, width),
                linear(edge_width, width),
                linear(3 * width, width),
                linear(width, 1),
            )
        case Location.EDGE, _:
            return EdgeDecoder(
                linear(3 * width, feature.classes),
                linear(3 * width, feature.classes),
                linear(edge_width, feature.classes),
            )
        case Location.GRAPH, _:
            return GraphDecoder(linear(3 * width, feature.classes), linear(width, feature.classes))
    raise ValueError(f"{feature.name}: no decoder for a {feature.kind} at a {feature.location}")
