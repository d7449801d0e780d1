"""Learning: what happens to one network in a stretch of steps, all of it on the device.

A step draws its batch from the pool, and follows dm-clrs: the gradient of the loss, cut to a global
norm, goes through Adam; each task in turn, sharing Adam's count and the processor's moments. After
steps 0, 50, 100, … the network is validated, and its weights are kept if it did better than before.

`advance` is written for one network as a single scan. `over_seeds` runs it for all of them: side by
side as many as fit (`at_once`), one such group after the other, spread over the devices.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from algoscope.networks.network import BatchArrays, Network, Noise
from algoscope.networks.objective import loss, scores_inside
from algoscope.tasks import Feature, Kind, Stage
from algoscope.training.config import TrainingConfig
from algoscope.training.model import PROCESSOR, Layout, Vectors, network_of
from algoscope.training.pool import Problems, TaskPlan

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


class Progress(NamedTuple):
    """What a stretch of steps showed."""

    loss: Float[Array, "step task"]
    """NaN at steps that were not taken."""
    validated: Float[Array, "step task"]
    """Scores, NaN at steps that were not validated."""
    is_validated: Bool[Array, " step"]


@dataclasses.dataclass(frozen=True)
class Program:
    """All that `advance` is compiled for."""

    config: TrainingConfig
    plans: tuple[TaskPlan, ...]
    length: int
    """Steps in a stretch."""

    @property
    def layout(self) -> Layout:
        return layout_of(self.config, self.plans)


def layout_of(config: TrainingConfig, plans: Sequence[TaskPlan]) -> Layout:
    return Layout(tuple((plan.task, plan.features) for plan in plans), config.network)


class Data(NamedTuple):
    """What all networks share."""

    pools: tuple[tuple[Problems, ...], ...]
    branches: tuple[Int[Array, " steps"], ...]
    """Of the generation's schedules, by task."""
    validation: tuple[Problems, ...]
    start: Int[Array, ""]
    """The first step of the stretch."""
    stop: Int[Array, ""]
    """The step before which the stretch ends, even if it is not full."""
    offset: Int[Array, ""]
    """The first step of the generation."""


def start_learner(weights: Vectors) -> Learner:
    # Each its own array, since the program that steps them reuses their memory.
    mean, square = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    best = jax.tree.map(jnp.copy, weights)
    return Learner(weights, jnp.int32(0), mean, square, best, jnp.float32(-1), jnp.int32(-1))


def advance(
    program: Program, learner: Learner, seed: Int[Array, ""], batches: tuple[Array, ...], data: Data
) -> tuple[Learner, Progress]:
    """Takes the steps of a stretch; `batches` are this seed's rows of the schedules, by task."""
    config = program.config
    none = jnp.full(len(config.tasks), jnp.nan)
    frozen = program.layout.where(config.freeze)

    def one_step(learner: Learner, step: Array) -> tuple[Learner, Progress]:
        key = jax.random.fold_in(jax.random.key(seed), step)
        losses = []
        for number, plan in enumerate(program.plans):
            place = step - data.offset
            branches = [
                functools.partial(_gradient, program, plan.task, time, data.pools[number][size])
                for size, time in plan.branches
            ]
            of_task, gradient = jax.lax.switch(
                data.branches[number][place],
                branches,
                {name: learner.weights[name] for name in (PROCESSOR, plan.task)},
                batches[number][place],
                jax.random.fold_in(key, number),
            )
            learner = adam(config, frozen, learner, gradient)
            losses.append(of_task)
        is_validated = step % config.evaluate_every == 0
        learner, scores = jax.lax.cond(
            is_validated,
            functools.partial(_validate, program, data.validation),
            lambda learner, step, key: (learner, none),
            learner,
            step,
            jax.random.fold_in(key, len(program.plans)),
        )
        return learner, Progress(jnp.stack(losses), scores, is_validated)

    def step_or_nothing(learner: Learner, step: Array) -> tuple[Learner, Progress]:
        return jax.lax.cond(
            step < data.stop,
            one_step,
            lambda learner, _: (learner, Progress(none, none, jnp.bool(False))),
            learner,
            step,
        )

    return jax.lax.scan(step_or_nothing, learner, data.start + jnp.arange(program.length))


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


