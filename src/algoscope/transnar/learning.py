"""Learning: one step of a tower, and of a reasoner's chosen weights, on one batch.

The loss is the cross-entropy of the answer's tokens, the mean over each answer and then over the
batch: the tokens of a prompt are random numbers that nothing predicts, and a long answer counts as
much as a short one. With q the tower's distribution of a token,

    answers   mean over the answer's tokens of -log q(token)
    texts     the same over all tokens of the text but the first
    teacher   mean over the answer's tokens of -Σ p log q, with p that of a trained tower

Adam, with the gradient cut to a global norm, a warm-up and a cosine.
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

from algoscope.configuration import Loss, TransnarConfig
from algoscope.networks.weights import leaf_name
from algoscope.runs.folder import Metrics
from algoscope.tasks import Batch
from algoscope.training.compile_cache import program_for, side_by_side
from algoscope.training.loop import no_metrics
from algoscope.training.model import Model, begins_with
from algoscope.training.optimiser import Adam, Learner
from algoscope.transnar.cross_attention import Graph
from algoscope.transnar.pool import Bucket, Parts, Shape, Turn, order_of
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
    loss: Loss

    def __call__(
        self,
        learner: Learner,
        bucket: Bucket,
        chosen: Int[Array, " batch"],
        key: PRNGKeyArray,
        teacher: Tower | None,
    ) -> tuple[Learner, Float[Array, ""]]:
        """The learner after it, and the loss before; `chosen` are the batch's problems in the
        bucket, `key` is that of the whole training."""
        batch, step_key = bucket.take(chosen), jax.random.fold_in(key, learner.count)
        positions = positions_of(learner.weights.tower.config, step_key, *batch.tokens.shape)

        def objective(weights: Weights) -> Array:
            graph = batch.graph
            if weights.reasoner is not None and batch.problems is not None:
                graph = _live_graph(weights.reasoner, self.shape, batch.problems)
            shown = batch._replace(graph=graph)
            span = whole_texts(shown) if self.loss == "texts" else answers(shown, self.shape.answer)
            return loss(weights.tower, shown, positions, span, teacher)

        value, gradient = jax.value_and_grad(objective)(learner.weights)
        if gradient.reasoner is not None:
            chosen_alone = _chosen(gradient.reasoner, self.trains_reasoner)
            gradient = gradient._replace(reasoner=chosen_alone)
        return self.adam.step(learner, gradient), value


def compiled(
    config: TransnarConfig,
    shape: Shape,
    learner: Learner,
    bucket: Bucket,
    key: PRNGKeyArray,
    teacher: Tower | None = None,
) -> Compiled:
    """The step of a training on the problems of a bucket."""
    rate, clip, decay = config.learning_rate, config.clip, config.weight_decay
    adam = Adam(rate, clip, _SQUARE_DECAY, config.warmup, config.steps, decay)
    step = TowerStep(shape, adam, config.trains_reasoner, config.loss)
    chosen = jax.ShapeDtypeStruct((min(config.batch, bucket.samples),), jnp.int32)
    options = {} if config.trains_reasoner else COMPILER_OPTIONS
    return program_for(step, learner, bucket, chosen, key, teacher, donate=(0,), **options)


class TowerObjective:
    """The answers' cross-entropy, in steps of one tower."""

    def __init__(
        self,
        config: TransnarConfig,
        parts: Parts,
        path: object = "RUN",
        teacher: Tower | None = None,
    ):
        self._config, self._parts, self._teacher = config, parts, teacher
        self.steps = config.steps
        self.resume_command = f"algoscope transnar train --resume {path}"
        self.memory_advice = "take a smaller batch, fewer samples or a smaller tower"
        self._key = jax.random.key(config.seed)
        self._programs: dict[Shape, Compiled] = {}
        self._turns: Iterator[Turn] = iter(())

    def place(self, learner: Learner) -> Learner:
        learner = jax.tree.map(jnp.asarray, learner)
        config, parts, key = self._config, self._parts, self._key
        turns = order_of(parts.samples, config.batch, config.seed, parts.count)
        turns = itertools.islice(turns, int(learner.count), None)
        first = next(turns)
        self._turns = itertools.chain([first], turns)
        pool = parts[first.part]
        self._programs = side_by_side(
            {
                s: functools.partial(compiled, config, s, learner, pool[s], key, self._teacher)
                for s in pool
            }
        )
        return learner

    def gather(self, placed: Learner) -> Learner:
        return jax.tree.map(np.asarray, placed)

    def until(self, step: int) -> int:
        del step
        return self.steps

    def prepare(self, placed: Learner, step: int) -> None:
        """All was compiled when the learner was placed."""

    def take(self, placed: Learner, start: int, stop: int) -> tuple[Learner, Metrics]:
        losses = []
        for turn in itertools.islice(self._turns, stop - start):
            bucket = self._parts[turn.part][turn.shape]
            step = self._programs[turn.shape]
            placed, value = step(placed, bucket, turn.chosen, self._key, self._teacher)
            losses.append(value)
        loss = np.asarray(jax.device_get(losses), np.float32)
        return placed, no_metrics(1, 1)._replace(loss=loss[:, None, None])


class Span(NamedTuple):
    """Which tokens of each text are learnt; logits are made for no others."""

    first: Int[Array, " batch"]
    room: int
    """Tokens of the longest span."""


def answers(batch: Bucket, room: int) -> Span:
    """Spans of answers; the longest has at most so many tokens."""
    return Span(batch.prompt_lengths, room)


def whole_texts(batch: Bucket) -> Span:
    return Span(jnp.ones_like(batch.prompt_lengths), batch.tokens.shape[1] - 1)


def loss(
    tower: Tower,
    batch: Bucket,
    positions: Int[Array, "batch token"],
    span: Span,
    teacher: Tower | None = None,
) -> Float[Array, ""]:
    tokens = batch.tokens.astype(jnp.int32)
    steps, rows = jnp.arange(span.room)[None], jnp.arange(len(tokens))[:, None]
    place = span.first[:, None] + steps
    counts = place < batch.lengths[:, None]

    def logits(tower: Tower, graph: Graph | None) -> Float[Array, "batch room vocabulary"]:
        states, _ = forward(tower, tokens, positions, graph, fused=True)
        # All places differ, those outside of the text too: gradients find theirs without atomics.
        before = jnp.where(counts, place - 1, tokens.shape[1] + steps)
        read = states.at[rows, before].get(mode="fill", fill_value=0, unique_indices=True)
        return unembed(cast(tower), read)

    predicted = logits(tower, None if tower.reader is None else batch.graph)
    if teacher is not None:
        expected = jax.lax.stop_gradient(jax.nn.softmax(logits(teacher, batch.graph)))
        right = jnp.sum(predicted * expected, -1)
    else:
        following = tokens.at[rows, place].get(mode="fill", fill_value=PAD)
        # A sum instead of a choice, whose gradient would be an array of zeros and a number in each
        # row.
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
