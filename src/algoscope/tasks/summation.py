"""Sums equal to numpy's bit for bit, in compiled code (numba adds from left to right)."""

from algoscope.tasks.compilation import compiled

_LANES = 8
_BLOCK = 128


@compiled
def _block_sum(values):
    """Eight running sums, added in pairs, then what is left over."""
    count = values.shape[0]
    total = 0.0
    done = 0
    if count >= _LANES:
        a, b, c, d = values[0], values[1], values[2], values[3]
        e, f, g, h = values[4], values[5], values[6], values[7]
        for i in range(_LANES, count - _LANES + 1, _LANES):
            a += values[i]
            b += values[i + 1]
            c += values[i + 2]
            d += values[i + 3]
            e += values[i + 4]
            f += values[i + 5]
            g += values[i + 6]
            h += values[i + 7]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
        done = count - count % _LANES
    for i in range(done, count):
        total += values[i]
    return total


@compiled
def pairwise_sum(values):
    """`np.sum` of a contiguous float64 array: halves added until they fit a block."""
    count = values.shape[0]
    if count <= _BLOCK:
        return _block_sum(values)
    half = count // 2
    half -= half % _LANES
    return pairwise_sum(values[:half]) + pairwise_sum(values[half:])
