"""The weights from which a training of graph networks starts."""

import dataclasses
import functools

import jax
import jax.numpy as jnp

from algoscope.errors import ConfigError
from algoscope.networks import Network, WeightsError, arrays, with_arrays
from algoscope.training.model import model_of, start_model
from algoscope.training.optimiser import Learner, start_learner
from algoscope.training.plan import TrainingPlan


def start_learners(plan: TrainingPlan, start: Network | None = None) -> Learner:
    """One learner for each seed, along a first axis; all from the same weights if given."""
    config, layout = plan.config, plan.layout
    if start is not None:
        _check_start(plan, start)
        vectors = layout.pack(model_of({plan.tasks[0].task: start}))
        weights = jax.tree.map(lambda vector: jnp.repeat(vector[None], config.seeds, 0), vectors)
    else:
        begin = functools.partial(start_model, dict(layout.features), config.network)
        seeds = jnp.asarray(config.all_seeds, jnp.uint32)
        weights = jax.jit(jax.vmap(lambda seed: layout.pack(begin(jax.random.key(seed)))))(seeds)
    return jax.vmap(functools.partial(start_learner, validated=True))(weights)


def learner_shapes(plan: TrainingPlan) -> Learner:
    """The shapes of what `start_learners` gives."""
    return jax.eval_shape(functools.partial(start_learners, plan))


def _check_start(plan: TrainingPlan, start: Network) -> None:
    config, (first, *others) = plan.config, plan.tasks
    if others:
        raise ConfigError(
            f"start: got weights of one network and the tasks {', '.join(config.tasks)}, "
            "needed one task"
        )
    ours, theirs = dataclasses.asdict(config.network), dataclasses.asdict(start.config)
    faults = [
        f"network.{name}: got {ours[name]!r}, needed {theirs[name]!r}, as in the given weights"
        for name in ours
        if ours[name] != theirs[name]
    ]
    if set(start.features) != set(first.features):
        names = ", ".join(f.name for f in start.features)
        needed = ", ".join(f.name for f in first.features)
        faults.append(f"start: got weights for the features {names}; {first.task} needs {needed}")
    if faults:
        raise WeightsError("the weights to start from do not fit:\n" + "\n".join(faults))
    with_arrays(start, arrays(start))
