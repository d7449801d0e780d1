"""Processors on scalars of edges, see `fast.encoders`.

Most are the plain ones, with layers on edges and on the graph that are composed with the encoders.
GATv2 has a form of its own, in which nothing of the size nodes x nodes x width exists.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks.encoders import Encoded
from algoscope.networks.fast.encoders import Encoders, Scalars
from algoscope.networks.fast.layers import FastLayerNorm, compose, save_for_backward
from algoscope.networks.fast.pairs import PairLayers
from algoscope.networks.layers import LayerNorm, Linear
from algoscope.networks.lean import Split, no_attention
from algoscope.networks.processors import Processed, Processor
from algoscope.networks.processors.base import masked_softmax
from algoscope.networks.processors.gat import GAT
from algoscope.networks.processors.gatv2 import GATv2
from algoscope.networks.processors.pgn import MPNN, PGN, DeepSets
from algoscope.networks.processors.triplet_gmpnn import TripletGMPNN

FastProcessor = Callable[[Scalars, Float[Array, "n width"]], Processed]


class _Readers(NamedTuple):
    """The names of a processor's layers on features of edges and of the graph."""

    edges: tuple[str, ...] = ("edge",)
    graph: tuple[str, ...] = ("graph",)


_READERS = {
    GAT: _Readers(),
    PGN: _Readers(),
    MPNN: _Readers(),
    DeepSets: _Readers(),
    TripletGMPNN: _Readers(
        ("edge", "first_second", "first_third", "second_third"), ("graph", "triplet_graph")
    ),
}
"""A processor that is not here reads edges and graph as the plain one does."""


def fast_processor(processor: Processor, encoders: Encoders, uses_kernels: bool) -> FastProcessor:
    """What depends on the weights alone is done here, once for all steps."""
    if isinstance(processor, GATv2):
        return FastGATv2.of(processor, encoders, uses_kernels)
    if isinstance(processor, Split):
        return FastSplit.of(processor, encoders, uses_kernels)
    return PlainOnScalars(processor, encoders)


class PlainOnScalars(eqx.Module):
    """A plain processor."""

    processor: Processor
    encoders: Encoders

    def __call__(self, scalars: Scalars, hidden: Float[Array, "n width"]) -> Processed:
        processor: Any = self.processor
        edges, graph = scalars.edges, scalars.graph
        # Where 1 - x is read beside small numbers, x and 1 added one by one lose their last digits.
        composes = processor.config.matrix_precision != "highest"
        if composes and type(processor) in _READERS:
            processor = self._on_scalars()
        else:
            edges, graph = self.encoders.edges(edges), self.encoders.graph(graph)
        return processor(Encoded(scalars.nodes, edges, graph, scalars.adjacency), hidden)

    def _on_scalars(self) -> Processor:
        processor: Any = self.processor
        readers = _READERS[type(processor)]
        replaced: dict[str, Any] = {
            name: compose(self.encoders.edges, getattr(processor, name)) for name in readers.edges
        }
        replaced |= {
            name: compose(self.encoders.graph, getattr(processor, name)) for name in readers.graph
        }
        if processor.norm is not None:
            replaced["norm"] = _fast(processor.norm)
        return eqx.tree_at(
            lambda p: [getattr(p, name) for name in replaced], processor, list(replaced.values())
        )


def _fast(norm: LayerNorm | None) -> FastLayerNorm | None:
    return None if norm is None else FastLayerNorm(norm.scale, norm.offset)


