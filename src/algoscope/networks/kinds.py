"""All that depends on the kind of a feature alone: how it is read, fed back, decided, lost, scored.

A feature has three forms. Its *truth* is what a batch holds. Its *value* is what the encoders read:
the truth as floats, pointers as one-hot rows, or predictions fed back in that form, where they may
be probabilities. Its *logits* are what the decoder gives.

`KINDS` has one `KindRules` per kind. `encoders` and `decoders` also depend on the location.
"""

import abc
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from algoscope.networks.layers import along_last
from algoscope.tasks.features import Kind

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
    def value(self, truth: Array) -> Array:
        """The truth as the encoders read it."""
        return truth

    @abc.abstractmethod
    def feed_back(self, logits: Any, hard: bool) -> Array:
        """The prediction as the encoders read it: decided if hard, else as probabilities."""

    @abc.abstractmethod
    def decide(self, logits: Any) -> Array:
        """The prediction in the form of the truth."""

    @abc.abstractmethod
    def losses(self, logits: Any, truth: Array) -> Losses:
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
    def feed_back(self, logits, hard):
        return jax.lax.stop_gradient(logits) if hard else logits

    def decide(self, logits):
        return logits

    def losses(self, logits, truth):
        return Losses((logits - truth) ** 2, jnp.ones_like(logits))

    def score(self, decided, truth, valid):
        """Mean squared error."""
        return _mean((decided - truth) ** 2, _spread(valid, truth))


class MaskRules(KindRules):
    def feed_back(self, logits, hard):
        return self.decide(logits) if hard else jax.nn.sigmoid(logits)

    def decide(self, logits):
        return (logits > 0).astype(logits.dtype)

    def losses(self, logits, truth):
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

    def feed_back(self, logits, hard):
        return self.decide(logits) if hard else jax.nn.softmax(logits)

    def decide(self, logits):
        return jax.nn.one_hot(jnp.argmax(logits, -1), logits.shape[-1], dtype=logits.dtype)

    def losses(self, logits, truth):
        positive = (truth == 1).astype(logits.dtype)
        return Losses(-jnp.sum(positive * jax.nn.log_softmax(logits), -1), positive.max(-1))

    def score(self, decided, truth, valid):
        """Accuracy where nothing is masked."""
        right = jnp.argmax(decided, -1) == jnp.argmax(truth, -1)
        return _mean(right, _spread(valid, right) * jnp.all(truth != _MASKED, -1))


class PointerRules(KindRules):
    def value(self, truth):
        return jax.nn.one_hot(truth, truth.shape[-1], dtype=float)

    def feed_back(self, logits, hard):
        if hard:
            return jax.nn.one_hot(jnp.argmax(logits, -1), logits.shape[-1], dtype=logits.dtype)
        return jax.nn.softmax(logits)

    def decide(self, logits):
        return jnp.argmax(logits, -1)

    def losses(self, logits, truth):
        target = jax.nn.one_hot(truth, truth.shape[-1], dtype=logits.dtype)
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
        nodes = along_last(jnp.arange(cycle.shape[-1]), logits.first)
        is_first = nodes == jnp.argmax(logits.first, -1)[..., None]
        return jnp.where(is_first, nodes, jnp.argmax(cycle, -1))

    def losses(self, logits: PermutationLogits, truth):
        """The mean over nodes of the cycle's cross-entropy, plus the first node's cross-entropy."""
        nodes = truth.shape[-1]
        pointers = jax.nn.one_hot(truth, nodes, dtype=logits.first.dtype)
        last = jnp.argmin(pointers.sum(-2), -1)
        first = jnp.argmax(jnp.diagonal(pointers, axis1=-2, axis2=-1), -1)
        is_first = jax.nn.one_hot(first, nodes, dtype=pointers.dtype)
        cycle = jnp.where(
            is_first[..., None] > 0, jax.nn.one_hot(last, nodes)[..., None, :], pointers
        )
        cycle_loss = -jnp.sum(cycle * logits.predecessors, -1).mean(-1)
        first_loss = -jnp.sum(is_first * jax.nn.log_softmax(logits.first), -1)
        return Losses(cycle_loss + first_loss, jnp.ones_like(first_loss))


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
    diagonal = jnp.eye(logits.shape[-1])
    x = logits / _SINKHORN_TEMPERATURE - 1e6 * diagonal.reshape(
        (1,) * (logits.ndim - 2) + diagonal.shape
    )

    def step(_, x: Array) -> Array:
        return jax.nn.log_softmax(jax.nn.log_softmax(x, -1), -2)

    return jax.lax.fori_loop(0, steps, step, x)  # Unrolled, it takes minutes to compile.
