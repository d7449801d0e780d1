"""Against sorted()."""

import numpy as np
import pytest
from drawing import DECIMALS, draws
from hypothesis import given
from hypothesis import strategies as st

OPTIONS = {"low": st.floats(-0.3, 0), "high": st.floats(0.2, 5), "truncate_decimals": DECIMALS}


def from_first_to_last(predecessor: np.ndarray) -> list[int]:
    """The nodes in the order in which each points to the one before it, the first to itself."""
    first = int(np.flatnonzero(predecessor == np.arange(len(predecessor))).item())
    following = {int(before): node for node, before in enumerate(predecessor) if node != first}
    nodes = [first]
    while nodes[-1] in following:
        nodes.append(following[nodes[-1]])
    return nodes


@pytest.mark.parametrize("name", ["bubble_sort", "heapsort", "insertion_sort", "quicksort"])
@given(data=st.data())
def test_predecessors_lead_through_the_sorted_keys(name, data):
    draw = data.draw(draws(name, **OPTIONS))
    for sample in draw.samples():
        key, nodes = sample.inputs["key"], from_first_to_last(sample.outputs["pred"])
        assert list(key[nodes]) == sorted(key)
        assert sorted(nodes) == list(range(draw.size))
        if name in ("bubble_sort", "insertion_sort"):
            assert nodes == sorted(range(draw.size), key=lambda node: key[node])


@pytest.mark.parametrize("name", ["bubble_sort", "heapsort", "insertion_sort", "quicksort"])
@given(data=st.data())
def test_the_order_is_a_line_through_all_nodes_at_every_step(name, data):
    draw = data.draw(draws(name, largest=8))
    for sample in draw.samples():
        for predecessor in sample.hints["pred_h"]:
            assert sorted(from_first_to_last(predecessor)) == list(range(draw.size))
