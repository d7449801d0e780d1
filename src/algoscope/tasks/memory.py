"""Memory that a batch leaves to its successors.

Fresh memory is slow: the system fills each page with zeros when it is first touched, which can take
longer than to compute what is written there.
"""

import math
import weakref

import numpy as np
import numpy.typing as npt

_SMALL = 2**16
"""Arrays of fewer bytes than this are left to numpy, which is fast at them."""
_SLACK = 1.25
"""How much larger a new block is than the array it is for: the next array may be longer."""


class Memory:
    """Makes arrays in blocks of memory; a block is used again when no array lies in it any more."""

    def __init__(self):
        self._free: list[np.ndarray] = []

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """An array with arbitrary values, as `np.empty`."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        if size < _SMALL:
            return np.empty(shape, dtype)
        block = self._take(size)
        # All views of an array refer to the first of them, which has no array but a buffer below.
        first = np.frombuffer(block.data, np.uint8, size)
        weakref.finalize(first, self._free.append, block)
        return first.view(dtype).reshape(shape)

    def _take(self, size: int) -> np.ndarray:
        self._free.sort(key=len)
        for number, block in enumerate(self._free):
            if len(block) >= size:
                return self._free.pop(number)
        del self._free[-1:]
        return np.empty(int(size * _SLACK), np.uint8)
