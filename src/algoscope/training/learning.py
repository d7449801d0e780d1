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
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float, Int, Integer, PRNGKeyArray

from algoscope.networks import Network, Noise, Path, to_device, trajectories
from algoscope.networks.objective import scores_inside
from algoscope.tasks import Batch, Kind
from algoscope.training.config import TrainingConfig
from algoscope.training.model import PROCESSOR, Layout, Model, Vectors
from algoscope.training.objectives import Attempt
from algoscope.training.optimiser import Adam, Best, Learner
from algoscope.training.pool import Material


@dataclasses.dataclass(frozen=True)
class Lesson:
    """A step on one task with a batch of one shape."""

    config: TrainingConfig
    layout: Layout
    task: str
    nodes: int
    time: int
    """The length of time that the batch's traces are cut to."""
    path: Path | None = None
    """How the network is computed; None for the fast path of the device that JAX uses."""

    def __call__(
        self,
        learner: Learner,
        seed: Integer[Array, ""],
        batch: Int[Array, ""],
        step: Int[Array, ""],
        pool: Material,
    ) -> tuple[Learner, Float[Array, ""]]:
        """The learner after it, and the loss; `batch` is an index of the pool."""
        config = self.config
        key = jax.random.fold_in(_key(seed, step), config.tasks.index(self.task))
        names = (PROCESSOR, self.task)
        material = Material(
            pool.batch.take(batch), jax.tree.map(lambda target: target[batch], pool.targets)
        )
        loss, gradient = self._gradient(_only(names, learner.weights), material, step, key)
        frozen = _only(names, self.layout.where(config.freeze)) if config.freeze else None
        return learn(self.adam, learner, gradient, frozen), loss

    @property
    def adam(self) -> Adam:
        # It counts the steps of all tasks.
        config, turns = self.config, len(self.config.tasks)
        warmup, steps = turns * config.warmup, turns * config.steps
        return Adam(config.learning_rate, config.clip, warmup=warmup, steps=steps)

    def _gradient(
        self, weights: Vectors, material: Material, step: Int[Array, ""], key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Vectors]:
        config, layout = self.config, self.layout
        chosen = material.batch
        hints = {name: array[:, : self.time] for name, array in chosen.hints.items()}
        # By the model's arrays instead of the vectors: the gradient of a slice is a vector of its
        # own, mostly zeros.
        model = layout.unpack(weights)
        arrays = to_device(model.network(self.task), dataclasses.replace(chosen, hints=hints))

        def objective(model: Model) -> Array:
            network = model.network(self.task)
            noise = noise_of(config, network, arrays, key)
            run = trajectories(network, arrays, noise, training=True, path=self.path)
            total = jnp.zeros((), network.dtype)
            for objective, weight in config.objectives:
                target = material.targets.get(objective.name)
                for term in objective.terms(Attempt(network, arrays, run, target, self.path)):
                    total += weight.times(term, step)
            return total

        value, gradient = jax.value_and_grad(objective)(model)
        gradient = layout.pack(gradient)
        if config.regularisation:
            factor = 2 * config.regularisation
            gradient = jax.tree.map(lambda g, w: g + factor * w, gradient, weights)
        return value, gradient


def _key(seed: Integer[Array, ""], step: Int[Array, ""]) -> PRNGKeyArray:
    return jax.random.fold_in(jax.random.key(seed), step)


def _only(names: Sequence[str], vectors: dict[str, Any]) -> dict[str, Any]:
    return {name: vectors[name] for name in names}


def learn(
    adam: Adam, learner: Learner, gradient: Vectors, frozen: dict[str, np.ndarray] | None = None
) -> Learner:
    """A step of Adam on the vectors of one task; those of others keep their weights and moments."""
    trees = ("weights", "mean", "square")
    part = {name: _only(tuple(gradient), getattr(learner, name)) for name in trees}
    after = adam.step(learner._replace(**part), gradient, frozen)
    joined = {name: getattr(learner, name) | getattr(after, name) for name in trees}
    return learner._replace(count=after.count, **joined)


def over_seeds(
    one: Callable[[Any, Any], Any], per_seed: Any, shared: Any, mesh: Mesh, at_once: int
) -> Any:
    """one(per_seed[k], shared) for all k, as the module says; the number of seeds is a multiple of
    `at_once` times the number of devices."""

    def on_device(per_seed, shared):
        count = len(jax.tree.leaves(per_seed)[0])
        if at_once >= count:
            return jax.vmap(one, (0, None))(per_seed, shared)
        return jax.lax.map(lambda mine: one(mine, shared), per_seed, batch_size=at_once)

    if mesh.size == 1:
        return on_device(per_seed, shared)
    seeds, everywhere = PartitionSpec(mesh.axis_names[0]), PartitionSpec()
    return jax.shard_map(
        on_device, mesh=mesh, in_specs=(seeds, everywhere), out_specs=seeds, check_vma=False
    )(per_seed, shared)


def scores_on(
    layout: Layout, task: str, weights: Vectors, batch: Batch
) -> dict[str, Float[Array, ""]]:
    """The score of each output on a compact batch of a task, and their mean as "score"."""
    network = layout.unpack(_only((PROCESSOR, task), weights)).network(task)
    scores = scores_inside(network, to_device(network, batch))
    return scores | {"score": jnp.stack(list(scores.values())).mean()}


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
        self, learner: Learner, seed: Integer[Array, ""], step: Int[Array, ""], problems: Batch
    ) -> tuple[Learner, Float[Array, ""]]:
        """The learner as it was, and its score."""
        key = jax.random.fold_in(_key(seed, step), len(self.config.tasks))
        number = self.config.tasks.index(self.task)
        drawn = draw_again(self.config, problems, jax.random.fold_in(key, number))
        return learner, scores_on(self.layout, self.task, learner.weights, drawn)["score"]


def keep_best(
    learner: Learner, scores: tuple[Float[Array, ""], ...], step: Int[Array, ""]
) -> tuple[Learner, Float[Array, " task"]]:
    """The learner with its present weights as its best, if their score, summed over tasks, is
    higher than before; and the scores."""
    each, best = jnp.stack(scores), learner.best
    assert best is not None
    total = each.sum()
    better = (total > best.score) | (step == 0)
    present = Best(learner.weights, total, step.astype(jnp.int32))
    return learner._replace(best=jax.tree.map(partial(jnp.where, better), present, best)), each


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
