"""Model: the networks of all tasks with the one processor that they share.

Training holds a model as a few flat vectors, one for the processor and one for each task, so that
an optimiser's step, a checkpoint and the choice of the best weights are a few operations each.
"""

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray, Shaped

from algoscope.errors import unknown_name
from algoscope.networks import Network, NetworkConfig, arrays, build
from algoscope.networks.processors import Processor
from algoscope.tasks import Feature

PROCESSOR = "processor"
Vectors = dict[str, Shaped[Array, "..."]]
"""[weights] of the processor by that name, and of the encoders and decoders of each task; with an
axis of seeds in front where there are several."""


class Model(eqx.Module):
    processor: Processor | tuple[Processor, ...]
    parts: dict[str, Network]
    """By task, without a processor."""

    def network(self, task: str) -> Network:
        return dataclasses.replace(self.parts[task], processor=self.processor)

    def names(self) -> set[str]:
        """The names of all weights."""
        return {name for task in self.parts for name in arrays(self.network(task))}


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
            task: build(task_features, config, key=task_key)
            for (task, task_features), task_key in zip(features.items(), keys, strict=True)
        }
    )


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where each weight of a model lies in its vectors."""

    features: tuple[tuple[str, tuple[Feature, ...]], ...]
    """Of each task."""
    config: NetworkConfig

    @functools.cached_property
    def shapes(self) -> Model:
        """The model with shapes in place of arrays: once, since each program to compile asks."""
        start = functools.partial(start_model, dict(self.features), self.config)
        return jax.eval_shape(lambda: start(jax.random.key(0)))

    def pack(self, model: Model) -> Vectors:
        vectors = {PROCESSOR: ravel_pytree(model.processor)[0]}
        return vectors | {task: ravel_pytree(part)[0] for task, part in model.parts.items()}

    def unpack(self, vectors: Vectors) -> Model:
        """The model of the tasks that the vectors are of."""
        shapes = self.shapes
        parts = {t: _unravel(p, vectors[t]) for t, p in shapes.parts.items() if t in vectors}
        return Model(_unravel(shapes.processor, vectors[PROCESSOR]), parts)

    def where(self, chosen: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Masks, in the form of the vectors, of the weights whose names begin so."""
        shapes = self.shapes
        masks = {}
        for task in shapes.parts:
            parts: dict[str, list[np.ndarray]] = {PROCESSOR: [], task: []}
            for name, array in arrays(shapes.network(task)).items():
                vector = PROCESSOR if name.startswith(f"{PROCESSOR}.") else task
                parts[vector].append(np.full(array.size, begins_with(name, chosen)))
            masks |= {vector: np.concatenate(pieces) for vector, pieces in parts.items()}
        return masks


def _unravel(shapes: Any, vector: Array) -> Any:
    leaves, structure = jax.tree.flatten(shapes)
    ends = np.cumsum([leaf.size for leaf in leaves])
    pieces = [
        jax.lax.slice_in_dim(vector, int(end) - leaf.size, int(end)).reshape(leaf.shape)
        for leaf, end in zip(leaves, ends, strict=True)
    ]
    return jax.tree.unflatten(structure, pieces)


def name_faults(what: str, prefixes: tuple[str, ...], names: set[str]) -> list[str]:
    """The prefixes that no weight's dotted name begins with."""
    known = {p for name in names for p in itertools.accumulate(name.split("."), "{}.{}".format)}
    return [unknown_name(what, prefix, known) for prefix in prefixes if prefix not in known]


def begins_with(name: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a weight's dotted name begins with one of these."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)
