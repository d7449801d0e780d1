"""Starting: the weights from which training sets out."""

import dataclasses
import functools

import jax
import jax.numpy as jnp

from algoscope.errors import unknown_name
from algoscope.networks import ConfigError, Network, WeightsError, arrays, with_arrays
from algoscope.training.config import TrainingConfig
from algoscope.training.learning import Learner, layout_of, start_learner
from algoscope.training.model import model_of, same_for_all, start_model
from algoscope.training.pool import TaskPlan


def start_learners(
    config: TrainingConfig, plans: tuple[TaskPlan, ...], given: Network | None
) -> Learner:
    layout = layout_of(config, plans)
    if given is not None:
        _check_given(config, plans, given)
        weights = same_for_all(layout.pack(model_of({plans[0].task: given})), config.seeds)
    else:
        begin = functools.partial(start_model, dict(layout.features), config.network)
        seeds = jnp.asarray(config.all_seeds, jnp.uint32)
        weights = jax.jit(jax.vmap(lambda seed: layout.pack(begin(jax.random.key(seed)))))(seeds)
    return jax.vmap(start_learner)(weights)


def _check_given(config: TrainingConfig, plans: tuple[TaskPlan, ...], given: Network) -> None:
    if len(plans) != 1:
        raise ConfigError(
            f"start: got weights of one network and the tasks {', '.join(config.tasks)}, "
            "needed one task"
        )
    faults = []
    if given.config != config.network:
        ours, theirs = dataclasses.asdict(config.network), dataclasses.asdict(given.config)
        faults += [
            f"network.{name}: got {ours[name]!r}, needed {theirs[name]!r}, as in the given weights"
            for name in ours
            if ours[name] != theirs[name]
        ]
    if set(given.features) != set(plans[0].features):
        names = ", ".join(f.name for f in given.features)
        needed = ", ".join(f.name for f in plans[0].features)
        faults.append(
            f"start: got weights for the features {names}; {plans[0].task} needs {needed}"
        )
    if faults:
        raise WeightsError("the weights to start from do not fit:\n" + "\n".join(faults))
    with_arrays(given, arrays(given))


def check_freeze(config: TrainingConfig, plans: tuple[TaskPlan, ...]) -> None:
    known = {
        ".".join(name.split(".")[:depth])
        for name in layout_of(config, plans).names()
        for depth in range(1, name.count(".") + 2)
    }
    faults = [unknown_name("weights to freeze", f, known) for f in config.freeze if f not in known]
    if faults:
        raise ConfigError("\n".join(faults))
