"""Parameters and noise by rule: both sides of a comparison have them, and no file needs to."""

import zlib

import numpy as np

from algoscope import networks


def _draws(name: str, draw: int) -> np.random.RandomState:
    return np.random.RandomState(zlib.crc32(f"{draw} {name}".encode()))


def with_rule(network: networks.Network, draw: int) -> networks.Network:
    """The network with the weights of the given draw."""
    named = {}
    for name, array in networks.arrays(network).items():
        normal = _draws(name, draw).normal(size=array.shape)
        if name.endswith("weight"):
            named[name] = normal / np.sqrt(array.shape[0])
        else:
            named[name] = 0.3 * normal + name.endswith("scale")
    return networks.with_arrays(network, named)


def gumbel(batch: int, nodes: int, draw: int) -> np.ndarray:
    """Noise for permutation logits: [batch, nodes, nodes]."""
    return _draws("gumbel", draw).gumbel(size=(batch, nodes, nodes))
