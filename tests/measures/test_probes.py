"""What a line reads from hidden states."""

import dataclasses

import numpy as np
import pytest
from measures.conftest import interpreted

from algoscope import tasks
from algoscope.measures.probes import mean_score, probe_scores
from algoscope.recording import Recording
from algoscope.regression import fit_line


@pytest.fixture(scope="module")
def batches():
    return [
        tasks.sample("bellman_ford", size, 12, seed) for size, seed in ((9, 1), (9, 2), (14, 3))
    ]


def with_hidden(recording: Recording, hidden: np.ndarray) -> Recording:
    return dataclasses.replace(recording, hidden=hidden)


def scores(batches, change=lambda hidden: hidden):
    subject = interpreted("bellman_ford")
    recordings = [subject(batch) for batch in batches]
    pairs = [
        (with_hidden(r, change(np.asarray(r.hidden))), b)
        for r, b in zip(recordings, batches, strict=True)
    ]
    return probe_scores(*pairs)


def test_the_variables_of_a_program_are_read_perfectly(batches):
    found = scores(batches)
    assert found["d"].same_size == pytest.approx(1)
    assert found["d"].larger == pytest.approx(1)
    assert found["pi_h"].larger == pytest.approx(1)
    assert found["msk"].same_size > 0.8, "the source is reached, too, and no variable says so"


def test_basis_order_and_scale_of_units_do_not_matter(batches):
    random = np.random.default_rng(0)
    plain = mean_score(scores(batches))
    for matrix in (np.linalg.qr(random.standard_normal((3, 3)))[0], np.diag([1e3, 1e-3, 1])[::-1]):
        changed = mean_score(scores(batches, lambda hidden, m=matrix: hidden @ m))
        np.testing.assert_allclose(changed, plain, atol=1e-3)


def test_noise_reads_like_chance(batches):
    random = np.random.default_rng(1)
    found = mean_score(scores(batches, lambda hidden: random.standard_normal(hidden.shape)))
    assert abs(found.same_size) < 0.2


def test_constant_units_have_no_say():
    x = np.stack([np.arange(5.0), np.full(5, 7.0)], -1)
    line = fit_line(x, 2 * x[:, :1] + 1)
    np.testing.assert_allclose(line(x)[:, 0], 2 * x[:, 0] + 1, atol=1e-4)
    np.testing.assert_allclose(line(np.array([[2.0, 99.0]])), [[5.0]], atol=1e-4)


def test_every_kind_of_hint_at_nodes_gets_a_probe():
    batch = tasks.sample("dfs", 5, 6, seed=1)
    recording = interpreted("dfs")(batch)
    found = probe_scores(*[(recording, batch)] * 3)
    assert set(found) == {"pi_h", "color", "d", "f", "s_prev", "s", "u", "v", "s_last"}
    assert found["color"].same_size == pytest.approx(1)
    assert found["s_last"].same_size == pytest.approx(1)
