"""All that depends on the kind of a feature: how it is encoded, decoded, fed back, lost and scored.

A feature has three forms. Its *truth* is what a batch holds. Its *value* is what the encoders read:
the truth as floats, pointers as one-hot rows, or predictions fed back in that form, where they may
be probabilities. Its *logits* are what the decoder gives.

`KINDS` has one `KindRules` per kind. Encoders also depend on the location; so do `decoders`.
"""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from algoscope.networks.config import NetworkConfig
from algoscope.networks.layers import Linear
from algoscope.tasks.features import Feature, Kind, Location, Stage

_SINKHORN_TEMPERATURE = 0.1
_DECISION_SINKHORN_STEPS = 50
_MASKED = -1


class PermutationLogits(NamedTuple):
    """A permutation as dm-clrs predicts it: a cycle through all nodes, and where it starts."""

    predecessors: Float[Array, "... n n"]
    """Logarithms of a doubly stochastic matrix."""
    first: Float[Array, "... n"]


class Losses(NamedTuple):
    values: Float[Array, "..."]
    weights: Float[Array, "..."]
    """0 where the truth is masked, else 1."""


class KindRules(abc.ABC):
    @abc.abstractmethod
    def value(self, truth: Array, nodes: int) -> Array:
        """The truth as the encoders read it."""

    @abc.abstractmethod
    def feed_back(self, logits: Any, hard: bool) -> Array:
        """The prediction as the encoders read it: decided if hard, else as probabilities."""

    @abc.abstractmethod
    def decide(self, logits: Any) -> Array:
        """The prediction in the form of the truth."""

    @abc.abstractmethod
    def losses(self, logits: Any, truth: Array, nodes: int) -> Losses:
        """The loss of each element and its weight."""

    @abc.abstractmethod
    def score(self, decided: Array, truth: Array, valid: Bool[Array, "..."]) -> Array:
        """dm-clrs's score over the samples that are valid; `valid` has the leading axes of both."""


def _mean(values: Array, weights: Array) -> Array:
    return jnp.sum(values * weights) / jnp.sum(weights)


def _spread(valid: Array, like: Array) -> Array:
    """valid [a, b] -> floats [a, b, 1, …] broadcast to the shape of `like` [a, b, …]."""
    valid = valid.reshape(valid.shape + (1,) * (like.ndim - valid.ndim))
    return jnp.broadcast_to(valid, like.shape).astype(float)


class ScalarRules(KindRules):
    def value(self, truth, nodes):
        del nodes
        return truth

    def feed_back(self, logits, hard):
        return jax.lax.stop_gradient(logits) if hard else logits

    def decide(self, logits):
        return logits

    def losses(self, logits, truth, nodes):
        del nodes
        return Losses((logits - truth) ** 2, jnp.ones_like(logits))

    def score(self, decided, truth, valid):
        """Mean squared error."""
        return _mean((decided - truth) ** 2, _spread(valid, truth))


class MaskRules(KindRules):
    def value(self, truth, nodes):
        del nodes
        return truth

    def feed_back(self, logits, hard):
        return self.decide(logits) if hard else jax.nn.sigmoid(logits)

    def decide(self, logits):
        return (logits > 0).astype(logits.dtype)

    def losses(self, logits, truth, nodes):
        del nodes
        cross_entropy = (
            jnp.maximum(logits, 0) - logits * truth + jnp.log1p(jnp.exp(-jnp.abs(logits)))
        )
        return Losses(cross_entropy, (truth != _MASKED).astype(logits.dtype))

    def score(self, decided, truth, valid):
        """F1, with precision and recall 1 where they have nothing to count."""
        counted = _spread(valid, truth) * (truth != _MASKED)
        hits = jnp.sum((decided > 0.5) * (truth > 0.5) * counted)
        false_alarms = jnp.sum((decided > 0.5) * (truth < 0.5) * counted)
        misses = jnp.sum((decided < 0.5) * (truth > 0.5) * counted)
        precision = jnp.where(hits + false_alarms > 0, hits / (hits + false_alarms), 1.0)
        recall = jnp.where(hits + misses > 0, hits / (hits + misses), 1.0)
        f1 = 2 * precision * recall / (precision + recall)
        return jnp.where(precision + recall > 0, f1, 0.0)


class OneHotRules(KindRules):
    """mask_one and categorical: one of the entries of the last axis."""

    def value(self, truth, nodes):
        del nodes
        return truth

    def feed_back(self, logits, hard):
        return self.decide(logits) if hard else jax.nn.softmax(logits)

    def decide(self, logits):
        return jax.nn.one_hot(jnp.argmax(logits, -1), logits.shape[-1], dtype=logits.dtype)

    def losses(self, logits, truth, nodes):
        del nodes
        positive = (truth == 1).astype(logits.dtype)
        return Losses(-jnp.sum(positive * jax.nn.log_softmax(logits), -1), positive.max(-1))

    def score(self, decided, truth, valid):
        """Accuracy where nothing is masked."""
        right = jnp.argmax(decided, -1) == jnp.argmax(truth, -1)
        return _mean(right, _spread(valid, right) * jnp.all(truth != _MASKED, -1))


