"""Learning: one step of a tower, and of a reasoner's chosen weights, on one batch.

The loss is the cross-entropy of the answer's tokens, the mean over each answer and then over the
batch: the tokens of a prompt are random numbers that nothing predicts, and a long answer counts as
much as a short one. Adam, with the gradient cut to a global norm, a warm-up and a cosine.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from algoscope.configuration import TransnarConfig
from algoscope.networks.weights import leaf_name
from algoscope.training.compile_cache import program_for
from algoscope.training.model import Model
from algoscope.transnar.cross_attention import Graph
from algoscope.transnar.pool import Bucket, Shape, take
from algoscope.transnar.reasoner import states_in
from algoscope.transnar.tokenizer import PAD
from algoscope.transnar.tower import (
    COMPILER_OPTIONS,
    Tower,
    cast,
    compute_dtype,
    hidden,
    positions_of,
    unembed,
)

_DECAY, _SQUARE_DECAY, _EPSILON = 0.9, 0.99, 1e-8
"""Adam's constants."""
_LAST_PART = 0.1
"""Of the highest learning rate, at the end."""


class Weights(NamedTuple):
    tower: Tower
    reasoner: Model | None
    """Only if it learns too."""


class Learner(NamedTuple):
    weights: Weights
    mean: Weights
    """Adam's running mean of gradients."""
    square: Weights
    """Adam's running mean of their squares."""
    step: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Program:
    """All that a step is compiled for, beside the shapes of its arguments."""

    shape: Shape
    steps: int
    learning_rate: float
    warmup: int
    clip: float
    trains_reasoner: tuple[str, ...]


def compiled(
    config: TransnarConfig, shape: Shape, learner: Learner, bucket: Bucket, key: PRNGKeyArray
) -> Callable[..., tuple[Learner, Float[Array, ""]]]:
    """The step of a training on the problems of a bucket: `advance` without its first argument."""
    chosen = jax.ShapeDtypeStruct((min(config.batch, bucket.samples),), jnp.int32)
    options = {} if config.trains_reasoner else COMPILER_OPTIONS
    return program_for(advance, _program_of(config, shape), learner, bucket, chosen, key, **options)


def _program_of(config: TransnarConfig, shape: Shape) -> Program:
    return Program(
        shape,
        config.steps,
        config.learning_rate,
        config.warmup,
        config.clip,
        config.trains_reasoner,
    )


def start_learner(weights: Weights) -> Learner:
    # Each its own array, since the program that steps them reuses their memory.
    mean, square = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    return Learner(jax.tree.map(jnp.copy, weights), mean, square, jnp.int32(0))


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def advance(
    program: Program,
    learner: Learner,
    bucket: Bucket,
    chosen: Int[Array, " batch"],
    key: PRNGKeyArray,
) -> tuple[Learner, Float[Array, ""]]:
    """A step on the chosen problems of a bucket; gives the loss before it. `key` is that of the
    whole training."""
    batch, own = take(bucket, chosen), jax.random.fold_in(key, learner.step)
    positions = positions_of(learner.weights.tower.config, own, *batch.tokens.shape)

    def objective(weights: Weights) -> Array:
        graph = batch.graph
        if weights.reasoner is not None and batch.problems is not None:
            graph = _live_graph(weights.reasoner, program.shape, batch)
        return loss(weights.tower, batch._replace(graph=graph), positions, program.shape.answer)

    value, gradient = jax.value_and_grad(objective)(learner.weights)
    if gradient.reasoner is not None:
        gradient = gradient._replace(reasoner=_chosen(gradient.reasoner, program.trains_reasoner))
    return _adam(program, learner, gradient), value


def loss(
    tower: Tower, batch: Bucket, positions: Int[Array, "batch token"], answer: int
) -> Float[Array, ""]:
    """`answer` is the number of tokens of the longest answer; logits are made for no others."""
    tokens = batch.tokens.astype(jnp.int32)
    states = hidden(tower, tokens, positions, batch.graph)
    steps, rows = jnp.arange(answer), jnp.arange(len(tokens))[:, None]
    place = batch.prompt_lengths[:, None] + steps
    counts = place < batch.lengths[:, None]
    # All places differ, those outside of the text too: gradients find theirs without atomics.
    before = jnp.where(counts, place - 1, tokens.shape[1] + steps)
    read = states.at[rows, before].get(mode="fill", fill_value=0, unique_indices=True)
    predicted = unembed(cast(tower), read)
    following = tokens.at[rows, place].get(mode="fill", fill_value=PAD)
    # A sum instead of a choice, whose gradient would be an array of zeros and a number in each row.
    is_right = following[..., None] == jnp.arange(predicted.shape[-1])
    right = jnp.sum(predicted, -1, where=is_right)
    surprise = (jax.nn.logsumexp(predicted, -1) - right) * counts
    return jnp.mean(jnp.sum(surprise, 1) / jnp.sum(counts, 1))


def _live_graph(reasoner: Model, shape: Shape, batch: Bucket) -> Graph:
    assert batch.problems is not None
    nodes, edges, _ = states_in(reasoner.network(shape.task), batch.problems, shape.time)
    mask = jnp.ones(nodes.shape[:2], bool)
    return Graph(nodes[None].astype(compute_dtype()), edges[None].astype(compute_dtype()), mask)


def _chosen(gradient: Model, names: tuple[str, ...]) -> Model:
    """The gradient, zero at weights whose names begin otherwise."""

    def keep(path: tuple, leaf: Array) -> Array:
        name = leaf_name(path)
        if name.startswith("parts."):
            name = name.split(".", 2)[2]
        learns = any(name == start or name.startswith(f"{start}.") for start in names)
        return leaf if learns else jnp.zeros_like(leaf)

    return jax.tree_util.tree_map_with_path(keep, gradient)


def _rate(program: Program, step: Int[Array, ""]) -> Float[Array, ""]:
    grown = jnp.minimum(1.0, (step + 1) / program.warmup)
    done = jnp.clip((step - program.warmup) / max(1, program.steps - program.warmup), 0, 1)
    part = _LAST_PART + (1 - _LAST_PART) * 0.5 * (1 + jnp.cos(jnp.pi * done))
    return program.learning_rate * grown * part


def _adam(program: Program, learner: Learner, gradient: Weights) -> Learner:
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradient)))
    factor = jnp.where(norm < program.clip, 1.0, program.clip / norm)
    rate, count = _rate(program, learner.step), learner.step + 1

    def moved(weight: Array, mean: Array, square: Array) -> Array:
        mean, square = mean / (1 - _DECAY**count), square / (1 - _SQUARE_DECAY**count)
        return weight - rate * mean / (jnp.sqrt(square) + _EPSILON)

    def mixed(decay: float, old: Any, new: Any) -> Any:
        return jax.tree.map(lambda o, n: decay * o + (1 - decay) * n, old, new)

    gradient = jax.tree.map(lambda g: factor * g, gradient)
    mean = mixed(_DECAY, learner.mean, gradient)
    square = mixed(_SQUARE_DECAY, learner.square, jax.tree.map(jnp.square, gradient))
    weights = jax.tree.map(moved, learner.weights, mean, square)
    return Learner(weights, mean, square, count)
