"""Decoders together: what all of them do to the states of nodes is done in common, what depends on
the weights alone once for all steps, and only each sample's scores of pairs are formed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks.decoders import (
    SINKHORN_STEPS,
    Decoder,
    EdgeDecoder,
    EdgePointerDecoder,
    GraphDecoder,
    NodeDecoder,
    PermutationDecoder,
    PointerDecoder,
    drop_single,
)
from algoscope.networks.fast.encoders import Encoders
from algoscope.networks.fast.layers import ParallelLinears, compose
from algoscope.networks.fast.pairs import PairLayers, pair_scores
from algoscope.networks.kinds import PermutationLogits, log_sinkhorn
from algoscope.networks.layers import Linear


class DecoderStates(NamedTuple):
    """What decoders read, edges and graph as scalars."""

    nodes: Float[Array, "n decoded"]
    merged_nodes: Float[Array, "n inputs"]
    """What merged layers read in place of them."""
    highest: Float[Array, " decoded"]
    """Over nodes."""
    edges: Float[Array, "n n K"]
    graph: Float[Array, " k"]


class DecoderBank(eqx.Module):
    """Several decoders."""

    decoders: dict[str, Decoder]
    """By feature name."""
    layers: ParallelLinears
    """All layers on nodes."""
    pairs: PairLayers | None
    """Of all decoders that point."""
    edges: dict[str, Linear]
    """The layers on edges of the other decoders, on scalars."""
    graph: Linear
    """The encoder of the graph."""
    fixed: int = eqx.field(static=True)
    uses_kernels: bool = eqx.field(static=True)

    @staticmethod
    def of(
        decoders: Mapping[str, Decoder],
        encoders: Encoders,
        edges: Linear,
        uses_kernels: bool,
        few_units: bool = False,
    ) -> "DecoderBank":
        """`edges` is the layer from the scalars of edges to their features."""
        layers = [
            encoders.nodes.layer(layer) for d in decoders.values() for layer in _node_layers(d)
        ]
        pointers = [p for d in decoders.values() if (p := _pointer(d)) is not None]
        pairs = [_pair_layers(pointer, edges, few_units) for pointer in pointers]
        return DecoderBank(
            dict(decoders),
            ParallelLinears.of(layers),
            encoders.nodes.pairs(PairLayers.together(pairs)) if pairs else None,
            {
                name: compose(edges, d.edge)
                for name, d in decoders.items()
                if isinstance(d, EdgeDecoder | EdgePointerDecoder)
            },
            encoders.graph,
            encoders.fixed,
            uses_kernels,
        )

    def __call__(
        self, states: DecoderStates, gumbel: Float[Array, "n n"] | None = None
    ) -> dict[str, Any]:
        """The logits by feature name; the noise goes to permutations."""
        projected, scores = iter(self.layers(states.merged_nodes)), self._scores(states)
        logits = {}
        for name, decoder in self.decoders.items():
            nodes = [next(projected) for _ in _node_layers(decoder)]
            match decoder:
                case NodeDecoder():
                    logits[name] = drop_single(nodes[0])
                case PointerDecoder():
                    logits[name] = next(scores) + decoder.score.bias[None]
                case PermutationDecoder():
                    pointers = next(scores) + decoder.pointer.score.bias[None]
                    if gumbel is not None:
                        pointers += gumbel
                    logits[name] = PermutationLogits(
                        log_sinkhorn(pointers, SINKHORN_STEPS), drop_single(nodes[0])
                    )
                case EdgeDecoder():
                    edges = self.edges[name](states.edges)
                    logits[name] = drop_single(nodes[0][:, None] + nodes[1][None] + edges)
                case EdgePointerDecoder():
                    edges = self.edges[name]
                    logits[name] = _edge_pointers(decoder, nodes, edges, states.edges)
                case GraphDecoder():
                    graph = compose(self.graph, decoder.graph)(states.graph)
                    logits[name] = drop_single(decoder.nodes(states.highest) + graph)
                case _:
                    raise TypeError(f"{name}: the fast path has no {type(decoder).__name__}")
        return logits

    def _scores(self, states: DecoderStates) -> Iterator[Float[Array, "n n"]]:
        if self.pairs is None:
            return iter(())
        # Edges that lead back; none for the simple decoders.
        edges = jnp.swapaxes(states.edges, 0, 1)[..., : self.pairs.rows.shape[1]]
        scores = self.pairs.scores(
            "maximum", states.merged_nodes, edges, self.fixed, self.uses_kernels
        )
        return (score[..., 0] for score in scores)


def _node_layers(decoder: Decoder) -> tuple[Linear, ...]:
    match decoder:
        case NodeDecoder():
            return (decoder.node,)
        case PermutationDecoder():
            return (decoder.first.node,)
        case EdgeDecoder():
            return decoder.receiver, decoder.sender
        case EdgePointerDecoder():
            return decoder.receiver, decoder.sender, decoder.target
    return ()


def _pointer(decoder: Decoder) -> PointerDecoder | None:
    if isinstance(decoder, PermutationDecoder):
        return decoder.pointer
    return decoder if isinstance(decoder, PointerDecoder) else None


def _pair_layers(decoder: PointerDecoder, edges: Linear, few_units: bool) -> PairLayers:
    width = len(decoder.sender.bias)
    on_scalars = Linear(jnp.zeros((0, width)), jnp.zeros(width))
    if decoder.edge is not None:
        on_scalars = compose(edges, decoder.edge)
    weight = decoder.score.weight
    return PairLayers.of(decoder.receiver, decoder.sender, on_scalars, weight, few_units)


def _edge_pointers(
    decoder: EdgePointerDecoder,
    nodes: Sequence[Float[Array, "n width"]],
    edges: Linear,
    scalars: Float[Array, "n n K"],
) -> Float[Array, "n n n"]:
    """For one receiver at a time."""
    receivers, senders, targets = nodes
    no_scalars = jnp.zeros((len(targets), len(targets), 0))
    no_rows = jnp.zeros((0, targets.shape[-1]))

    @jax.checkpoint
    def receiver_scores(row):
        receiver, scalars = row
        pairs = receiver[None] + senders + scalars @ edges.weight + edges.bias[None]
        return pair_scores("maximum", pairs, targets, no_scalars, no_rows, decoder.score.weight)

    return (
        jax.lax.map(receiver_scores, (receivers, scalars))[..., 0] + decoder.score.bias[None, None]
    )
