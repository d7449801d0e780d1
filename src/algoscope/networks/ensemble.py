"""Ensemble: networks that differ in their seed alone, as one with a seed axis on every array."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from algoscope.networks.network import Network
from algoscope.networks.weights import arrays
from algoscope.tasks import Batch

_ARRAYS, _NUMBER_BYTES, _PART_OF_MEMORY = 4, 4, 0.3
"""A step of a network holds about so many arrays of pairs of nodes; how much of the memory they and
the trace may take."""
_HOST_MEMORY = 2**30
"""A CPU has more, but its caches serve few networks at a time better."""


class Ensemble(eqx.Module):
    """`ensemble[k]` is an ordinary network; `jax.vmap` over `ensemble.networks[task]` runs all."""

    networks: dict[str, Network]
    """By task; each array has a leading seed axis. Several tasks share one processor."""
    seeds: tuple[int, ...] = eqx.field(static=True)
    """The seed behind each index of that axis."""

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.networks)

    @property
    def network(self) -> Network:
        """The stacked network of an ensemble with one task."""
        if len(self.networks) != 1:
            raise ValueError(
                f"ensemble: got one with the tasks {', '.join(self.networks)}, needed a choice "
                "among them: ensemble.networks[task]"
            )
        return next(iter(self.networks.values()))

    def __len__(self) -> int:
        return len(self.seeds)

    def __getitem__(self, index: int) -> Network:
        """The network at this index, of an ensemble with one task."""
        return self.member(index)

    def member(self, index: int, task: str | None = None) -> Network:
        if not -len(self) <= index < len(self):
            raise IndexError(f"ensemble: got index {index}, needed one of its {len(self)} networks")
        network = self.network if task is None else self.networks[task]
        return jax.tree.map(lambda stacked: stacked[index], network)

    @staticmethod
    def of(members: Sequence[Network], task: str, seeds: Sequence[int]) -> "Ensemble":
        """An ensemble of networks that have the same configuration."""
        if not members or len(members) != len(seeds):
            raise ValueError(
                f"ensemble: got {len(members)} networks and {len(seeds)} seeds, needed as many of "
                "the one as of the other, and at least one"
            )
        shapes = [{name: a.shape for name, a in arrays(member).items()} for member in members]
        odd = [seed for seed, shape in zip(seeds, shapes, strict=True) if shape != shapes[0]]
        if odd:
            raise ValueError(f"ensemble: got networks of other shapes for the seeds {odd}")
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *members)
        return Ensemble({task: stacked}, tuple(seeds))


def side_by_side(stacked: Network, batch: Batch) -> int:
    """How many of the networks, which are stacked along a first axis of every array, run on the
    batch at once: as many as the memory holds, and a divisor of their number."""
    device, count = jax.local_devices()[0], len(jax.tree.leaves(stacked)[0])
    memory = (device.memory_stats() or {}).get("bytes_limit", _HOST_MEMORY)
    nodes, width = len(batch) * batch.nodes, stacked.config.width
    pairs = _ARRAYS * nodes * batch.nodes * width
    trace = nodes * batch.steps * (batch.nodes + width)
    fit = max(1, int(_PART_OF_MEMORY * memory / (_NUMBER_BYTES * (pairs + trace))))
    return max(d for d in range(1, min(count, fit) + 1) if count % d == 0)


def one_by_one(
    run: Callable[[Network, Batch], Any], stacked: Network, batch: Batch
) -> Iterator[Any]:
    """What `run` gives of the stacked networks as many at a time as fit, [network, …] each, one
    network after the other; on the host, so that no more is held on the device."""
    count, at_once = len(jax.tree.leaves(stacked)[0]), side_by_side(stacked, batch)
    for start in range(0, count, at_once):
        some = jax.tree.map(lambda array, k=start: array[k : k + at_once], stacked)
        results = jax.device_get(run(some, batch))
        for k in range(at_once):
            yield jax.tree.map(lambda array, k=k: array[k], results)
