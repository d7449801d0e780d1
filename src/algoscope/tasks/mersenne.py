"""The legacy MT19937 stream of `numpy.random.RandomState`, drawn inside compiled code.

Every function takes `stream`, a uint32 array [1249]: the generator's 624 words, its position among
them, and the same words tempered, as they are drawn. It consumes the stream exactly as RandomState
does, so the same seed gives the same problems as dm-clrs bit for bit, without the 8-16 microseconds
that each RandomState call costs. The loops over many words have no branches or refills inside, so
that they compile to vector instructions.
"""

import math

import numpy as np

from algoscope.tasks.compilation import cached, compiled

_WORDS = 624
_SHIFT = 397
_POSITION = _WORDS
_TEMPERED = _WORDS + 1
_UPPER = np.uint32(0x80000000)
_LOWER = np.uint32(0x7FFFFFFF)
_MATRIX = np.uint32(0x9908B0DF)
_TEMPER_B = np.uint32(0x9D2C5680)
_TEMPER_C = np.uint32(0xEFC60000)


def stream_from(random_state: np.random.RandomState) -> np.ndarray:
    """A copy of the generator's present state, as a stream."""
    _, words, position, *_ = random_state.get_state(legacy=True)
    stream = np.empty(_TEMPERED + _WORDS, np.uint32)
    stream[:_WORDS] = words
    stream[_POSITION] = position
    _temper(stream)
    return stream


@compiled
def _twist(high, low, shifted):
    mixed = (high & _UPPER) | (low & _LOWER)
    return shifted ^ (mixed >> np.uint32(1)) ^ (_MATRIX if mixed & np.uint32(1) else np.uint32(0))


@compiled
def _refill(stream):
    for i in range(_WORDS - _SHIFT):
        stream[i] = _twist(stream[i], stream[i + 1], stream[i + _SHIFT])
    for i in range(_WORDS - _SHIFT, _WORDS - 1):
        stream[i] = _twist(stream[i], stream[i + 1], stream[i + _SHIFT - _WORDS])
    stream[_WORDS - 1] = _twist(stream[_WORDS - 1], stream[0], stream[_SHIFT - 1])
    stream[_POSITION] = np.uint32(0)
    _temper(stream)


@cached
def _temper(stream):
    for i in range(_WORDS):
        y = stream[i]
        y ^= y >> np.uint32(11)
        y ^= (y << np.uint32(7)) & _TEMPER_B
        y ^= (y << np.uint32(15)) & _TEMPER_C
        y ^= y >> np.uint32(18)
        stream[_TEMPERED + i] = y


@compiled
def word(stream):
    """The next 32 random bits."""
    if stream[_POSITION] == _WORDS:
        _refill(stream)
    position = stream[_POSITION]
    stream[_POSITION] = position + np.uint32(1)
    return stream[_TEMPERED + position]


@compiled
def _fraction(first, second):
    """A float64 in [0, 1) from 53 of the bits of two words."""
    high = first >> np.uint32(5)
    low = second >> np.uint32(6)
    return (float(high) * 67108864.0 + float(low)) / 9007199254740992.0


@compiled
def random(stream):
    """A float64 in [0, 1): `RandomState.random_sample()`."""
    first = word(stream)
    return _fraction(first, word(stream))


@compiled
def _fill(stream, out):
    """Fills `out` [size]: `RandomState.random_sample(size)`."""
    done = 0
    while done < out.shape[0]:
        first = _TEMPERED + np.int64(stream[_POSITION])
        pairs = min((_TEMPERED + _WORDS - first) // 2, out.shape[0] - done)
        for i in range(pairs):
            out[done + i] = _fraction(stream[first + 2 * i], stream[first + 2 * i + 1])
        stream[_POSITION] += np.uint32(2 * pairs)
        done += pairs
        if done < out.shape[0]:
            out[done] = random(stream)
            done += 1


@compiled
def uniform(stream, low, high, out):
    """Fills `out`: `RandomState.uniform(low, high, out.shape)`."""
    flat = out.reshape(-1)
    _fill(stream, flat)
    for i in range(flat.shape[0]):
        flat[i] = low + (high - low) * flat[i]


@compiled
def below(stream, limit):
    """An integer in [0, limit): `RandomState.randint(limit)` and `RandomState.choice(limit)`."""
    last = np.uint32(limit - 1)
    if last == 0:
        return 0
    mask = last
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> np.uint32(shift)
    value = word(stream) & mask
    while value > last:
        value = word(stream) & mask
    return np.int64(value)


@compiled
def bernoulli(stream, p, out):
    """Fills `out` (floats) with 0 and 1: `RandomState.binomial(1, p, out.shape)`.

    By its own inversion, which very rarely rejects a value and draws another.
    """
    flat = out.reshape(-1)
    rare = p if p <= 0.5 else 1.0 - p
    common = 1.0 - rare
    at_zero = math.exp(math.log(common))
    at_one = rare * at_zero / common
    kept = 0
    while kept < flat.shape[0]:
        drawn = flat[kept:]
        _fill(stream, drawn)
        for u in drawn:
            if u - at_zero <= at_one:
                flat[kept] = (u > at_zero) == (p <= 0.5)
                kept += 1


@compiled
def permutation(stream, size):
    """A random order of 0 … size - 1: `RandomState.permutation(size)`."""
    order = np.arange(size)
    for i in range(size - 1, 0, -1):
        j = below(stream, i + 1)
        order[i], order[j] = order[j], order[i]
    return order