def expand(network: Network, arrays: Problems) -> BatchArrays:
    """Compact arrays in the types that the network reads."""

    def convert(feature: Feature, array: Any) -> Array:
        pointers = feature.kind in (Kind.POINTER, Kind.PERMUTATION)
        return jnp.asarray(array).astype(jnp.int32 if pointers else network.dtype)

    by_stage = (
        {f.name: convert(f, given[f.name]) for f in network.at(stage)}
        for stage, given in zip((Stage.INPUT, Stage.HINT, Stage.OUTPUT), arrays[:3], strict=True)
    )
    return BatchArrays(*by_stage, lengths=jnp.asarray(arrays.lengths))


def scores_on(network: Network, arrays: Problems) -> dict[str, Float[Array, ""]]:
    """The score of each output on compact arrays, and their mean as "score"."""
    scores = scores_inside(network, expand(network, arrays))
    return scores | {"score": jnp.stack(list(scores.values())).mean()}


def _gradient(
    program: Program,
    task: str,
    time: int,
    pool: Problems,
    weights: Vectors,
    index: Int[Array, ""],
    key: PRNGKeyArray,
) -> tuple[Float[Array, ""], Vectors]:
    """Loss and gradient on the batch at this index of the pool, cut to this length of time."""
    config, layout = program.config, program.layout
    chosen = jax.tree.map(lambda of_all: of_all[index], pool)
    chosen = chosen._replace(hints={name: a[:, :time] for name, a in chosen.hints.items()})
    arrays = expand(network_of(layout, weights, task), chosen)

    def objective(weights: Vectors) -> Array:
        network = network_of(layout, weights, task)
        return loss(network, arrays, noise_of(config, network, arrays, key))

    of_batch, gradient = jax.value_and_grad(objective)(weights)
    if config.regularisation:
        gradient = jax.tree.map(lambda g, w: g + 2 * config.regularisation * w, gradient, weights)
    return of_batch, gradient


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
    config: TrainingConfig, network: Network, arrays: BatchArrays, key: PRNGKeyArray
) -> Noise | None:
    """The randomness of a step, None if there is none in this configuration."""
    sorts = any(f.kind is Kind.PERMUTATION for f in network.features)
    dropout, forcing = network.config.dropout, config.teacher_forcing
    if not (sorts or dropout or forcing):
        return None
    count, nodes = arrays.inputs["pos"].shape
    steps = max(1, next(iter(arrays.hints.values())).shape[1] - 1)
    keep_key, force_key, gumbel_key = jax.random.split(key, 3)
    shape = (count, steps, nodes, network.config.width)
    keep = jax.random.bernoulli(keep_key, 1 - dropout, shape) / (1 - dropout)
    force = jax.random.bernoulli(force_key, forcing, (count, steps))
    gumbel = jax.random.gumbel(gumbel_key, (count, nodes, nodes))
    return Noise(keep.astype(network.dtype), force, gumbel.astype(network.dtype))


def _validate(
    program: Program,
    validation: tuple[Problems, ...],
    learner: Learner,
    step: Array,
    key: PRNGKeyArray,
) -> tuple[Learner, Float[Array, " task"]]:
    """Scores the network as dm-clrs does, and keeps its weights if they are the best so far."""
    scores = []
    for number, (plan, arrays) in enumerate(zip(program.plans, validation, strict=True)):
        drawn = draw_again(program.config, arrays, jax.random.fold_in(key, number))
        scores.append(
            scores_on(network_of(program.layout, learner.weights, plan.task), drawn)["score"]
        )
    of_all = jnp.stack(scores)
    total = of_all.sum()
    better = (total > learner.best_score) | (step == 0)
    best = jax.tree.map(lambda new, old: jnp.where(better, new, old), learner.weights, learner.best)
    return learner._replace(
        best=best,
        best_score=jnp.where(better, total, learner.best_score),
        best_step=jnp.where(better, step.astype(jnp.int32), learner.best_step),
    ), of_all


def draw_again(config: TrainingConfig, arrays: Problems, key: PRNGKeyArray) -> Problems:
    """As many samples with replacement, at new random positions: dm-clrs's validation batches."""
    choice_key, position_key = jax.random.split(key)
    count = len(arrays.lengths)
    choice = jax.random.choice(choice_key, count, (count,))
    arrays = jax.tree.map(lambda of_all: of_all[choice], arrays)
    if not config.recipe.random_positions:
        return arrays
    pos = arrays.inputs["pos"]
    values = jax.random.uniform(position_key, pos.shape, pos.dtype)
    string = arrays.inputs.get("string", jnp.zeros(pos.shape))
    order = jnp.lexsort((values, string))
    sorted_values = jnp.take_along_axis(values, order, 1)
    return arrays._replace(inputs=arrays.inputs | {"pos": sorted_values})
