"""Against all subarrays."""

import numpy as np
import pytest
from drawing import DECIMALS, draws
from hypothesis import given
from hypothesis import strategies as st


@given(
    draws(
        "find_maximum_subarray_kadane",
        low=st.floats(-5, 0.5),
        high=st.floats(-5, 5),
        truncate_decimals=DECIMALS,
    )
)
def test_no_subarray_has_a_larger_sum(draw):
    for sample in draw.samples():
        key = sample.inputs["key"]
        start, end = (int(np.argmax(sample.outputs[name])) for name in ("start", "end"))
        largest = max(key[i : j + 1].sum() for i in range(draw.size) for j in range(i, draw.size))
        assert start <= end
        assert key[start : end + 1].sum() == pytest.approx(largest)
        assert sample.last("best_sum") == pytest.approx(largest)
