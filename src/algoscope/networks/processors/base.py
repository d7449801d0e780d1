"""What a processor takes and gives."""

from typing import ClassVar, NamedTuple

import equinox as eqx
from jaxtyping import Array, Bool, Float

from algoscope.networks.pairs import Edges


class Encoded(NamedTuple):
    """A problem and the present hints, as the encoders give them to the processor."""

    nodes: Float[Array, "n width"]
    edges: Edges
    graph: Float[Array, " width"]
    adjacency: Bool[Array, "n n"]
    """Symmetric, with all self-loops."""


class Processed(NamedTuple):
    hidden: Float[Array, "n width"]
    attention: Float[Array, "heads n n"]
    """[head, receiver, sender], rows sum to 1. For a max-aggregation, the share of channels in
    which the receiver took the sender's message."""
    edges: Float[Array, "n n width"] | None
    """New edge features, of processors that make some."""


class Processor(eqx.Module):
    """One round of message passing: the state of every node from its neighbours' and its own."""

    makes_edges: ClassVar[bool] = False

    def __call__(self, encoded: Encoded, hidden: Float[Array, "n width"]) -> Processed:
        raise NotImplementedError
