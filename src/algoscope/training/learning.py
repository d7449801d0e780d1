"""Learning: what happens to one network in a stretch of steps, all of it on the device.

A step draws its batch from the pool, and follows dm-clrs: the gradient of the loss, cut to a global
norm, goes through Adam; each task in turn, sharing Adam's count and the processor's moments. After
steps 0, 50, 100, … the network is validated, and its weights are kept if it did better than before.

`advance` is written for one network as a single scan. `over_seeds` runs it for all of them: side by
side as many as fit (`at_once`), one such group after the other, spread over the devices.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from algoscope.networks.network import BatchArrays, Network, Noise
from algoscope.networks.objective import loss, scores_inside
from algoscope.networks.weights import leaf_name
from algoscope.tasks import Feature, Kind, Stage
from algoscope.training.config import TrainingConfig
from algoscope.training.model import Model
from algoscope.training.pool import TaskPlan


class Learner(NamedTuple):
    """One network on its way."""

    model: Model
    moments: optax.ScaleByAdamState
    best: Model
    best_score: Float[Array, ""]
    """The sum over tasks of the validation scores of `best`."""
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


class Data(NamedTuple):
    """What all networks share."""

    pools: tuple[tuple[BatchArrays, ...], ...]
    branches: tuple[Int[Array, " steps"], ...]
    """Of the generation's schedules, by task."""
    validation: tuple[BatchArrays, ...]
    start: Int[Array, ""]
    """The first step of the stretch."""
    stop: Int[Array, ""]
    """The step before which the stretch ends, even if it is not full."""
    offset: Int[Array, ""]
    """The first step of the generation."""


def start_learner(model: Model) -> Learner:
    adam = optax.scale_by_adam().init(model)  # type: ignore[arg-type]
    return Learner(model, adam, model, jnp.float32(-1), jnp.int32(-1))  # type: ignore[arg-type]


def advance(
    program: Program, learner: Learner, seed: Int[Array, ""], batches: tuple[Array, ...], data: Data
) -> tuple[Learner, Progress]:
    """Takes the steps of a stretch; `batches` are this seed's rows of the schedules, by task."""
    config = program.config
    none = jnp.full(len(config.tasks), jnp.nan)

    def one_step(learner: Learner, step: Array) -> tuple[Learner, Progress]:
        key = jax.random.fold_in(jax.random.key(seed), step)
        losses = []
        for number, plan in enumerate(program.plans):
            place = step - data.offset
            learn = [
                functools.partial(_learn, config, plan, time, data.pools[number][size])
                for size, time in plan.branches
            ]
            learner, of_task = jax.lax.switch(
                data.branches[number][place],
                learn,
                learner,
                batches[number][place],
                jax.random.fold_in(key, number),
            )
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
        if at_once == 1:
            return jax.lax.map(lambda own: one(own, shared), per_seed)
        return jax.lax.map(lambda own: one(own, shared), per_seed, batch_size=at_once)

    if mesh.size == 1:
        return of_device(per_seed, shared)
    seeds, everywhere = PartitionSpec(mesh.axis_names[0]), PartitionSpec()
    return jax.shard_map(
        of_device, mesh=mesh, in_specs=(seeds, everywhere), out_specs=seeds, check_vma=False
    )(per_seed, shared)


def expand(network: Network, arrays: BatchArrays) -> BatchArrays:
    """Compact arrays in the types that the network reads."""

    def convert(feature: Feature, array: Array) -> Array:
        pointers = feature.kind in (Kind.POINTER, Kind.PERMUTATION)
        return array.astype(jnp.int32 if pointers else network.dtype)

    by_stage = (
        {f.name: convert(f, given[f.name]) for f in network.at(stage)}
        for stage, given in zip((Stage.INPUT, Stage.HINT, Stage.OUTPUT), arrays[:3], strict=True)
    )
    return BatchArrays(*by_stage, lengths=arrays.lengths)


def scores_on(network: Network, arrays: BatchArrays) -> dict[str, Float[Array, ""]]:
    """The score of each output on compact arrays, and their mean as "score"."""
    scores = scores_inside(network, expand(network, arrays))
    return scores | {"score": jnp.stack(list(scores.values())).mean()}


def _learn(
    config: TrainingConfig,
    plan: TaskPlan,
    time: int,
    pool: BatchArrays,
    learner: Learner,
    index: Int[Array, ""],
    key: PRNGKeyArray,
) -> tuple[Learner, Float[Array, ""]]:
    """One step on one task, on the batch at this index of the pool, cut to this length of time."""
    arrays = jax.tree.map(lambda of_all: of_all[index], pool)
    arrays = arrays._replace(hints={name: a[:, :time] for name, a in arrays.hints.items()})
    part = learner.model.only(plan.task)
    arrays = expand(part.network(plan.task), arrays)

    def objective(part: Model) -> tuple[Array, Array]:
        network = part.network(plan.task)
        of_batch = loss(network, arrays, _noise(config, network, arrays, key))
        squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(part))
        return of_batch + config.regularisation * squares, of_batch

    gradient, of_batch = jax.grad(objective, has_aux=True)(part)
    moments = learner.moments
    own_moments = moments._replace(mu=moments.mu.only(plan.task), nu=moments.nu.only(plan.task))
    cut = optax.clip_by_global_norm(config.clip) if config.clip else optax.identity()
    clipped, _ = cut.update(gradient, cut.init(part))
    direction, own_moments = optax.scale_by_adam().update(clipped, own_moments)
    part = jax.tree_util.tree_map_with_path(
        lambda path, weight, by: (
            weight if is_frozen(config, path) else weight - config.learning_rate * by
        ),
        part,
        direction,
    )
    moments = own_moments._replace(
        mu=moments.mu.updated(own_moments.mu), nu=moments.nu.updated(own_moments.nu)
    )
    return learner._replace(model=learner.model.updated(part), moments=moments), of_batch


def is_frozen(config: TrainingConfig, path: tuple) -> bool:
    """Whether the weight at this path of a model stays as it is."""
    name = weight_name(path)
    return any(name == start or name.startswith(f"{start}.") for start in config.freeze)


def weight_name(path: tuple) -> str:
    """The name of a model's weight within its network."""
    name = leaf_name(path)
    return name.split(".", 2)[2] if name.startswith("parts.") else name


def _noise(
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
    validation: tuple[BatchArrays, ...],
    learner: Learner,
    step: Array,
    key: PRNGKeyArray,
) -> tuple[Learner, Float[Array, " task"]]:
    """Scores the network as dm-clrs does, and keeps its weights if they are the best so far."""
    scores = []
    for number, (plan, arrays) in enumerate(zip(program.plans, validation, strict=True)):
        drawn = _draw_again(program.config, arrays, jax.random.fold_in(key, number))
        scores.append(scores_on(learner.model.network(plan.task), drawn)["score"])
    of_all = jnp.stack(scores)
    total = of_all.sum()
    better = (total > learner.best_score) | (step == 0)
    best = jax.tree.map(lambda new, old: jnp.where(better, new, old), learner.model, learner.best)
    return learner._replace(
        best=best,
        best_score=jnp.where(better, total, learner.best_score),
        best_step=jnp.where(better, step.astype(jnp.int32), learner.best_step),
    ), of_all


def _draw_again(config: TrainingConfig, arrays: BatchArrays, key: PRNGKeyArray) -> BatchArrays:
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
