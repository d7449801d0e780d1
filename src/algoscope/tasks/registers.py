"""Registers: the flat store in which an algorithm keeps its variables, and the way out of it.

All features of one stage share one array of 64-bit words; each register is a view into it. To
record a step is to copy that array as the next row. Afterwards `dense` spreads the rows into one
padded array per feature.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope.tasks.compilation import cached
from algoscope.tasks.features import Feature

_WORD = 8


class _Place(NamedTuple):
    """Where a feature's register lies in a row, and the form in which it leaves it."""

    dtype: np.dtype
    first: int
    """The register's first element, in a row read as `dtype`."""
    length: int
    dense_dtype: np.dtype
    dense_shape: tuple[int, ...]
    one_hot: bool


class Registers:
    """The registers of some features, for a problem of `nodes` nodes."""

    words: np.ndarray
    """int64 [width]: the bytes of all registers."""
    scalars: np.ndarray
    """float64: all scalars, a view into `words`."""
    views: dict[str, np.ndarray]
    """Each feature's register: a view into `words`."""

    def __init__(self, features: Sequence[Feature], nodes: int):
        places = {}
        end = 0
        # Wide types first, so that every register is aligned.
        for f in sorted(features, key=lambda f: -f.register_dtype.itemsize):
            dtype, length = f.register_dtype, math.prod(f.register_shape(nodes))
            dense_shape = f.dense_shape(nodes)
            first = end // dtype.itemsize
            places[f.name] = _Place(dtype, first, length, f.dense_dtype, dense_shape, f.one_hot)
            end += dtype.itemsize * length
        self._places = {f.name: places[f.name] for f in features}
        self.words = np.zeros(-(-end // _WORD), np.int64)
        scalars = sum(place.length for place in places.values() if place.dtype == np.float64)
        self.scalars = self.words[:scalars].view(np.float64)
        self.views = {}
        for f in features:
            dtype, first, length, *_ = places[f.name]
            register = self.words.view(dtype)[first : first + length]
            self.views[f.name] = register.reshape(f.register_shape(nodes))

    def dense(
        self, rows: np.ndarray, empty: Callable[..., np.ndarray] = np.empty
    ) -> dict[str, np.ndarray]:
        """rows [count, width] -> each feature's dense array [count, ...], made by `empty`."""
        traces = self.dense_traces(rows, np.arange(len(rows) + 1), 1, empty)
        return {name: array[:, 0] for name, array in traces.items()}

    def dense_traces(
        self,
        rows: np.ndarray,
        starts: np.ndarray,
        steps: int,
        empty: Callable[..., np.ndarray] = np.empty,
    ) -> dict[str, np.ndarray]:
        """rows [total, width] -> each feature's dense array [count, steps, ...], padded with zeros.

        Trace b consists of the rows from starts[b] up to starts[b + 1]; starts: [count + 1].
        """
        count = len(starts) - 1
        arrays = {}
        for name, place in self._places.items():
            array = empty((count, steps, *place.dense_shape), place.dense_dtype)
            values = rows.view(place.dtype)
            if place.one_hot:
                out = array.reshape(count, steps, place.length, -1)
                _spread_one_hot(values, place.first, starts, out)
            else:
                _spread(values, place.first, starts, array.reshape(count, steps, -1))
            arrays[name] = array
        return arrays


@cached
def _spread(values, first, starts, out):
    """values [total, any], read from `first` on -> out [count, steps, length]"""
    for b in range(out.shape[0]):
        length = starts[b + 1] - starts[b]
        for t in range(length):
            row, to = values[starts[b] + t, first:], out[b, t]
            for i in range(to.shape[0]):
                to[i] = row[i]
        out[b, length:] = 0


@cached
def _spread_one_hot(codes, first, starts, out):
    """codes [total, any], read from `first` on -> out [count, steps, length, classes]

    The code ~k is a masked class k.
    """
    out[:] = 0
    for b in range(out.shape[0]):
        for t in range(starts[b + 1] - starts[b]):
            row, to = codes[starts[b] + t, first:], out[b, t]
            for i in range(to.shape[0]):
                if row[i] >= 0:
                    to[i, row[i]] = 1
                else:
                    to[i, ~row[i]] = -1
