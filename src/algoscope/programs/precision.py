"""The constants that a program is compiled with, for each floating-point format."""

from typing import NamedTuple


class Precision(NamedTuple):
    rounding: float
    """The largest relative error of rounding to nearest."""
    silence: float
    """A logit that is behind by this has no weight in a softmax: its exponential is 0."""
    sharpness: float
    """The factor of scores in the logits, unless the mask asks for less."""
    mask: float
    """How far behind the network's softmax puts who is no neighbour; 1e9 in dm-clrs."""
    resolution: float
    """`N` of the language: positions are equal, or at least 1 / N apart."""


LEAKY_SLOPE = 0.01
"""Of the LeakyReLU in attention logits, below 0."""
FLOAT32 = Precision(2.0**-24, 104.0, 2.0**30, 1e9, 2.0**18)
FLOAT64 = Precision(2.0**-53, 746.0, 2.0**44, 2.0**100, 2.0**34)
