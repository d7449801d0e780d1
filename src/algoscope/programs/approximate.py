"""Arithmetic of float32 with bounds: a value, and how far a network's can be from it at most.

A sum is exact where its terms lie on a common grid that float32 can hold, and else off by one
rounding a term (running error analysis).
"""

from typing import NamedTuple

import numpy as np

from algoscope.networks.layers import LEAKY_SLOPE
from algoscope.programs.precision import FLOAT32


class Approximate(NamedTuple):
    """A value, and how far the network's can be from it at most."""

    value: np.ndarray
    error: np.ndarray

    def at(self, chosen: np.ndarray) -> "Approximate":
        """[batch, sender] -> [batch, receiver]"""
        return Approximate(*(np.take_along_axis(array, chosen, 1) for array in self))


def scaled(number: Approximate, factor: float) -> Approximate:
    """A product by a power of two is exact."""
    error = np.abs(factor) * number.error
    if np.frexp(factor)[0] not in (0.5, -0.5):
        error = error + FLOAT32.rounding * np.abs(factor * number.value)
    return Approximate(number.value * factor, error)


def added(parts: list[Approximate]) -> Approximate:
    """The sum in any order: exact on a common grid, else off by a rounding for each addition."""
    total, error = parts[0]
    if len(parts) == 1:
        return parts[0]
    if all(is_whole(part) for part in parts):
        return Approximate(np.asarray(sum(part.value for part in parts)), np.zeros_like(total))
    positive, negative = np.maximum(total, 0.0), np.maximum(-total, 0.0)
    grid, count = _grid(total), (total != 0).astype(int)
    for value, part_error in parts[1:]:
        total, error = total + value, error + part_error
        positive = positive + np.maximum(value, 0.0)
        negative = negative + np.maximum(-value, 0.0)
        grid, count = np.minimum(grid, _grid(value)), count + (value != 0)
    partial = np.maximum(positive, negative)  # No sum of some of the terms is larger than this.
    partial = np.where(count <= 2, np.abs(total), partial)
    exact = (error == 0) & (partial <= grid / FLOAT32.rounding)
    roundings = FLOAT32.rounding * np.maximum(count - 1, 0) * (partial + error)
    return Approximate(total, error + np.where(exact, 0.0, roundings))


def added_pairs(parts: list[Approximate]) -> Approximate:
    """The same for pairs of nodes, without the search for grids."""
    if len(parts) == 1:
        return parts[0]
    total, error = (np.asarray(sum(arrays)) for arrays in zip(*parts, strict=True))
    size = np.abs(total) if len(parts) == 2 else sum(np.abs(part.value) for part in parts)
    roundings = FLOAT32.rounding * (len(parts) - 1) * (size + error)
    return Approximate(total, error + roundings)


def is_whole(number: Approximate) -> bool:
    """Sums of whole numbers are exact."""
    return not number.error.any() and np.array_equal(number.value, np.round(number.value))


def _grid(value: np.ndarray) -> np.ndarray:
    """The largest power of two that the value is a multiple of; infinite for 0."""
    mantissa, exponent = np.frexp(value)
    whole = (mantissa * 2.0**53).astype(np.int64)
    return np.where(value == 0, np.inf, np.ldexp((whole & -whole).astype(float), exponent - 53))


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