class FastGATv2(eqx.Module):
    processor: GATv2
    pairs: PairLayers
    value: Float[Array, "inputs values"]
    skip: Linear
    bias: Float[Array, " width"]
    """Of s_i; with the activation on the sum, it is in that of the skip."""
    edges: Linear
    """The encoder of edges."""
    graph: Linear
    """W_graph on scalars."""
    norm: FastLayerNorm | None
    fixed: int = eqx.field(static=True)
    uses_kernels: bool = eqx.field(static=True)

    @staticmethod
    def of(
        processor: GATv2, encoders: Encoders, uses_kernels: bool, few_units: bool = False
    ) -> "FastGATv2":
        # Each head reads its own part of the attention width: a block-diagonal product.
        weight = jax.scipy.linalg.block_diag(*processor.head.weight.T[..., None])
        edges = compose(encoders.edges, processor.edge)
        pairs = PairLayers.of(processor.receiver, processor.sender, edges, weight, few_units)
        nodes = encoders.nodes
        value, skip = nodes.layer(processor.value), nodes.layer(processor.skip)
        bias = processor.combined(processor.by_head(value.bias))
        if processor.config.activation == "sum":
            skip = Linear(skip.weight, skip.bias + bias)
        return FastGATv2(
            processor,
            nodes.pairs(pairs),
            value.weight,
            skip,
            bias,
            encoders.edges,
            compose(encoders.graph, processor.graph),
            _fast(processor.norm),
            encoders.fixed,
            uses_kernels,
        )

    def __call__(self, scalars: Scalars, hidden: Float[Array, "n width"]) -> Processed:
        config = self.processor.config
        z = jnp.concatenate([scalars.merged_nodes, hidden], -1)
        selected, attention = self.selected(z, scalars)
        if config.activation == "sum":
            # The bias apart, so that a GPU gives the sum as one product added to another.
            total = save_for_backward(selected + z @ self.skip.weight)
            hidden = jax.nn.relu(total + self.skip.bias[None])
        else:
            hidden = selected + self.bias[None] + jax.nn.relu(self.skip(z))
        if self.norm is not None:
            hidden = self.norm(hidden)
        return Processed(hidden, attention)

    def selected(
        self, z: Float[Array, "n inputs"], scalars: Scalars
    ) -> tuple[Float[Array, "n width"], Float[Array, "heads n n"]]:
        """s without its bias, and α"""
        processor, config = self.processor, self.processor.config
        logits = self._logits(z, scalars)
        attention = save_for_backward(masked_softmax(logits, scalars.adjacency, config))
        # As a product of matrices: einsum gives its transpose, and XLA would then lay out every
        # array of nodes that way on a GPU.
        values = jnp.moveaxis(processor.by_head(z @ self.value), 1, 0)
        # Without the bias of the values: attention sums up to 1, so it is one of what is selected.
        selected = jnp.moveaxis(attention @ values, 0, 1)
        if processor.information is not None:
            weighted = jnp.einsum("hij,ijk->ihk", attention, scalars.edges)
            rows = self.edges.weight @ processor.information
            constant = processor.by_head(self.edges.bias @ processor.information)
            selected += (
                jnp.einsum("ihk,khv->ihv", weighted, processor.by_head(rows)) + constant[None]
            )
        return processor.combined(selected), attention

    def _logits(self, z: Float[Array, "n inputs"], scalars: Scalars) -> Float[Array, "heads n n"]:
        pairs, edges = self.pairs, scalars.edges
        graph = self.graph(scalars.graph)
        pairs = dataclasses.replace(pairs, offsets=pairs.offsets.at[0].add(graph))
        bias = self.processor.bias
        if bias is not None:
            # One more scalar of each edge, added to every unit.
            edges = jnp.concatenate([edges, bias[..., None]], -1)
            ones = jnp.ones((1, 1, pairs.rows.shape[-1]), pairs.rows.dtype)
            pairs = dataclasses.replace(pairs, rows=jnp.concatenate([pairs.rows, ones], 1))
        (logits,) = pairs.scores("leaky_sum", z, edges, self.fixed, self.uses_kernels)
        return jnp.moveaxis(logits + self.processor.head.bias[None, None], -1, 0)


class FastSplit(eqx.Module):
    """What all nodes read alike is read once."""

    split: Split
    own: FastGATv2 | None
    skip: Linear
    value: Linear
    sender: Linear
    """Of the heads that are alike, with all that is added."""
    graph: Linear

    @staticmethod
    def of(split: Split, encoders: Encoders, uses_kernels: bool) -> "FastSplit":
        nodes = encoders.nodes
        own = None
        if split.own is not None:
            own = FastGATv2.of(split.own, encoders, uses_kernels, few_units=True)
        skip = nodes.layer(split.skip)
        if own is not None:
            skip = Linear(skip.weight, skip.bias + own.bias)
        alike = split.alike
        if alike is None:
            nothing = Linear(jnp.zeros((0, 0)), jnp.zeros(0))
            return FastSplit(split, own, skip, nothing, nothing, nothing)
        sender = nodes.layer(alike.sender)
        added = alike.receiver.bias + compose(encoders.edges, alike.edge).bias
        return FastSplit(
            split,
            own,
            skip,
            nodes.layer(alike.value),
            Linear(sender.weight, sender.bias + added),
            compose(encoders.graph, alike.graph),
        )

    def __call__(self, scalars: Scalars, hidden: Float[Array, "n width"]) -> Processed:
        z = jnp.concatenate([scalars.merged_nodes, hidden], -1)
        total = self.skip(z)
        if self.own is not None:
            total += self.own.selected(z, scalars)[0]
        if self.split.alike is not None:
            total += self._of_all(self.split.alike, z, scalars)[None]
        return Processed(jax.nn.relu(total), no_attention(z))

    def _of_all(
        self, alike: GATv2, z: Float[Array, "n inputs"], scalars: Scalars
    ) -> Float[Array, " width"]:
        units = jax.nn.leaky_relu(self.sender(z) + self.graph(scalars.graph)[None])
        logits = jnp.einsum("jhp,ph->hj", alike.by_head(units), alike.head.weight)
        attention = jax.nn.softmax(logits, -1)
        return jnp.einsum("hj,jhv->v", attention, alike.by_head(self.value(z)))
