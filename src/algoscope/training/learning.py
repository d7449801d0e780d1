"""Learning: what happens to one network in a step, all of it on the device.

A step has a `Lesson` for each task in turn, sharing Adam's count and the processor's moments. It
draws its batch from the pool, and follows dm-clrs: the gradient of the loss, cut to a global norm,
goes through Adam. After steps 0, 50, 100, … comes a `Validation`.

All is written for one network. `over_seeds` does it for all of them: side by side as many as fit
(`at_once`), one such group after the other, spread over the devices.
"""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float, Int, PRNGKeyArray

from algoscope.networks.network import Network, Noise, to_device
from algoscope.networks.objective import loss, scores_inside
from algoscope.tasks import Batch, Kind
from algoscope.training.config import TrainingConfig
from algoscope.training.model import PROCESSOR, Layout, Model, Vectors, network_of
from algoscope.training.pool import TaskPlan

_DECAY, _SQUARE_DECAY, _EPSILON = 0.9, 0.999, 1e-8
"""Adam's constants."""


class Learner(NamedTuple):
    """One network on its way."""

    weights: Vectors
    count: Int[Array, ""]
    """Adam's: steps taken on any task."""
    mean: Vectors
    """Adam's running mean of gradients."""
    square: Vectors
    """Adam's running mean of their squares."""
    best: Vectors
    """The weights that did best in validation."""
    best_score: Float[Array, ""]
    """Their score, summed over tasks."""
    best_step: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Lesson:
    """A step on one task with a batch of one shape."""

    config: TrainingConfig
    layout: Layout
    task: str
    nodes: int
    time: int
    """The length of time that the batch's traces are cut to."""

    def __call__(
        self,
        learner: Learner,
        seed: Int[Array, ""],
        batch: Int[Array, ""],
        step: Int[Array, ""],
        pool: Batch,
    ) -> tuple[Learner, Float[Array, ""]]:
        """The learner after it, and the loss; `batch` is an index of the pool."""
        number = self.config.tasks.index(self.task)
        key = jax.random.fold_in(_key(seed, step), number)
        weights = {name: learner.weights[name] for name in (PROCESSOR, self.task)}
        loss, gradient = self._gradient(weights, batch, pool, key)
        frozen = self.layout.where(self.config.freeze)
        return adam(self.config, frozen, learner, gradient), loss

    def _gradient(
        self, weights: Vectors, batch: Int[Array, ""], pool: Batch, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Vectors]:
        config, layout = self.config, self.layout
        chosen = pool.take(batch)
        hints = {name: array[:, : self.time] for name, array in chosen.hints.items()}
        # By the model's arrays instead of the vectors: the gradient of a slice is a vector of its
        # own, mostly zeros.
        model = layout.unpack(weights)
        arrays = to_device(model.network(self.task), dataclasses.replace(chosen, hints=hints))

        def objective(model: Model) -> Array:
            network = model.network(self.task)
            return loss(network, arrays, noise_of(config, network, arrays, key))

        of_batch, gradient = jax.value_and_grad(objective)(model)
        gradient = layout.pack(gradient)
        if config.regularisation:
            factor = 2 * config.regularisation
            gradient = jax.tree.map(lambda g, w: g + factor * w, gradient, weights)
        return of_batch, gradient


def _key(seed: Int[Array, ""], step: Int[Array, ""]) -> PRNGKeyArray:
    return jax.random.fold_in(jax.random.key(seed), step)


def layout_of(config: TrainingConfig, plans: Sequence[TaskPlan]) -> Layout:
    return Layout(tuple((plan.task, plan.features) for plan in plans), config.network)


def start_learner(weights: Vectors) -> Learner:
    # Each its own array, since the program that steps them reuses their memory.
    mean, square = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    best = jax.tree.map(jnp.copy, weights)
    return Learner(weights, jnp.int32(0), mean, square, best, jnp.float32(-1), jnp.int32(-1))


def over_seeds(
    one: Callable[[Any, Any], Any], per_seed: Any, shared: Any, mesh: Mesh, at_once: int
) -> Any:
    """one(per_seed[k], shared) for all k, as the module says; the number of seeds is a multiple of
    `at_once` times the number of devices."""

    def of_device(per_seed, shared):
        count = len(jax.tree.leaves(per_seed)[0])
        if at_once >= count:
            return jax.vmap(one, (0, None))(per_seed, shared)
        return jax.lax.map(lambda own: one(own, shared), per_seed, batch_size=at_once)

    if mesh.size == 1:
        return of_device(per_seed, shared)
    seeds, everywhere = PartitionSpec(mesh.axis_names[0]), PartitionSpec()
    return jax.shard_map(
        of_device, mesh=mesh, in_specs=(seeds, everywhere), out_specs=seeds, check_vma=False
    )(per_seed, shared)


