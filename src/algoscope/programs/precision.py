"""The constants that a program is compiled with, for each floating-point format."""

from typing import NamedTuple

MASK_SHARPNESS = 2.0**10
"""The logit of a mask is this times (value - 1/2)."""
SCALAR_TOLERANCE = 1e-5
"""Scalars that differ by no more than this are the same."""
_BELOW_MASK = 0.9


class Precision(NamedTuple):
    rounding: float
    """The largest relative error of rounding to nearest."""
    silence: float
    """A logit that is lower by this has no weight in a softmax: its exponential is 0."""
    sharpness: float
    """The factor of scores in the logits, unless the mask asks for less."""
    mask: float
    """Logit penalty for non-neighbours; 1e9 in dm-clrs."""
    resolution: float
    """`N` of the language: positions are equal, or at least 1 / N apart."""
    masks: float = MASK_SHARPNESS
    """The factor of masks and classes in their logits."""

    @property
    def largest_logit(self) -> float:
        """No score of at most this makes up for a missing edge."""
        return _BELOW_MASK * self.mask


FLOAT32 = Precision(2.0**-24, 104.0, 2.0**30, 1e9, 2.0**18)
FLOAT64 = Precision(2.0**-53, 746.0, 2.0**44, 2.0**100, 2.0**34)
