"""Attention distances: their controls, their normalisations, their invariances."""

import numpy as np
import pytest
from measures.conftest import interpreted, with_attention

from algoscope import tasks
from algoscope.measures.attention_match import compare_rows, internal_gap, nearest, row_sets
from algoscope.measures.references import NoReferenceError, reference_class, unsettled


def gaps(recording, batch):
    return {r.name: internal_gap(recording, r, unsettled(batch)) for r in reference_class(batch)}


@pytest.mark.parametrize("name", ["bfs", "bfs_locked", "bfs_self"])
def test_a_program_has_no_distance_to_itself_and_a_known_one_to_the_others(graphs, name):
    found = gaps(interpreted(name)(graphs), graphs)
    assert found[name].eq24 == 0
    assert found[name].by_rows["all"].choice_agreement == 1
    assert nearest(list(found.values())).reference == name
    for other, gap in found.items():
        assert gap.by_rows["unsettled"].total_variation == 0
        assert gap.by_rows["decisive"].total_variation == 0
        if other != name:
            assert 0.1 < gap.by_rows["all"].total_variation < 0.6


def test_exact_variants_agree_with_the_class_where_it_matters(graphs):
    for name in ("bfs_frontier", "bfs_restless", "bfs_source_first"):
        gap = gaps(interpreted(name)(graphs), graphs)["bfs"]
        assert gap.by_rows["decisive"].choice_agreement == 1
        assert gap.by_rows["all"].total_variation > 0


def test_the_normalisations_are_multiples_of_each_other(graphs):
    gap = gaps(interpreted("bfs_highest")(graphs), graphs)["bfs"]
    everything = gap.by_rows["all"]
    assert everything.per_row_l1 == pytest.approx(2 * everything.total_variation)
    assert everything.per_row_l1 == pytest.approx(12 * gap.eq24)
    assert gap.eq24 <= 2 / 12


def test_reading_always_somebody_else_is_the_maximum_of_every_distance(graphs):
    recording = interpreted("bfs")(graphs)
    attention = np.roll(recording.attention, 1, -1)
    gap = gaps(with_attention(recording, attention), graphs)["bfs"]
    everything = gap.by_rows["all"]
    assert everything.total_variation == pytest.approx(1)
    assert everything.js_bits == pytest.approx(1, abs=1e-4)
    assert everything.kl_nats == pytest.approx(24 * np.log(2))
    assert everything.choice_agreement == everything.choice_agreement_any_head == 0
    assert gap.eq24 == pytest.approx(2 / 12)
    assert 0 < everything.earth_movers < 1


def test_the_earth_mover_counts_how_far(graphs):
    recording = interpreted("bfs")(graphs)
    near, far = (
        gaps(with_attention(recording, np.roll(recording.attention, k, -1)), graphs)["bfs"]
        for k in (1, 4)
    )
    assert near.by_rows["all"].earth_movers < far.by_rows["all"].earth_movers
    assert near.by_rows["all"].total_variation == far.by_rows["all"].total_variation


def test_softening_keeps_choices_and_grows_distances(graphs):
    recording = interpreted("bfs")(graphs)
    soft = 0.6 * recording.attention + 0.4 / 12
    gap = gaps(with_attention(recording, soft), graphs)["bfs"].by_rows["decisive"]
    assert gap.choice_agreement == 1
    assert gap.total_variation == pytest.approx(0.4 * 11 / 12)


def test_order_of_heads_and_padding_do_not_matter(graphs):
    recording = interpreted("bfs")(graphs)
    other = np.random.default_rng(0).dirichlet(np.ones(12), recording.attention.shape[:-1])
    heads = np.concatenate([other, recording.attention], 2)
    for order in ([0, 1], [1, 0]):
        gap = gaps(with_attention(recording, heads[:, :, order]), graphs)["bfs"]
        assert gap.eq24 == 0
        assert gap.eq24_mean_heads > 0
    padded = np.where(recording.valid[:, :, None, None, None], recording.attention, other)
    assert gaps(with_attention(recording, padded), graphs)["bfs"].eq24 == 0


def test_per_step_distances_average_to_the_mean(graphs):
    recording = interpreted("bfs_highest")(graphs)
    gap = gaps(recording, graphs)["bfs"]
    weights = recording.valid.sum(0)
    mean = np.average(gap.total_variation_per_step[weights > 0], weights=weights[weights > 0])
    assert mean == pytest.approx(gap.by_rows["all"].total_variation)


def test_decisive_rows_of_bfs_are_those_in_which_a_node_is_reached(graphs):
    reference = reference_class(graphs)[0]
    reached = np.diff(graphs.hints["reach_h"].astype(int), axis=1) > 0
    np.testing.assert_array_equal(
        reference.decisive[:, :, 0], reached & reference.recording.valid[..., None]
    )


def test_unsettled_rows_hold_the_decisive_ones(graphs):
    reference = reference_class(graphs)[0]
    sets = row_sets(reference, unsettled(graphs))
    assert (sets["decisive"] <= sets["unsettled"]).all()
    assert (sets["unsettled"] <= sets["all"]).all()
    assert sets["decisive"].sum() < sets["unsettled"].sum() < sets["all"].sum()


def test_a_head_for_every_selection():
    batch = tasks.sample("dijkstra", 6, 3, seed=1)
    reference = reference_class(batch)[0]
    rows = compare_rows(np.asarray(reference.recording.attention), reference)
    assert rows.l1.shape[2] == 2
    assert rows.agrees.all()


def test_what_cannot_be_compared_is_refused(graphs):
    other = interpreted("bfs")(tasks.sample("bfs", 5, 8, seed=1))
    with pytest.raises(ValueError, match="record both on one batch"):
        gaps(other, graphs)
    with pytest.raises(NoReferenceError, match=r"the library has some for .*bellman_ford, bfs,"):
        reference_class(tasks.sample("optimal_bst", 4, 1))