def scores_on(network: Network, batch: Batch) -> dict[str, Float[Array, ""]]:
    """The score of each output on a compact batch, and their mean as "score"."""
    scores = scores_inside(network, to_device(network, batch))
    return scores | {"score": jnp.stack(list(scores.values())).mean()}


def adam(
    config: TrainingConfig, frozen: dict[str, np.ndarray], learner: Learner, gradient: Vectors
) -> Learner:
    """A step of Adam with the gradient cut to a global norm. Weights that the task does not have
    keep their moments; frozen ones count for the norm and do not move, both as in dm-clrs."""
    if config.clip:
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in gradient.values()))
        factor = jnp.where(norm < config.clip, 1.0, config.clip / norm)
        gradient = {name: g * factor for name, g in gradient.items()}
    count = learner.count + 1
    weights, means, squares = dict(learner.weights), dict(learner.mean), dict(learner.square)
    for name, g in gradient.items():
        means[name] = _DECAY * means[name] + (1 - _DECAY) * g
        squares[name] = _SQUARE_DECAY * squares[name] + (1 - _SQUARE_DECAY) * g**2
        mean = means[name] / (1 - _DECAY**count)
        square = squares[name] / (1 - _SQUARE_DECAY**count)
        moved = weights[name] - config.learning_rate * mean / (jnp.sqrt(square) + _EPSILON)
        weights[name] = jnp.where(frozen[name], weights[name], moved) if config.freeze else moved
    return learner._replace(weights=weights, count=count, mean=means, square=squares)


def noise_of(
    config: TrainingConfig, network: Network, batch: Batch, key: PRNGKeyArray
) -> Noise | None:
    """The randomness of a step, None if there is none in this configuration."""
    sorts = any(f.kind is Kind.PERMUTATION for f in network.features)
    dropout, forcing = network.config.dropout, config.teacher_forcing
    if not (sorts or dropout or forcing):
        return None
    count, nodes, steps = len(batch), batch.nodes, batch.steps
    keep_key, force_key, gumbel_key = jax.random.split(key, 3)
    shape = (count, steps, nodes, network.config.width)
    keep = jax.random.bernoulli(keep_key, 1 - dropout, shape) / (1 - dropout)
    force = jax.random.bernoulli(force_key, forcing, (count, steps))
    gumbel = jax.random.gumbel(gumbel_key, (count, nodes, nodes))
    return Noise(keep.astype(network.dtype), force, gumbel.astype(network.dtype))


@dataclasses.dataclass(frozen=True)
class Validation:
    """Scores a network on one task, as dm-clrs does."""

    config: TrainingConfig
    layout: Layout
    task: str

    def __call__(
        self, learner: Learner, seed: Int[Array, ""], step: Int[Array, ""], problems: Batch
    ) -> tuple[Learner, Float[Array, ""]]:
        """The learner as it was, and its score."""
        key = jax.random.fold_in(_key(seed, step), len(self.config.tasks))
        number = self.config.tasks.index(self.task)
        drawn = draw_again(self.config, problems, jax.random.fold_in(key, number))
        return learner, scores_on(network_of(self.layout, learner.weights, self.task), drawn)[
            "score"
        ]


def keep_best(
    learner: Learner,
    scores: tuple[Float[Array, ""], ...],
    step: Int[Array, ""],
    nothing: tuple[()],
) -> tuple[Learner, Float[Array, " task"]]:
    """The learner with its present weights as its best, if their score, summed over tasks, is
    higher than before; and the scores."""
    del nothing
    of_all = jnp.stack(scores)
    total = of_all.sum()
    better = (total > learner.best_score) | (step == 0)
    best = jax.tree.map(partial(jnp.where, better), learner.weights, learner.best)
    return learner._replace(
        best=best,
        best_score=jnp.where(better, total, learner.best_score),
        best_step=jnp.where(better, step.astype(jnp.int32), learner.best_step),
    ), of_all


def draw_again(config: TrainingConfig, batch: Batch, key: PRNGKeyArray) -> Batch:
    """As many samples with replacement, at new random positions: dm-clrs's validation batches."""
    choice_key, position_key = jax.random.split(key)
    count = len(batch)
    choice = jax.random.choice(choice_key, count, (count,))
    batch = batch.take(choice)
    if not config.recipe.random_positions:
        return batch
    pos = batch.inputs["pos"]
    values = jax.random.uniform(position_key, pos.shape, pos.dtype)
    string = batch.inputs.get("string", jnp.zeros(pos.shape))
    order = jnp.lexsort((values, string))
    sorted_values = jnp.take_along_axis(values, order, 1)
    return dataclasses.replace(batch, inputs=batch.inputs | {"pos": sorted_values})
