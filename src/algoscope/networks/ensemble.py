"""Ensemble: networks that differ in their seed alone, as one with a seed axis on every array."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from algoscope.networks.network import Network
from algoscope.networks.weights import arrays


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
