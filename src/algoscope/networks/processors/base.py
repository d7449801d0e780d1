"""What a processor takes and gives."""

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
from jaxtyping import Array, Bool, Float

from algoscope.networks.fused_encoders import Folding
from algoscope.networks.pairs import Factored, Rows


class Encoded(NamedTuple):
    """A problem and the present hints, as the encoders give them to the processor."""

    nodes: Float[Array, "n width"]
    read: Float[Array, "n inputs"]
    """What folded layers read in place of them."""
    edges: Factored
    graph: Factored
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

    def prepare(self, edges: Rows, graph: Rows, nodes: Folding) -> Any:
        """What depends on the weights alone, done once for all steps; the rows are those of the
        encoded features."""
        del edges, graph, nodes

    def __call__(
        self, encoded: Encoded, hidden: Float[Array, "n width"], prepared: Any
    ) -> Processed:
        raise NotImplementedError
