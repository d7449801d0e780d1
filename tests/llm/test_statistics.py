"""Estimates, corrections, mixed effects and CKA, against independent computations."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import stats

from algoscope import statistics
from algoscope.llm.representation import debiased_cka, layer_cka
from algoscope.regression import mixed_effects
from algoscope.statistics import Estimate


def test_proportions_have_wilsons_interval():
    found = statistics.proportion([True] * 17 + [False] * 3)
    reference = stats.binomtest(17, 20).proportion_ci(method="wilson")
    assert found.value == 0.85
    assert found.low == pytest.approx(reference.low, abs=1e-3)
    assert found.high == pytest.approx(reference.high, abs=1e-3)
    assert statistics.proportion([]).low == 0


def test_holm_is_holm():
    assert np.allclose(statistics.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def test_bootstrap_covers_the_mean_about_95_times_in_100():
    rng = np.random.default_rng(0)
    inside = 0
    for seed in range(200):
        found = statistics.bootstrap(rng.normal(size=40), seed, draws=500)
        inside += found.low <= 0 <= found.high
    assert 180 <= inside <= 198
    assert np.isinf(statistics.bootstrap(np.array([1.0])).low)


def test_p_values_count_the_value_itself():
    assert statistics.p_value(1.0, np.zeros(99)) == 0.01
    assert statistics.p_value(-1.0, np.zeros(99)) == 1.0


def test_mixed_effects_equal_generalised_least_squares_at_the_best_restricted_likelihood():
    """Against a direct evaluation with full covariance matrices over a grid."""
    rng = np.random.default_rng(0)
    sizes = [3, 5, 8, 4, 6, 7]
    groups = np.repeat(np.arange(6), sizes)
    X = rng.normal(size=(len(groups), 2))
    y = X @ [0.7, -0.2] + rng.normal(size=6)[groups] + 0.8 * rng.normal(size=len(groups))
    design = np.column_stack([X, np.ones(len(y))])
    same = groups[:, None] == groups

    def restricted(rho):
        V = np.eye(len(y)) + rho * same
        inverse = np.linalg.inv(V)
        gram = design.T @ inverse @ design
        b = np.linalg.solve(gram, design.T @ inverse @ y)
        rest = (y - design @ b) @ inverse @ (y - design @ b)
        free = len(y) - 3
        loss = free * np.log(rest) + np.linalg.slogdet(V)[1] + np.linalg.slogdet(gram)[1]
        return loss, b[0], np.sqrt(rest / free * np.linalg.inv(gram)[0, 0])

    best = min((restricted(rho) for rho in np.exp(np.linspace(-6, 6, 4001))), key=lambda r: r[0])
    found = mixed_effects(y, X, groups)
    assert found.b == pytest.approx(best[1], abs=1e-3)
    assert found.se == pytest.approx(best[2], abs=1e-3)
    assert found.df == len(y) - 3 - 6 + 1


def test_mixed_effects_under_the_null_reject_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(20), 7)
    rejected = 0
    for _ in range(200):
        y = rng.normal(size=20)[groups] + rng.normal(size=140)
        rejected += mixed_effects(y, rng.normal(size=(140, 1)), groups).p < 0.05
    assert 2 <= rejected <= 22


def test_debiased_cka_is_zero_for_noise_one_for_rotations_and_blind_to_scale():
    rng = np.random.default_rng(0)
    noise = [debiased_cka(rng.normal(size=(10, 50)), rng.normal(size=(10, 50))) for _ in range(200)]
    assert abs(np.mean(noise)) < 0.03
    X = rng.normal(size=(10, 6))
    rotation = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    assert debiased_cka(X, 3 * X @ rotation) == pytest.approx(1)
    with pytest.raises(ValueError, match="at least 4"):
        debiased_cka(X[:3], X[:3])


def test_layers_of_a_random_model_resemble_their_neighbours(llama):
    from algoscope.llm.observe import observe
    from algoscope.llm.prompts import navigation

    similar = layer_cka(observe(llama, navigation(4, form="letters")))
    assert similar.shape == (llama.depth,)
    assert (similar <= 1 + 1e-9).all()


@hypothesis.given(
    st.floats(0, 1), st.sampled_from([0.0, 0.05, 0.5, 0.9, 0.95, 0.98, 1.0]), st.floats(-1e-4, 1e-4)
)
def test_a_number_beside_a_limit_is_on_its_side_of_it(value, limit, near):
    for number in (value, limit + near, limit):
        shown = float(statistics.beside(number, limit))
        assert (shown < limit, shown > limit) == (number < limit, number > limit)


def test_numbers_have_no_more_digits_than_their_comparison_needs():
    assert statistics.beside(0.8998, 0.9) == "0.8998"
    assert statistics.beside(0.8991, 0.9) == "0.899"
    assert statistics.beside(0.9, 0.9) == "0.900"
    assert statistics.beside(0.9996, 0.95, 1.0) == "0.9996"
    assert statistics.beside(0.0496, 0.05, digits=2, form="g") == "0.0496"
    assert statistics.beside(0.2, 0, sign="+") == "+0.200"
    assert statistics.apart(0.06342, 0.06338) == ("0.06342", "0.06338")
    assert str(Estimate(0.004, 0.001, 0.5)) == "0.00 [0.00, 0.50]"
    assert Estimate(0.004, 0.001, 0.5).beside(0) == "0.004 [0.001, 0.50]"
