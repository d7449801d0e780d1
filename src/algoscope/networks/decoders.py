"""Decoders: from the states of a step to the logits of each feature.

A `Bank` of decoders applies what all of them do to the nodes' states together, and does what
depends on the weights alone once for all steps of time.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from algoscope.networks.config import NetworkConfig
from algoscope.networks.fused_encoders import Folding
from algoscope.networks.kinds import PermutationLogits, log_sinkhorn
from algoscope.networks.layers import Linear, SideBySide
from algoscope.networks.pairs import Factored, PairLayers, Rows, no_edges, pair_scores
from algoscope.tasks.features import Feature, Kind, Location

_SINKHORN_STEPS = 10


class States(NamedTuple):
    """What decoders read."""

    nodes: Float[Array, "n decoded"]
    """Encoded features, hidden state before and after the step."""
    read: Float[Array, "n inputs"]
    """What folded layers read in place of them."""
    highest: Float[Array, " decoded"]
    """Over nodes."""
    edges: Factored
    graph: Factored


class Given(NamedTuple):
    """What a `Bank` gives to one of its decoders."""

    nodes: Sequence[Float[Array, "n outputs"]]
    """After `node_layers`."""
    pairs: Any
    """[n, n], after `pair_layers`; None if it has none."""
    prepared: Any
    states: States
    noise: Any
    """[n, n], for permutations."""


class Decoder(eqx.Module):
    def node_layers(self) -> tuple[Linear, ...]:
        """Layers on the nodes' states, to be applied together with those of others."""
        return ()

    def pair_layers(self, edges: Rows) -> PairLayers | None:
        """Those of scores of pairs, w · max(…), likewise; the edges are those that lead back."""
        del edges

    def prepare(self, edges: Rows) -> Any:
        """What depends on the weights alone; `edges` are the rows of the edge features."""
        del edges

    def __call__(self, given: Given) -> Any:
        """The logits."""
        raise NotImplementedError


class Bank(eqx.Module):
    """Decoders with all that depends on their weights alone."""

    decoders: dict[str, Decoder]
    layers: SideBySide
    pairs: PairLayers | None
    prepared: dict[str, Any]
    pointing: frozenset[str] = eqx.field(static=True)
    """The decoders that have scores of pairs."""

    @staticmethod
    def of(decoders: Mapping[str, Decoder], edges: Rows, nodes: Folding) -> "Bank":
        """`edges` are the rows of the edge features."""
        layers = [nodes.layer(layer) for d in decoders.values() for layer in d.node_layers()]
        each = {name: d.pair_layers(edges) for name, d in decoders.items()}
        several = {name: pairs for name, pairs in each.items() if pairs is not None}
        return Bank(
            dict(decoders),
            SideBySide.of(layers),
            nodes.pairs(PairLayers.together(list(several.values()))) if several else None,
            {name: d.prepare(edges) for name, d in decoders.items()},
            frozenset(several),
        )

    def __call__(self, states: States, noise: Array | None = None) -> dict[str, Any]:
        """The logits by feature name; noise [n, n] goes to permutations."""
        mapped, scores = iter(self.layers(states.read)), self._scores(states)
        logits = {}
        for name, decoder in self.decoders.items():
            nodes = [next(mapped) for _ in decoder.node_layers()]
            pairs = next(scores)[..., 0] if name in self.pointing else None
            logits[name] = decoder(Given(nodes, pairs, self.prepared[name], states, noise))
        return logits

    def _scores(self, states: States) -> Iterator[Float[Array, "n n 1"]]:
        if self.pairs is None:
            return iter(())
        edges = states.edges.reversed()
        if not self.pairs.rows.shape[1]:
            edges = no_edges(len(states.read), 0)
        return iter(self.pairs.scores("maximum", states.read, edges))


class NodeDecoder(Decoder):
    """y_i = W h_i"""

    node: Linear

    def node_layers(self):
        return (self.node,)

    def __call__(self, given):
        return _drop_single(given.nodes[0])


class PointerDecoder(Decoder):
    """y_ij = w · max(W_receiver h_i, W_sender h_j + W_edge e_ji), Mind The Gap eq. 27-29"""

    receiver: Linear
    sender: Linear
    edge: Linear | None
    """None in the simple decoders."""
    score: Linear

    def pair_layers(self, edges: Rows) -> PairLayers:
        if self.edge is None:
            rows = no_edges(0, len(self.sender.bias)).rows
        else:
            rows = edges.through(self.edge)
        return PairLayers.of(self.receiver, self.sender, rows, self.score.weight)

    def __call__(self, given):
        return given.pairs + self.score.bias


class PermutationDecoder(Decoder):
    """Pointers, made doubly stochastic by Sinkhorn steps in log space, and the first node."""

    pointer: PointerDecoder
    first: NodeDecoder

    def node_layers(self):
        return self.first.node_layers()

    def pair_layers(self, edges: Rows) -> PairLayers:
        return self.pointer.pair_layers(edges)

    def __call__(self, given):
        pointers, first = self.pointer(given) + given.noise, self.first(given)
        return PermutationLogits(log_sinkhorn(pointers, _SINKHORN_STEPS), first)


class EdgeDecoder(Decoder):
    """y_ij = W_receiver h_i + W_sender h_j + W_edge e_ij"""

    receiver: Linear
    sender: Linear
    edge: Linear

    def node_layers(self):
        return self.receiver, self.sender

    def prepare(self, edges: Rows) -> Rows:
        return edges.through(self.edge)

    def __call__(self, given):
        receivers, senders = given.nodes
        of_edges = given.states.edges.under(given.prepared).dense()
        return _drop_single(receivers[:, None] + senders[None] + of_edges)


class EdgePointerDecoder(Decoder):
    """y_ijk = w · max(W_receiver h_i + W_sender h_j + W_edge e_ij, W_target h_k)"""

    receiver: Linear
    sender: Linear
    edge: Linear
    target: Linear
    score: Linear

    def node_layers(self):
        return self.receiver, self.sender, self.target

    def prepare(self, edges: Rows) -> Rows:
        return edges.through(self.edge)

    def __call__(self, given):
        (receivers, senders, targets), rows = given.nodes, given.prepared
        none = no_edges(len(targets), targets.shape[-1])

        @jax.checkpoint
        def of_receiver(row):
            receiver, scalars = row
            pairs = receiver + senders + scalars @ rows.rows + rows.bias
            return pair_scores(
                "maximum", pairs, targets, none.scalars, none.rows.rows, self.score.weight
            )

        scores = jax.lax.map(of_receiver, (receivers, given.states.edges.scalars))
        return scores[..., 0] + self.score.bias


class GraphDecoder(Decoder):
    """y = W_nodes max_i h_i + W_graph g"""

    nodes: Linear
    graph: Linear

    def __call__(self, given):
        of_graph = given.states.graph.through(self.graph).dense()
        return _drop_single(self.nodes(given.states.highest) + of_graph)


def _drop_single(y: Array) -> Array:
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