class PointerRules(KindRules):
    def value(self, truth, nodes):
        return jax.nn.one_hot(truth, nodes, dtype=float)

    def feed_back(self, logits, hard):
        if hard:
            return jax.nn.one_hot(jnp.argmax(logits, -1), logits.shape[-1], dtype=logits.dtype)
        return jax.nn.softmax(logits)

    def decide(self, logits):
        return jnp.argmax(logits, -1)

    def losses(self, logits, truth, nodes):
        target = jax.nn.one_hot(truth, nodes, dtype=logits.dtype)
        values = -jnp.sum(target * jax.nn.log_softmax(logits), -1)
        return Losses(values, jnp.ones_like(values))

    def score(self, decided, truth, valid):
        """Accuracy."""
        right = decided == truth
        return _mean(right, _spread(valid, right))


class PermutationRules(PointerRules):
    """Predecessor pointers that form a line. The network predicts the line closed to a cycle, and
    its first node; a decision cuts the cycle there."""

    def feed_back(self, logits, hard):
        raise NotImplementedError("no hint is a permutation")

    def decide(self, logits: PermutationLogits):
        cycle = log_sinkhorn(logits.predecessors, _DECISION_SINKHORN_STEPS)
        nodes = jnp.arange(cycle.shape[-1])
        is_first = nodes == jnp.argmax(logits.first, -1)[..., None]
        return jnp.where(is_first, nodes, jnp.argmax(cycle, -1))

    def losses(self, logits: PermutationLogits, truth, nodes):
        """The mean over nodes of the cycle's cross-entropy, plus the first node's cross-entropy."""
        pointers = jax.nn.one_hot(truth, nodes, dtype=logits.first.dtype)
        last = jnp.argmin(pointers.sum(-2), -1)
        first = jnp.argmax(jnp.diagonal(pointers, axis1=-2, axis2=-1), -1)
        is_first = jax.nn.one_hot(first, nodes, dtype=pointers.dtype)
        cycle = jnp.where(
            is_first[..., None] > 0, jax.nn.one_hot(last, nodes)[..., None, :], pointers
        )
        of_cycle = -jnp.sum(cycle * logits.predecessors, -1).mean(-1)
        of_first = -jnp.sum(is_first * jax.nn.log_softmax(logits.first), -1)
        return Losses(of_cycle + of_first, jnp.ones_like(of_first))


KINDS: dict[Kind, KindRules] = {
    Kind.SCALAR: ScalarRules(),
    Kind.MASK: MaskRules(),
    Kind.MASK_ONE: OneHotRules(),
    Kind.CATEGORICAL: OneHotRules(),
    Kind.POINTER: PointerRules(),
    Kind.PERMUTATION: PermutationRules(),
}


def log_sinkhorn(logits: Float[Array, "... n n"], steps: int) -> Float[Array, "... n n"]:
    """Logarithm of a nearly doubly stochastic matrix with no diagonal, from a matrix of logits."""
    x = logits / _SINKHORN_TEMPERATURE - 1e6 * jnp.eye(logits.shape[-1])

    def step(_, x: Array) -> Array:
        return jax.nn.log_softmax(jax.nn.log_softmax(x, -1), -2)

    return jax.lax.fori_loop(0, steps, step, x)  # Unrolled, it takes minutes to compile.


class EdgePointerEncoder(eqx.Module):
    """Reads pointers of edges p_ijk (edge ij points to k) as edge features: to jk the mean over i
    through `over_first`, to ik the mean over j through `over_second`."""

    over_first: Linear
    over_second: Linear


def start_encoder(feature: Feature, config: NetworkConfig, key: PRNGKeyArray):
    small = (
        config.encoder_start == "xavier_on_scalars"
        and feature.stage is Stage.HINT
        and feature.kind is Kind.SCALAR
    )
    spread = config.width**-0.5 if small else None
    if (feature.location, feature.kind) == (Location.EDGE, Kind.POINTER):
        keys = jax.random.split(key)
        return EdgePointerEncoder(*(Linear.start(k, 1, config.width, spread) for k in keys))
    return Linear.start(key, feature.classes, config.width, spread)


def reads_at(feature: Feature) -> Location:
    """Where the encoded feature enters: a node's pointer is a feature of edges."""
    if feature.kind in (Kind.POINTER, Kind.PERMUTATION):
        return Location.EDGE
    return feature.location


def rows_of(encoder: Any) -> tuple[Float[Array, "K width"], Float[Array, " width"]]:
    """What the encoder multiplies the feature's K scalars with, and what it adds."""
    if isinstance(encoder, EdgePointerEncoder):
        first, second = encoder.over_first, encoder.over_second
        return jnp.concatenate([first.weight, second.weight]), first.bias + second.bias
    return encoder.weight, encoder.bias


def scalars_of(feature: Feature, value: Array) -> Float[Array, "... K"]:
    """The numbers of a feature that its encoder's rows multiply: [n, K] for nodes, [n, n, K] for
    edges, [K] for the graph."""
    if (feature.location, feature.kind) == (Location.EDGE, Kind.POINTER):
        return jnp.stack([value.mean(0), value.mean(1)], -1)
    return value if feature.kind is Kind.CATEGORICAL else value[..., None]


def adds_edges(feature: Feature, value: Array) -> Bool[Array, "n n"] | None:
    """The pairs that the feature makes neighbours, in both directions."""
    match feature.location, feature.kind:
        case Location.NODE, Kind.POINTER | Kind.PERMUTATION:
            return value + value.T > 0.5
        case Location.EDGE, Kind.MASK:
            return value + value.T > 0
    return None
