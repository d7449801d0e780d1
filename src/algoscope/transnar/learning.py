"""Learning: one step of a tower, and of a reasoner's chosen weights, on one batch.

The loss is the cross-entropy of the answer's tokens, the mean over each answer and then over the
batch: the tokens of a prompt are random numbers that nothing predicts, and a long answer counts as
much as a short one. Adam, with the gradient cut to a global norm, a warm-up and a cosine.
"""

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Compiled
from jaxtyping import Array, Float, Int, PRNGKeyArray

from algoscope.configuration import TransnarConfig
from algoscope.networks.weights import leaf_name
from algoscope.runs.folder import Metrics
from algoscope.tasks import Batch
from algoscope.training.compile_cache import program_for, side_by_side
from algoscope.training.loop import no_metrics
from algoscope.training.model import Model, begins_with
from algoscope.training.optimiser import Adam, Learner
from algoscope.transnar.cross_attention import Graph
from algoscope.transnar.pool import Bucket, Pool, Shape, order_of
from algoscope.transnar.reasoner import states_in
from algoscope.transnar.tokenizer import PAD
from algoscope.transnar.tower import (
    COMPILER_OPTIONS,
    Tower,
    cast,
    compute_dtype,
    forward,
    positions_of,
    unembed,
)

_SQUARE_DECAY = 0.99
"""Adam's, for gradients that change faster than those of graph networks."""


class Weights(NamedTuple):
    tower: Tower
    reasoner: Model | None
    """Only if it learns too."""


@dataclasses.dataclass(frozen=True)
class TowerStep:
    """A step on problems of one shape."""

    shape: Shape
    adam: Adam
    trains_reasoner: tuple[str, ...]

    def __call__(
        self, learner: Learner, bucket: Bucket, chosen: Int[Array, " batch"], key: PRNGKeyArray
    ) -> tuple[Learner, Float[Array, ""]]:
        """The learner after it, and the loss before; `chosen` are the batch's problems in the
        bucket, `key` is that of the whole training."""
        batch, step_key = bucket.take(chosen), jax.random.fold_in(key, learner.count)
        positions = positions_of(learner.weights.tower.config, step_key, *batch.tokens.shape)

        def objective(weights: Weights) -> Array:
            graph = batch.graph
            if weights.reasoner is not None and batch.problems is not None:
                graph = _live_graph(weights.reasoner, self.shape, batch.problems)
            return loss(weights.tower, batch._replace(graph=graph), positions, self.shape.answer)

        value, gradient = jax.value_and_grad(objective)(learner.weights)
        if gradient.reasoner is not None:
            chosen_alone = _chosen(gradient.reasoner, self.trains_reasoner)
            gradient = gradient._replace(reasoner=chosen_alone)
        return self.adam.step(learner, gradient), value


def compiled(
    config: TransnarConfig, shape: Shape, learner: Learner, bucket: Bucket, key: PRNGKeyArray
) -> Compiled:
    """The step of a training on the problems of a bucket."""
    schedule = Adam(config.learning_rate, config.clip, _SQUARE_DECAY, config.warmup, config.steps)
    step = TowerStep(shape, schedule, config.trains_reasoner)
    chosen = jax.ShapeDtypeStruct((min(config.batch, bucket.samples),), jnp.int32)
    options = {} if config.trains_reasoner else COMPILER_OPTIONS
    return program_for(step, learner, bucket, chosen, key, donate=(0,), **options)


class TowerObjective:
    """The answers' cross-entropy, in steps of one tower."""

    def __init__(self, config: TransnarConfig, pool: Pool, path: object = "RUN"):
        self._config, self._pool = config, pool
        self.steps = config.steps
        self.resume_command = f"algoscope transnar train --resume {path}"
        self.memory_advice = "take a smaller batch, fewer samples or a smaller tower"
        self._key = jax.random.key(config.seed)
        self._programs: dict[Shape, Compiled] = {}
        self._batches: Iterator[tuple[Shape, np.ndarray]] = iter(())

    def place(self, learner: Learner) -> Learner:
        learner = jax.tree.map(jnp.asarray, learner)
        config, pool, key = self._config, self._pool, self._key
        self._programs = side_by_side(
            {s: functools.partial(compiled, config, s, learner, pool[s], key) for s in pool}
        )
        counts = {shape: bucket.samples for shape, bucket in pool.items()}
        batches = order_of(counts, config.batch, config.seed)
        self._batches = itertools.islice(batches, int(learner.count), None)
        return learner

    def gather(self, placed: Learner) -> Learner:
        return jax.tree.map(np.asarray, placed)

    def until(self, step: int) -> int:
        del step
        return self.steps

    def take(self, placed: Learner, start: int, stop: int) -> tuple[Learner, Metrics]:
        losses = []
        for shape, chosen in itertools.islice(self._batches, stop - start):
            placed, value = self._programs[shape](placed, self._pool[shape], chosen, self._key)
            losses.append(value)
        loss = np.asarray(jax.device_get(losses), np.float32)
        return placed, no_metrics(1, 1)._replace(loss=loss[:, None, None])


def loss(
    tower: Tower, batch: Bucket, positions: Int[Array, "batch token"], answer: int
) -> Float[Array, ""]:
    """`answer` is the number of tokens of the longest answer; logits are made for no others."""
    tokens = batch.tokens.astype(jnp.int32)
    states, _ = forward(tower, tokens, positions, batch.graph, fused=True)
    steps, rows = jnp.arange(answer)[None], jnp.arange(len(tokens))[:, None]
    place = batch.prompt_lengths[:, None] + steps
    counts = place < batch.lengths[:, None]
    # All places differ, those outside of the text too: gradients find theirs without atomics.
    before = jnp.where(counts, place - 1, tokens.shape[1] + steps)
    read = states.at[rows, before].get(mode="fill", fill_value=0, unique_indices=True)
    predicted = unembed(cast(tower), read)
    following = tokens.at[rows, place].get(mode="fill", fill_value=PAD)
    # A sum instead of a choice, whose gradient would be an array of zeros and a number in each row.
    is_right = following[..., None] == jnp.arange(predicted.shape[-1])[None, None]
    right = jnp.sum(predicted, -1, where=is_right)
    surprise = (jax.nn.logsumexp(predicted, -1) - right) * counts
    return jnp.mean(jnp.sum(surprise, 1) / jnp.sum(counts, 1))


def _live_graph(reasoner: Model, shape: Shape, problems: Batch) -> Graph:
    nodes, edges, _ = states_in(reasoner.network(shape.task), problems, shape.time)
    mask = jnp.ones(nodes.shape[1:3], bool)
    return Graph(jnp.asarray(nodes, compute_dtype()), jnp.asarray(edges, compute_dtype()), mask)


def _chosen(gradient: Model, names: tuple[str, ...]) -> Model:
    """The gradient, zero at weights whose names begin otherwise."""

    def keep(path: tuple, leaf: Array) -> Array:
        name = leaf_name(path)
        if name.startswith("parts."):
            name = name.split(".", 2)[2]
        return leaf if begins_with(name, names) else jnp.zeros_like(leaf)

    return jax.tree_util.tree_map_with_path(keep, gradient)
