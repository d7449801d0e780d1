"""Against str.find."""

import itertools

import numpy as np
import pytest
from drawing import Draw, Sample, draws, trace
from hypothesis import given
from hypothesis import strategies as st

MATCHERS = ["kmp_matcher", "naive_string_matcher"]


def assert_found_where_str_find_does(sample: Sample) -> bool:
    """Is there a match at all?"""
    letters = [chr(ord("a") + int(code)) for code in np.argmax(sample.inputs["key"], axis=-1)]
    haystack_length = int((sample.inputs["string"] == 0).sum())
    haystack, needle = "".join(letters[:haystack_length]), "".join(letters[haystack_length:])
    place = haystack.find(needle)
    expected = haystack_length if place < 0 else place
    assert np.argmax(sample.outputs["match"]) == expected
    return place >= 0


@pytest.mark.parametrize("name", MATCHERS)
@given(data=st.data())
def test_drawn_needles_are_found_first_where_str_find_does(name, data):
    draw = data.draw(draws(name, largest=20, chars=st.integers(1, 4)))
    for sample in draw.samples():
        assert_found_where_str_find_does(sample)
        assert (sample.outputs["match"] * sample.inputs["string"]).sum() == 0


@pytest.mark.parametrize("name", MATCHERS)
@given(data=st.data(), size=st.integers(3, 20), seed=st.integers(0, 2**32 - 1))
def test_needles_have_the_length_asked_for(name, data, size, seed):
    longest = (size - 1) // 2
    length = data.draw(st.integers(-longest, longest).filter(bool))
    for sample in Draw(name, size, seed, {"length_needle": length}).samples():
        assert_found_where_str_find_does(sample)
        found = int(sample.inputs["string"].sum())
        assert found == length if length > 0 else 1 <= found <= -length


@pytest.mark.parametrize("needle_length", [1, 2, 3, 4])
@pytest.mark.parametrize("name", MATCHERS)
def test_any_needle_in_any_haystack_is_found_or_missed_as_str_find_does(name, needle_length):
    haystack_length = 7
    length = haystack_length + needle_length
    key = np.array(list(itertools.product((0, 1), repeat=length)))
    string = np.broadcast_to(np.arange(length) >= haystack_length, key.shape)
    found = [assert_found_where_str_find_does(s) for s in trace(name, string=string, key=key)]
    assert True in found
    assert False in found
