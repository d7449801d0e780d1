"""The learner and its optimiser: Adam, with the gradient cut to a global norm.

Adam is written out: optax's gives other last bits (it divides before it multiplies by the learning
rate), so that runs would no longer end where they did. A test compares the two.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

_DECAY, _EPSILON = 0.9, 1e-8
_LAST_PART = 0.1
"""Of the highest learning rate, at the end of a schedule."""


class Best(NamedTuple):
    """The weights that did best in validation."""

    weights: Any
    score: Float[Array, ""]
    """Summed over tasks."""
    step: Int[Array, ""]


class Learner(NamedTuple):
    """A model in training; weights and moments are trees of the same structure."""

    weights: Any
    count: Int[Array, ""]
    """Steps of Adam so far."""
    mean: Any
    """Adam's running mean of gradients."""
    square: Any
    """Adam's running mean of their squares."""
    best: Best | None = None
    """None where there is no validation."""


def start_learner(weights: Any, *, validated: bool) -> Learner:
    # Each its own array, since the program that steps them reuses their memory.
    mean, square = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    best = Best(jax.tree.map(jnp.copy, weights), jnp.float32(-1), jnp.int32(-1))
    weights = jax.tree.map(jnp.copy, weights)
    return Learner(weights, jnp.int32(0), mean, square, best if validated else None)


@dataclasses.dataclass(frozen=True)
class Adam:
    """With g the gradient, t the count and r the learning rate,

    mean   = 0.9 mean + 0.1 g
    square = d square + (1 - d) g²
    w      = w - r · (mean / (1 - 0.9ᵗ) / (sqrt(square / (1 - dᵗ)) + 1e-8) + weight decay · w)
    """

    learning_rate: float
    clip: float
    """Largest global norm of a gradient; 0 for no limit."""
    square_decay: float = 0.999
    """d"""
    warmup: int = 0
    """Steps until the highest rate, after which it falls to a tenth along a cosine; 0 for a
    constant rate."""
    steps: int = 0
    """When it has fallen."""
    weight_decay: float = 0.0

    def rate(self, count: Int[Array, ""]) -> Float[Array, ""] | float:
        if not self.warmup:
            return self.learning_rate
        grown = jnp.minimum(1.0, (count + 1) / self.warmup)
        done = jnp.clip((count - self.warmup) / max(1, self.steps - self.warmup), 0, 1)
        part = _LAST_PART + (1 - _LAST_PART) * 0.5 * (1 + jnp.cos(jnp.pi * done))
        return self.learning_rate * grown * part

    def step(self, learner: Learner, gradient: Any, frozen: Any = None) -> Learner:
        """The learner after a step. `frozen` has True where a weight stays as it is; its gradient
        counts for the norm, as in dm-clrs."""
        if self.clip:
            norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradient)))
            factor = jnp.where(norm < self.clip, 1.0, self.clip / norm)
            gradient = jax.tree.map(lambda g: g * factor, gradient)
        rate, count, d = self.rate(learner.count), learner.count + 1, self.square_decay

        def moved(weight: Array, mean: Array, square: Array) -> Array:
            mean, square = mean / (1 - _DECAY**count), square / (1 - d**count)
            kept = weight - rate * self.weight_decay * weight if self.weight_decay else weight
            return kept - rate * mean / (jnp.sqrt(square) + _EPSILON)

        means = jax.tree.map(lambda m, g: _DECAY * m + (1 - _DECAY) * g, learner.mean, gradient)
        squares = jax.tree.map(lambda s, g: d * s + (1 - d) * g**2, learner.square, gradient)
        weights = jax.tree.map(moved, learner.weights, means, squares)
        if frozen is not None:
            weights = jax.tree.map(jnp.where, frozen, learner.weights, weights)
        return learner._replace(weights=weights, count=count, mean=means, square=squares)
