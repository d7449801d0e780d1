"""Arithmetic of float32 with bounds: a value, and how far a network's can be from it at most.

A sum is exact where its terms lie on a common grid that float32 can hold, and else off by one
rounding a term (running error analysis).
"""

import math
from collections.abc import Iterator

import numpy as np

from algoscope.networks.layers import LEAKY_SLOPE
from algoscope.programs.precision import FLOAT32


class Approximate:
    """A value, and how far the network's can be from it at most."""

    __slots__ = ("_whole", "error", "sign", "value")

    def __init__(
        self, value: np.ndarray, error: np.ndarray, *, whole: bool | None = None, sign: int = 0
    ):
        self.value, self.error, self._whole = value, error, whole
        self.sign = sign
        """1 or -1 if the network's can be on that side of 0 alone, whatever its error."""

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.value, self.error))

    @property
    def whole(self) -> bool:
        """Whether it is known without error, and a whole number: sums of these are exact."""
        if self._whole is None:
            self._whole = not self.error.any() and bool((self.value == np.rint(self.value)).all())
        return self._whole

    def at(self, chosen: np.ndarray) -> "Approximate":
        """[batch, sender] -> [batch, receiver]"""
        samples = np.arange(len(chosen))[:, None]
        value, error = self.value[samples, chosen], self.error[samples, chosen]
        return Approximate(value, error, whole=self._whole or None, sign=self.sign)


def scaled(number: Approximate, factor: float) -> Approximate:
    """A product by a power of two is exact."""
    value, sign = number.value * factor, number.sign * (1 if factor > 0 else -1)
    if abs(math.frexp(factor)[0]) == 0.5:
        # Of a whole number, all of whose multiples by whole numbers are.
        whole = (number.whole and factor == round(factor)) or None
        error = number.error if whole else abs(factor) * number.error
        return Approximate(value, error, whole=whole, sign=sign)
    error = abs(factor) * number.error + FLOAT32.rounding * np.abs(value)
    return Approximate(value, error, sign=sign)


def added(parts: list[Approximate]) -> Approximate:
    """The sum in any order: exact on a common grid, else off by a rounding for each addition."""
    if len(parts) == 1:
        return parts[0]
    if all(part.whole for part in parts):
        total = np.asarray(sum(part.value for part in parts))
        return Approximate(total, np.zeros_like(total), whole=True)
    total, error = parts[0]
    positive, negative = np.maximum(total, 0.0), np.maximum(-total, 0.0)
    grid, count = _grid(parts[0]), (total != 0).astype(int)
    for part in parts[1:]:
        value = part.value
        if part.whole and not value.any():
            continue
        total, error = total + value, error + part.error
        positive = positive + np.maximum(value, 0.0)
        negative = negative + np.maximum(-value, 0.0)
        grid, count = np.minimum(grid, _grid(part)), count + (value != 0)
    partial = np.maximum(positive, negative)  # No sum of some of the terms is larger than this.
    partial = np.where(count <= 2, np.abs(total), partial)
    exact = (error == 0) & (partial <= grid / FLOAT32.rounding)
    roundings = FLOAT32.rounding * np.maximum(count - 1, 0) * (partial + error)
    return Approximate(total, error + np.where(exact, 0.0, roundings))


def range_of(total: Approximate, parts: list[Approximate]) -> tuple[np.ndarray, np.ndarray]:
    """Between which numbers the network's sum of the parts is. A part that is on one side of 0
    alone, p (1 + d) with p <= 0 and a rounding d, adds at most -|p| (1 - d) for the least |p|."""
    low, high = total.value - total.error, total.value + total.error
    if not any(part.sign and (part.error > np.abs(part.value)).any() for part in parts):
        return low, high
    rounding = FLOAT32.rounding * len(parts)
    least, most = np.zeros_like(low), np.zeros_like(high)
    for part in parts:
        size = np.abs(part.value)
        nearest = np.maximum(size - part.error, 0.0) * (1 - rounding)
        off = part.error + rounding * (size + part.error)
        least = least + (nearest if part.sign > 0 else part.value - off)
        most = most + (-nearest if part.sign < 0 else part.value + off)
    return np.maximum(low, least), np.minimum(high, most)


def added_pairs(parts: list[Approximate]) -> Approximate:
    """The same for pairs of nodes, without the search for grids."""
    if len(parts) == 1:
        return parts[0]
    total, error = (np.asarray(sum(arrays)) for arrays in zip(*parts, strict=True))
    size = np.abs(total) if len(parts) == 2 else sum(np.abs(part.value) for part in parts)
    roundings = FLOAT32.rounding * (len(parts) - 1) * (size + error)
    return Approximate(total, error + roundings)


def _grid(number: Approximate) -> np.ndarray:
    """The largest power of two that the value is a multiple of; infinite for 0."""
    value = np.ascontiguousarray(number.value, float)
    bits = value.view(np.int64)
    mantissa, exponent = (bits & (2**52 - 1)) | 2**52, (bits >> 52) & 0x7FF
    grid = np.ldexp((mantissa & -mantissa).astype(float), (exponent - 1075).astype(np.int32))
    return np.where(value == 0, np.inf, grid)


def leaky(number: Approximate) -> Approximate:
    slope = np.where(number.value < -number.error, LEAKY_SLOPE, 1.0)
    value = np.where(number.value < 0, LEAKY_SLOPE * number.value, number.value)
    rounding = np.where(number.value < 0, FLOAT32.rounding * np.abs(value), 0.0)
    return Approximate(value, slope * number.error + rounding)


def is_ahead(logit: Approximate, winner: np.ndarray) -> np.ndarray:
    """Whether the winner's logit is the largest for sure. logit [..., n], winner [...]"""
    winner = winner[..., None]
    best, off = (np.take_along_axis(array, winner, -1) for array in logit)
    behind = best - logit.value > off + logit.error
    np.put_along_axis(behind, winner, True, -1)
    return np.asarray(behind.all(-1))
