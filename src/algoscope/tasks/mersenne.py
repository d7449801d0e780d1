"""The legacy MT19937 stream of `numpy.random.RandomState`, drawn inside compiled code.

Every function takes `stream`, a uint32 array [625]: the generator's 624 words and its position. It
consumes the stream exactly as RandomState does, so the same seed gives the same problems as dm-clrs
bit for bit, without the 8-16 microseconds that each RandomState call costs.
"""

import math

import numpy as np

from algoscope.tasks.compilation import compiled

_WORDS = 624
_SHIFT = 397
_UPPER = np.uint32(0x80000000)
_LOWER = np.uint32(0x7FFFFFFF)
_MATRIX = np.uint32(0x9908B0DF)
_TEMPER_B = np.uint32(0x9D2C5680)
_TEMPER_C = np.uint32(0xEFC60000)


def stream_from(random_state: np.random.RandomState) -> np.ndarray:
    """A copy of the generator's present state, as a stream."""
    _, words, position, *_ = random_state.get_state(legacy=True)
    return np.append(np.asarray(words, np.uint32), np.uint32(position))


def return_stream(stream: np.ndarray, random_state: np.random.RandomState) -> None:
    """Sets the generator to where the stream is now."""
    random_state.set_state(("MT19937", stream[:_WORDS], int(stream[_WORDS]), 0, 0.0))


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
    stream[_WORDS] = np.uint32(0)


@compiled
def word(stream):
    """The next 32 random bits."""
    if stream[_WORDS] == _WORDS:
        _refill(stream)
    y = stream[stream[_WORDS]]
    stream[_WORDS] += np.uint32(1)
    y ^= y >> np.uint32(11)
    y ^= (y << np.uint32(7)) & _TEMPER_B
    y ^= (y << np.uint32(15)) & _TEMPER_C
    y ^= y >> np.uint32(18)
    return y


@compiled
def random(stream):
    """A float64 in [0, 1) with 53 random bits: `RandomState.random_sample()`."""
    high = word(stream) >> np.uint32(5)
    low = word(stream) >> np.uint32(6)
    return (float(high) * 67108864.0 + float(low)) / 9007199254740992.0


@compiled
def uniform(stream, low, high, out):
    """Fills `out`: `RandomState.uniform(low, high, out.shape)`."""
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = low + (high - low) * random(stream)


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
    """Fills `out` with 0 and 1: `RandomState.binomial(1, p, out.shape)`, by its own inversion."""
    flat = out.reshape(-1)
    rare = p if p <= 0.5 else 1.0 - p
    common = 1.0 - rare
    at_zero = math.exp(math.log(common))
    at_one = rare * at_zero / common
    for i in range(flat.shape[0]):
        u = random(stream)
        while u > at_zero and u - at_zero > at_one:
            u = random(stream)
        flat[i] = (u > at_zero) == (p <= 0.5)


@compiled
def permutation(stream, size):
    """A random order of 0 … size - 1: `RandomState.permutation(size)`."""
    order = np.arange(size)
    for i in range(size - 1, 0, -1):
        j = below(stream, i + 1)
        order[i], order[j] = order[j], order[i]
    return order
