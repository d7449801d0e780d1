"""Model: the networks of all tasks with the one processor that they share.

This is what is trained. Its parts per task are networks without a processor; `network` puts the
shared one back, which gives an ordinary network.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from algoscope.networks import Network, NetworkConfig, build
from algoscope.networks.ensemble import Ensemble
from algoscope.networks.processors import Processor
from algoscope.tasks import Feature


class Model(eqx.Module):
    processor: Processor | tuple[Processor, ...]
    parts: dict[str, Network]
    """By task, without a processor."""

    def network(self, task: str) -> Network:
        return dataclasses.replace(self.parts[task], processor=self.processor)

    def only(self, task: str) -> "Model":
        """What a step on this task trains."""
        return Model(self.processor, {task: self.parts[task]})

    def updated(self, part: "Model") -> "Model":
        return Model(part.processor, self.parts | part.parts)


def model_of(networks: Mapping[str, Network]) -> Model:
    """The model of networks that share the processor of the first."""
    first = next(iter(networks.values()))
    return Model(
        first.processor,
        {task: dataclasses.replace(n, processor=()) for task, n in networks.items()},
    )


def start_model(
    features: Mapping[str, Sequence[Feature]], config: NetworkConfig, key: PRNGKeyArray
) -> Model:
    keys = jax.random.split(key, len(features))
    return model_of(
        {
            task: build(of, config, key=k)
            for (task, of), k in zip(features.items(), keys, strict=True)
        }
    )


def ensemble_of(model: Model, seeds: Sequence[int]) -> Ensemble:
    """The ensemble of a model with a seed axis."""
    return Ensemble({task: model.network(task) for task in model.parts}, tuple(seeds))


def stacked(model: Model, count: int) -> Model:
    """The model `count` times, along a new seed axis."""
    return jax.tree.map(lambda leaf: jnp.repeat(leaf[None], count, 0), model)
