"""Against min(), bisect and sorted()."""

import bisect
import itertools

import numpy as np
from drawing import DECIMALS, draws, trace
from hypothesis import given
from hypothesis import strategies as st

OPTIONS = {"low": st.floats(-0.3, 0), "high": st.floats(0.2, 5), "truncate_decimals": DECIMALS}


@given(draws("minimum", **OPTIONS))
def test_minimum_is_the_first_of_the_smallest_keys(draw):
    for sample in draw.samples():
        key = list(sample.inputs["key"])
        assert np.argmax(sample.outputs["min"]) == key.index(min(key))


def test_of_equal_smallest_keys_the_first_is_the_minimum():
    keys = np.array(list(itertools.product((0.0, 1.0), repeat=5)))
    for key, sample in zip(keys, trace("minimum", key=keys), strict=True):
        assert np.argmax(sample.outputs["min"]) == list(key).index(min(key))


@given(draws("binary_search", **OPTIONS))
def test_binary_search_finds_the_first_key_not_below_the_target(draw):
    for sample in draw.samples():
        key = list(sample.inputs["key"])
        assert key == sorted(key)
        expected = min(bisect.bisect_left(key, sample.inputs["target"]), draw.size - 1)
        assert np.argmax(sample.outputs["return"]) == expected


@given(draws("quickselect", **OPTIONS))
def test_quickselect_finds_the_median(draw):
    for sample in draw.samples():
        key = sample.inputs["key"]
        assert key[np.argmax(sample.outputs["median"])] == sorted(key)[draw.size // 2]
