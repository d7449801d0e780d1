"""Distances, clusters and correlations between solutions."""

import numpy as np
import pytest

from algoscope.measures.across import (
    correlation,
    mean_silhouette,
    pairwise_total_variation,
    partial_correlation,
    ward_clusters,
)
from algoscope.recording import Recording


def recording(attention: np.ndarray) -> Recording:
    batch, steps, _, nodes, _ = attention.shape
    return Recording.from_arrays(
        attention=attention, hidden=np.zeros((batch, steps, nodes, 1)), lengths=np.array([2, 3])
    )


def soft(seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).random((2, 3, 2, 4, 4))
    return drawn / drawn.sum(-1, keepdims=True)


def test_distances_are_zero_to_oneself_one_to_the_opposite_and_blind_to_padding():
    one = np.zeros((2, 3, 1, 4, 4))
    one[..., 0] = 1
    other, padded = np.roll(one, 1, -1), one.copy()
    padded[0, 1:], padded[1, 2:] = other[0, 1:], other[1, 2:]
    distances = pairwise_total_variation([recording(a) for a in (one, other, padded)])
    np.testing.assert_allclose(distances, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_order_of_heads_does_not_matter():
    one = soft(1)
    assert pairwise_total_variation([recording(one), recording(one[:, :, ::-1])])[0, 1] < 1e-12


def test_ward_finds_planted_clusters_and_none_where_there_is_none():
    random = np.random.default_rng(0)
    places = np.repeat([0.0, 5.0, 11.0], 6)[:, None] + random.normal(0, 0.3, (18, 1))
    clusters = ward_clusters(np.abs(places - places.T))
    assert clusters.count == 3
    assert len(set(clusters.labels[:6])) == len(set(clusters.labels[6:12])) == 1
    equal = 1 - np.eye(12)
    assert ward_clusters(equal).count == 1


def test_silhouette_by_hand():
    distances = np.array([[0, 1, 4], [1, 0, 4], [4, 4, 0.0]])
    assert mean_silhouette(distances, np.array([1, 1, 2])) == pytest.approx((0.75 + 0.75 + 0) / 3)


def test_correlation_of_a_line_and_of_noise():
    x = np.linspace(0, 1, 40)
    line = correlation(x, 2 * x + 1)
    assert line.pearson == pytest.approx(1)
    assert line.spearman == pytest.approx(1)
    noise = correlation(x, np.random.default_rng(3).random(40))
    assert noise.pearson_low < 0 < noise.pearson_high
    assert noise.spearman_low < 0 < noise.spearman_high
    assert noise.pearson_p > 0.05


def test_spearman_sees_what_is_monotone():
    x = np.linspace(0, 1, 20)
    curve = correlation(x, np.exp(20 * x))
    assert curve.spearman == pytest.approx(1)
    assert curve.pearson < 0.8


@pytest.mark.parametrize(
    ("accuracy", "faithfulness", "message"),
    [
        ([1, 2], [1, 2], "seeds: got 2, needed at least 3"),
        ([1, 1, 1], [1, 2, 3], "accuracy: got the same value of 3 seeds"),
        ([1, 2, 3], [1, float("nan"), 3], "faithfulness: got a NaN"),
        ([1, 2, 3], [1, 2], "needed one pair a seed"),
    ],
)
def test_too_little_to_correlate_is_refused(accuracy, faithfulness, message):
    with pytest.raises(ValueError, match=message):
        correlation(accuracy, faithfulness)


def test_one_solution_cannot_be_compared():
    with pytest.raises(ValueError, match="got 1, needed at least 2"):
        pairwise_total_variation([recording(soft(0))])


def test_a_common_cause_leaves_no_correlation_once_it_is_held():
    random = np.random.default_rng(0)
    cause, *noise = random.normal(size=(3, 200))
    x, y = cause + noise[0] / 2, cause + noise[1] / 2
    assert correlation(x, y).pearson > 0.7
    left = partial_correlation(x, y, cause)
    assert abs(left.pearson) < 0.15
    assert abs(left.spearman) < 0.15
    assert min(left.pearson_p, left.spearman_p) > 0.01


def test_what_a_third_number_does_not_cause_stays_when_it_is_held():
    random = np.random.default_rng(1)
    x, noise, other = random.normal(size=(3, 200))
    left = partial_correlation(x, x + noise, other)
    assert left.pearson == pytest.approx(correlation(x, x + noise).pearson, abs=0.05)
    assert max(left.pearson_p, left.spearman_p) < 1e-9
    # From the three correlations, Yule's formula.
    y = x + noise
    a, b, c = (correlation(*pair).pearson for pair in ((x, y), (x, other), (y, other)))
    assert left.pearson == pytest.approx((a - b * c) / np.sqrt((1 - b**2) * (1 - c**2)))


@pytest.mark.parametrize(
    ("held", "message"),
    [([1.0] * 5, "the same value of 5"), ([0.0, 1, 2, 3, 4], "leaves nothing")],
)
def test_what_cannot_be_held_is_said(held, message):
    with pytest.raises(ValueError, match=message):
        partial_correlation([0.0, 1, 2, 3, 4], [3.0, 1, 5, 2, 2], held)
