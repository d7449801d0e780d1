"""Every draw equals numpy's RandomState, from any position, and leaves the generator alike."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from algoscope.tasks import mersenne
from algoscope.tasks.compilation import in_python
from algoscope.tasks.graphs import choose
from algoscope.tasks.sequences import draw_codes


class Pair(NamedTuple):
    """A generator of numpy's and a stream in the same state."""

    numpy: np.random.RandomState
    stream: np.ndarray


def pair_after(seed: int, words: int) -> Pair:
    random_state = np.random.RandomState(seed)
    random_state.bytes(4 * words)
    return Pair(random_state, mersenne.stream_from(random_state))


PAIRS = st.builds(pair_after, st.integers(0, 2**32 - 1), st.integers(0, 1300))
"""1,300 words are two refills and a little: the generator makes 624 at a time."""

SHAPES = st.one_of(
    st.tuples(st.integers(0, 700)), st.tuples(st.integers(0, 26), st.integers(0, 26))
)


def assert_in_the_same_state(pair: Pair) -> None:
    assert np.array_equal(pair.stream, mersenne.stream_from(pair.numpy))


@given(PAIRS)
def test_word_is_32_random_bits(pair):
    for _ in range(700):
        assert mersenne.word(pair.stream) == pair.numpy.randint(2**32, dtype=np.uint32)
    assert_in_the_same_state(pair)


@given(PAIRS)
def test_random_is_random_sample(pair):
    for _ in range(350):
        assert mersenne.random(pair.stream) == pair.numpy.random_sample()
    assert_in_the_same_state(pair)


@given(PAIRS, st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), SHAPES)
def test_uniform_is_uniform(pair, low, high, shape):
    out = np.empty(shape)
    mersenne.uniform(pair.stream, low, high, out)
    assert np.array_equal(out, pair.numpy.uniform(low, high, shape))
    assert_in_the_same_state(pair)


LIMITS = st.one_of(
    st.integers(1, 100),
    st.integers(1, 2**32),
    st.integers(0, 32).flatmap(lambda b: st.sampled_from([2**b, max(1, 2**b - 1)])),
)


@given(PAIRS, LIMITS)
@example(pair_after(0, 0), 1)
@example(pair_after(0, 0), 2**32)
def test_below_is_randint_and_choice(pair, limit):
    for _ in range(100):
        assert mersenne.below(pair.stream, limit) == pair.numpy.randint(limit)
        assert mersenne.below(pair.stream, limit) == pair.numpy.choice(limit)
    assert_in_the_same_state(pair)


@given(PAIRS, st.floats(0, 1), SHAPES)
@example(pair_after(0, 0), 0.0, (30, 30))
@example(pair_after(0, 0), 1.0, (30, 30))
@example(pair_after(0, 0), 0.5, (30, 30))
@example(pair_after(0, 0), 5e-324, (30, 30))
@example(pair_after(0, 0), 1 - 2**-53, (30, 30))
def test_bernoulli_is_binomial_of_one_trial(pair, p, shape):
    out = np.empty(shape)
    mersenne.bernoulli(pair.stream, p, out)
    assert np.array_equal(out, pair.numpy.binomial(1, p, shape))
    assert_in_the_same_state(pair)


def state_word(output: int) -> int:
    """The word of the generator's state that comes out as the given 32 bits."""
    y = output ^ (output >> 18)
    y ^= (y << 15) & 0xEFC60000
    x = y
    for _ in range(5):
        x = y ^ ((x << 7) & 0x9D2C5680)
    y = x
    for _ in range(3):
        x = y ^ (x >> 11)
    return x


def pair_about_to_draw(bits: int) -> Pair:
    """A generator whose next `random_sample` is bits / 2**53."""
    random_state = np.random.RandomState(0)
    _, words, *_ = random_state.get_state()
    words[:2] = state_word((bits >> 26) << 5), state_word((bits & (2**26 - 1)) << 6)
    random_state.set_state(("MT19937", words, 0))
    return Pair(random_state, mersenne.stream_from(random_state))


@given(st.floats(0, 1, exclude_max=True), st.sampled_from([-1, 0, 1]))
def test_bernoulli_turns_from_0_to_1_where_binomial_does(p, ulps):
    zero = math.exp(math.log(max(p, 1 - p)))
    last = 2**53 - 1
    for bits in (min(int(zero * 2**53) + ulps, last), last):
        pair = pair_about_to_draw(bits)
        out = np.empty(1)
        mersenne.bernoulli(pair.stream, p, out)
        assert out[0] == pair.numpy.binomial(1, p)
        assert_in_the_same_state(pair)


def test_the_planted_number_is_drawn():
    for bits in (0, 1, 2**26, 2**52 + 12345, 2**53 - 1):
        assert pair_about_to_draw(bits).numpy.random_sample() == bits / 2**53


@given(PAIRS, st.integers(0, 1500))
@example(pair_after(0, 0), 0)
@example(pair_after(0, 0), 1)
def test_permutation_is_permutation(pair, size):
    assert np.array_equal(mersenne.permutation(pair.stream, size), pair.numpy.permutation(size))
    assert_in_the_same_state(pair)


@given(PAIRS, st.integers(1, 5), st.integers(0, 700))
def test_codes_are_randint_of_a_shape(pair, chars, length):
    out = np.empty(length, np.int32)
    draw_codes(pair.stream, chars, out)
    assert np.array_equal(out, pair.numpy.randint(0, chars, length))
    assert_in_the_same_state(pair)


@given(PAIRS, st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_choose_is_choice_of_values(pair, values):
    for _ in range(20):
        assert choose(pair.stream, np.array(values)) == pair.numpy.choice(values)
    assert_in_the_same_state(pair)


def test_a_stream_is_a_copy():
    random_state = np.random.RandomState(0)
    stream = mersenne.stream_from(random_state)
    mersenne.random(stream)
    assert random_state.random_sample() == np.random.RandomState(0).random_sample()


@pytest.mark.parametrize("limit", [1, 2, 3, 100, 2**32])
def test_plain_python_draws_what_compiled_code_draws(limit):
    compiled, plain = pair_after(5, 620).stream, pair_after(5, 620).stream
    for _ in range(10):
        assert in_python(mersenne.below)(plain, limit) == mersenne.below(compiled, limit)
    assert np.array_equal(plain, compiled)
