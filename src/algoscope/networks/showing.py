"""What a network shows on many problems, without what happens inside: for verification.

A run is made in portions of a few steps, each from where the last one ended, so that one compiled
program serves problems of all lengths, attention and logits of all steps never exist at once, and
a problem is followed no further than its last step. Problems of like length go together.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from algoscope.networks.lean import lean
from algoscope.networks.network import Network, Start
from algoscope.networks.running import Path, fast_path, to_device, trajectories
from algoscope.tasks import Batch, Kind, Location

_STEPS_AT_ONCE = 32
_NUMBERS_AT_ONCE = 2**22
"""How many numbers a hint of all steps of a portion may have, about."""
_LOGITS_AT_ONCE = 2**25
"""And how many logits, where edges point."""

Account = dict[str, np.ndarray]
"""Hints [batch, step, …] and outputs [batch, …] by name, in the form of a batch."""


class Showing(NamedTuple):
    """How a network is run on the parts of a batch: all have one shape, which is compiled once."""

    network: Network
    batch: Batch
    steps: int
    """Of a portion."""
    most: int
    """Samples of a part."""

    @staticmethod
    def of(network: Network, batch: Batch, most: int | None = None) -> "Showing":
        steps = min(_STEPS_AT_ONCE, batch.steps)
        if most is None:
            points = any(
                (f.location, f.kind) == (Location.EDGE, Kind.POINTER) for f in network.features
            )
            most = max(1, _NUMBERS_AT_ONCE // (steps * batch.nodes**2))
            if points:
                most = min(most, max(1, _LOGITS_AT_ONCE // (steps * batch.nodes**3)))
        return Showing(lean(network), batch, steps, min(most, len(batch)))

    @property
    def parts(self) -> list[np.ndarray]:
        """The samples, those of about the same length together."""
        order = np.argsort(np.asarray(self.batch.lengths), kind="stable")
        return np.array_split(order, -(-len(order) // self.most))

    def part(self, samples: np.ndarray) -> Account:
        """Of some samples, portion by portion, up to the end of the longest."""
        batch = self.batch.take(np.resize(samples, self.most))
        lengths = np.asarray(batch.lengths)
        longest, last = max(1, int(lengths.max()) - 1), np.maximum(lengths - 2, 0)
        short = {name: hint[:, : self.steps + 1] for name, hint in batch.hints.items()}
        problem = to_device(self.network, dataclasses.replace(batch, hints=short))
        start = _beginning(self.network, problem)
        hints: list[Account] = []
        outputs: Account = {}
        for first in range(0, longest, self.steps):
            left = dataclasses.replace(problem, lengths=jnp.asarray(lengths - first, jnp.int32))
            made, answers, start = _portion(self.network, left, start, fast_path())
            hints.append({name: np.asarray(values) for name, values in made.items()})
            ends = (first <= last) & (last < first + self.steps)
            for name, values in answers.items():
                kept = outputs.setdefault(name, np.zeros(values.shape, values.dtype))
                kept[ends] = np.asarray(values)[ends]
        joined = {n: np.concatenate([some[n] for some in hints], 1)[:, :longest] for n in hints[0]}
        return {name: values[: len(samples)] for name, values in (joined | outputs).items()}


def _beginning(network: Network, problem: Batch) -> Start:
    shape = (*problem.inputs["pos"].shape, network.config.width)
    read = problem.hints if network.config.encode_hints else {}
    first = network.values({name: hint[:, 0] for name, hint in read.items()})
    return Start(jnp.zeros(shape, network.dtype), first)


@functools.partial(jax.jit, static_argnames="path")
def _portion(
    network: Network, problem: Batch, start: Start, path: Path
) -> tuple[dict[str, Any], dict[str, Any], Start]:
    """Hints, outputs, and what is left to the next portion."""
    trajectory = trajectories(network, problem, start=start, path=path)
    ended = {
        name: jax.tree.map(lambda x: x[:, -1], each) for name, each in trajectory.hints.items()
    }
    fed_back = network.feed_back(ended, network.config.feeds_back_hard(training=False))
    return (
        network.decide(trajectory.hints),
        network.decide(trajectory.outputs),
        Start(trajectory.hidden[:, -1], fed_back),
    )
