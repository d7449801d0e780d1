"""Parameters and noise by rule: both sides of a comparison have them, and no file needs to."""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from algoscope import networks

_PROJECTIONS = 16
_GAIN = 0.8
"""Below 1, so that the network does not amplify rounding errors from step to step."""


def _draws(name: str, draw: int) -> np.random.RandomState:
    return np.random.RandomState(zlib.crc32(f"{draw} {name}".encode()))


def with_rule(network: networks.Network, draw: int) -> networks.Network:
    """The network with the weights of the given draw."""
    named = {}
    for name, array in networks.arrays(network).items():
        normal = _draws(name, draw).normal(size=array.shape)
        if name.endswith("weight"):
            named[name] = _GAIN * normal / np.sqrt(array.shape[0])
        else:
            named[name] = 0.3 * normal + name.endswith("scale")
    return networks.with_arrays(network, named)


def gumbel(batch: int, nodes: int, draw: int) -> np.ndarray:
    """Noise for permutation logits: [batch, nodes, nodes]."""
    return _draws("gumbel", draw).gumbel(size=(batch, nodes, nodes))


def gradient_entries(gradient: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """What is compared of a gradient: to keep files small, 16 random projections of each array,
    sums over its entries with random signs, and all of the arrays that are no larger."""
    entries = {}
    for name, array in gradient.items():
        values = np.asarray(array)
        if values.size > _PROJECTIONS:
            signs = _draws(name, 0).choice([-1.0, 1.0], (values.size, _PROJECTIONS))
            values = values.reshape(-1).astype(np.float64) @ signs / np.sqrt(values.size)
        entries[f"gradient.{name}"] = values
    return entries
