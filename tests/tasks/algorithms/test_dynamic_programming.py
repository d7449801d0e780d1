"""Against plain recursion over all ways to part, match or root."""

import functools

import numpy as np
import pytest
from drawing import DECIMALS, draws
from hypothesis import given
from hypothesis import strategies as st


@given(
    draws(
        "matrix_chain_order",
        largest=8,
        low=st.floats(0.1, 1),
        high=st.floats(2, 9),
        truncate_decimals=DECIMALS,
    )
)
def test_matrix_chains_are_parted_at_least_cost(draw):
    for sample in draw.samples():
        p, split = sample.inputs["p"], sample.outputs["s"].astype(int)

        def cost(i, j, at, p=p):
            """Multiplications for the matrices i to j, of p[i - 1] rows to p[j] columns."""
            if i == j:
                return 0.0
            return min(
                cost(i, k, at) + cost(k + 1, j, at) + p[i - 1] * p[k] * p[j] for k in at(i, j)
            )

        for i in range(1, draw.size):
            for j in range(i, draw.size):
                least = cost(i, j, at=range)
                assert sample.last("m")[i, j] == pytest.approx(least)
                assert cost(i, j, at=lambda i, j, s=split: [s[i, j]]) == pytest.approx(least)


@given(draws("lcs_length", largest=9, chars=st.integers(1, 4), length_2=st.integers(1, 5)))
def test_arrows_lead_through_a_longest_common_subsequence(draw):
    diagonal, up, left, _ = range(4)
    for sample in draw.samples():
        codes = np.argmax(sample.inputs["key"], axis=-1)
        second = sample.inputs["string"] == 1
        x, y = codes[~second], codes[second]

        @functools.cache
        def longest(i, j, x=x, y=y):
            """Of the first i characters of x and the first j of y."""
            if i == 0 or j == 0:
                return 0
            if x[i - 1] == y[j - 1]:
                return longest(i - 1, j - 1) + 1
            return max(longest(i - 1, j), longest(i, j - 1))

        arrows = np.argmax(sample.outputs["b"], axis=-1)[~second][:, second]
        lengths = sample.last("c")[~second][:, second]
        for i in range(len(x)):
            for j in range(len(y)):
                assert lengths[i, j] == longest(i + 1, j + 1)
        i, j, common = len(x) - 1, len(y) - 1, 0
        while i >= 0 and j >= 0:
            arrow = arrows[i, j]
            assert arrow in (diagonal, up, left)
            if arrow == diagonal:
                assert x[i] == y[j]
                common += 1
            i -= arrow in (diagonal, up)
            j -= arrow in (diagonal, left)
        assert common == longest(len(x), len(y))


@given(draws("lcs_length", largest=9, length_2=st.integers(1, 5)))
def test_pairs_within_one_string_are_masked(draw):
    for sample in draw.samples():
        second = sample.inputs["string"] == 1
        across = np.outer(~second, second)
        blank = np.array([0, 0, 0, -1])
        for arrows in (*sample.hints["b_h"], sample.outputs["b"]):
            assert (arrows[~across] == blank).all()
            assert (arrows[across].sum(axis=-1) == 1).all()


@given(draws("optimal_bst", largest=7, truncate_decimals=DECIMALS))
def test_search_trees_have_least_expected_cost(draw):
    for sample in draw.samples():
        keys, gaps = sample.inputs["p"], sample.inputs["q"]
        root = sample.outputs["root"].astype(int)

        def cost(first, last, depth, roots, keys=keys, gaps=gaps):
            """Of a subtree at that depth over the gaps first to last and the keys between."""
            if first == last:
                return gaps[first] * depth
            return min(
                keys[r] * depth
                + cost(first, r, depth + 1, roots)
                + cost(r + 1, last, depth + 1, roots)
                for r in roots(first, last)
            )

        least = cost(0, draw.size, 1, range)
        assert sample.last("e")[0, draw.size] == pytest.approx(least)
        chosen = cost(0, draw.size, 1, lambda i, j, root=root: [root[i, j]])
        assert chosen == pytest.approx(least)
