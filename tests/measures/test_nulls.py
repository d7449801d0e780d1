"""The scale on which nothing is 0 and the reference 1."""

import numpy as np
import pytest
from measures.conftest import interpreted

from algoscope import programs, tasks
from algoscope.falsify.cover import some_of_each
from algoscope.measures.attention_match import compare_rows
from algoscope.measures.nulls import (
    any_head_agreement,
    neighbours,
    on_scale,
    permuted_attention,
    uniform_attention,
    wrong_recordings,
)
from algoscope.measures.references import reference_class
from algoscope.programs.interpreter import follow


@pytest.fixture(scope="module")
def reference(graphs):
    return reference_class(graphs)[0]


def test_the_reference_is_at_one_and_the_null_at_zero(graphs, reference):
    null = compare_rows(uniform_attention(graphs), reference)
    own = compare_rows(np.asarray(reference.recording.attention), reference)
    for scaled in on_scale(own, null, reference.decisive).values():
        assert scaled.scaled == (1, 1, 1)
    for scaled in on_scale(null, null, reference.decisive).values():
        assert scaled.scaled.value == 0


def test_halfway_is_halfway_with_an_interval_around_it(graphs, reference):
    uniform = uniform_attention(graphs)
    mixed = 0.5 * uniform + 0.5 * np.asarray(reference.recording.attention)
    null, own = (compare_rows(a, reference) for a in (uniform, mixed))
    l1 = on_scale(own, null, reference.decisive)["l1"]
    assert l1.scaled.value == pytest.approx(0.5)
    random = np.random.default_rng(0).random(mixed.shape)
    noisy = mixed * random / (mixed * random).sum(-1, keepdims=True)
    l1 = on_scale(compare_rows(noisy, reference), null, reference.decisive)["l1"]
    assert l1.scaled.low < l1.scaled.value < l1.scaled.high


def test_uniform_attention_reads_neighbours_alike(graphs):
    uniform = uniform_attention(graphs)[:, :, 0]
    joined = neighbours(graphs)
    assert (uniform > 0)[joined].all()
    assert not uniform[~joined].any()
    np.testing.assert_allclose(uniform.sum(-1), 1)
    edges = graphs.inputs["adj"] + np.swapaxes(graphs.inputs["adj"], 1, 2) > 0
    assert joined[:, 0][edges].all()


def test_permuted_attention_keeps_values_and_neighbourhoods(graphs):
    attention = np.asarray(interpreted("bfs")(graphs).attention)
    permuted = permuted_attention(attention, graphs, seed=1)
    np.testing.assert_array_equal(np.sort(permuted, -1), np.sort(attention, -1))
    assert not permuted[:, :, 0][~neighbours(graphs)].any()
    assert (permuted != attention).any()


def test_chance_agreement_is_what_permuting_gives(graphs, reference):
    attention = np.asarray(interpreted("bfs_two_heads")(graphs).attention)
    own, by_chance = any_head_agreement(attention, reference, neighbours(graphs))
    assert own[reference.decisive].mean() == 1
    permuted = [
        compare_rows(permuted_attention(attention, graphs, seed), reference).agrees_any_head
        for seed in range(20)
    ]
    drawn = np.mean([rows[reference.decisive].mean() for rows in permuted])
    assert by_chance[reference.decisive].mean() == pytest.approx(drawn, abs=0.05)


def test_wrong_programs_are_far_from_the_reference(graphs, reference):
    wrong = wrong_recordings(graphs)
    assert "bfs_highest" in wrong
    rows = compare_rows(np.asarray(wrong["bfs_highest"].attention), reference)
    assert rows.agrees[reference.decisive].mean() < 0.8


def test_wrong_programs_may_break_promises():
    """Of segments on one line: both cases of a Bool hold."""
    batch = some_of_each(tasks.get("segments_intersect"), 4, 4, 0)
    wrong = wrong_recordings(batch)
    assert any(follow(programs.get(name), batch).broken.any() for name in wrong)
    assert all(len(recording.attention) == len(batch) for recording in wrong.values())
