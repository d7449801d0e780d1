"""Registers: the flat store in which an algorithm keeps its variables, and the way out of it.

All features of one stage share one array of 64-bit words; each register is a view into it. To
record a step is to copy that array as the next row. Afterwards `dense` spreads the rows into one
padded array per feature.
"""

from collections.abc import Sequence

import numpy as np

from algoscope.tasks.compilation import cached
from algoscope.tasks.features import Feature

_WORD = 8


class Registers:
    """The registers of some features, for a problem of `nodes` nodes."""

    words: np.ndarray
    """int64 [width]: the bytes of all registers."""
    scalars: np.ndarray
    """float64: all scalars, a view into `words`."""
    views: dict[str, np.ndarray]
    """Each feature's register: a view into `words`."""

    def __init__(self, features: Sequence[Feature], nodes: int):
        self.features = tuple(features)
        self.nodes = nodes
        self._spans: dict[str, slice] = {}
        end = 0
        # Wide types first, so that every register is aligned.
        for feature in sorted(features, key=lambda f: -f.register_dtype.itemsize):
            bytes_needed = feature.register_dtype.itemsize * int(
                np.prod(feature.register_shape(nodes))
            )
            self._spans[feature.name] = slice(end, end + bytes_needed)
            end += bytes_needed
        self.words = np.zeros(-(-end // _WORD), np.int64)
        scalars = sum(span.stop - span.start for span in self._spans_of(np.dtype(np.float64)))
        self.scalars = self.words[: scalars // _WORD].view(np.float64)
        self.views = {f.name: self._column(self.words, f) for f in self.features}

    def _spans_of(self, dtype: np.dtype) -> list[slice]:
        return [self._spans[f.name] for f in self.features if f.register_dtype == dtype]

    def _column(self, words: np.ndarray, feature: Feature) -> np.ndarray:
        octets = words.view(np.uint8)[..., self._spans[feature.name]]
        shape = (*words.shape[:-1], *feature.register_shape(self.nodes))
        return octets.view(feature.register_dtype).reshape(shape)

    def dense(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """rows [count, width] -> each feature's dense array [count, ...]."""
        starts = np.arange(len(rows) + 1)
        padded = self.dense_traces(rows, starts, 1)
        return {name: array[:, 0] for name, array in padded.items()}

    def dense_traces(
        self, rows: np.ndarray, starts: np.ndarray, steps: int
    ) -> dict[str, np.ndarray]:
        """rows [total, width] -> each feature's dense array [count, steps, ...], padded with zeros.

        Trace b consists of the rows from starts[b] up to starts[b + 1]; starts: [count + 1].
        """
        count = len(starts) - 1
        arrays = {}
        for feature in self.features:
            values = self._column(rows, feature).reshape(len(rows), -1)
            shape = (count, steps, *feature.dense_shape(self.nodes))
            array = np.zeros(shape, feature.dense_dtype)
            if feature.one_hot:
                _spread_one_hot(values, starts, array.reshape(count, steps, values.shape[1], -1))
            else:
                _spread(values, starts, array.reshape(count, steps, values.shape[1]))
            arrays[feature.name] = array
        return arrays


@cached
def _spread(values, starts, out):
    """values [total, m] -> out [count, steps, m]"""
    for b in range(out.shape[0]):
        for t in range(starts[b + 1] - starts[b]):
            for i in range(out.shape[2]):
                out[b, t, i] = values[starts[b] + t, i]


@cached
def _spread_one_hot(codes, starts, out):
    """codes [total, m] -> out [count, steps, m, classes]; the code ~k is a masked class k."""
    for b in range(out.shape[0]):
        for t in range(starts[b + 1] - starts[b]):
            for i in range(out.shape[2]):
                code = codes[starts[b] + t, i]
                if code >= 0:
                    out[b, t, i, code] = 1
                else:
                    out[b, t, i, ~code] = -1
