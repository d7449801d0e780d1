"""What a processor takes and gives."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from algoscope.networks.config import NetworkConfig
from algoscope.networks.encoders import Encoded


class Processed(NamedTuple):
    hidden: Float[Array, "n width"]
    attention: Float[Array, "heads n n"]
    """[head, receiver, sender], rows sum to 1. For a max-aggregation, the share of channels in
    which the receiver took the sender's message."""
    edges: Float[Array, "n n width"] | None = None
    """New edge features, of processors that make some."""


class Processor(eqx.Module):
    """One round of message passing: the state of every node from its neighbours' and its own."""

    makes_edges: ClassVar[bool] = False
    attends: ClassVar[bool] = False
    """Whether its attention is a softmax, which can be learnt, and no share of channels."""

    def __call__(self, encoded: Encoded, hidden: Float[Array, "n width"]) -> Processed:
        raise NotImplementedError


def all_rounds(
    rounds: Sequence[Callable[..., Processed]], encoded: Any, hidden: Float[Array, "n width"]
) -> Processed:
    """All rounds of a step; the attention of all rounds along the axis of heads."""
    attention, edges = [], None
    for processor in rounds:
        hidden, weights, edges = processor(encoded, hidden)
        attention.append(weights)
    return Processed(hidden, jnp.concatenate(attention), edges)


def masked_softmax(
    logits: Float[Array, "heads n n"], adjacency: Bool[Array, "n n"], config: NetworkConfig
) -> Float[Array, "heads n n"]:
    """Attention over neighbours, or over all nodes in the `_full` forms."""
    if config.processor.endswith("_full"):
        return jax.nn.softmax(logits, -1)
    penalty = jnp.where(adjacency, 0.0, -config.attention_mask)
    return jax.nn.softmax(logits + penalty[None], -1)
