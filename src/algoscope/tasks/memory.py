"""Memory that a batch leaves to its successors.

Fresh memory is slow: the system fills each page with zeros when it is first touched, which can take
longer than to compute what is written there.
"""

import math
import mmap
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
        self._free: list[mmap.mmap] = []

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """An array with arbitrary values, as `np.empty`."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        if size < _SMALL:
            return np.empty(shape, dtype)
        block = self._take(size)
        # numpy has every view refer to the array that it views in the end: to this one.
        whole = np.frombuffer(block, np.uint8, size)
        weakref.finalize(whole, self._free.append, block)
        return whole.view(dtype).reshape(shape)

    def _take(self, size: int) -> mmap.mmap:
        self._free.sort(key=len)
        for number, block in enumerate(self._free):
            if len(block) >= size:
                return self._free.pop(number)
        del self._free[-1:]
        # Not from numpy, which asks for huge pages: the system may take long to find some.
        return mmap.mmap(-1, int(size * _SLACK), access=mmap.ACCESS_COPY)
