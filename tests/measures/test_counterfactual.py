"""Changed problems: exact programs change as the algorithm does, shortcuts do not."""

import numpy as np
import pytest
from measures.conftest import interpreted

from algoscope import tasks
from algoscope.measures import counterfactual
from algoscope.measures.references import reference_class


def response(name: str, batch):
    subject = interpreted(name)
    used, unused = counterfactual.changes(batch, seed=1)
    return counterfactual.response(
        *((c, subject(c.before), subject(c.after)) for c in (used, unused))
    )


def flip_response(name: str, changed):
    subject = interpreted(name)
    references = tuple(reference_class(batch)[0] for batch in changed[:2])
    return counterfactual.flip_response(changed, tuple(map(subject, changed[:2])), references)


@pytest.mark.parametrize("name", ["bfs", "bfs_restless", "bellman_ford", "minimum"])
def test_exact_programs_follow_every_change(name):
    task = name.partition("_r")[0]
    found = response(name, tasks.sample(task, 10, 12, seed=3))
    assert found.effect == found.still == 1
    assert found.entries > 20
    assert found.problems > 6


@pytest.mark.parametrize("name", ["bfs_leaping", "bfs_two_hops"])
def test_others_follow_less(name):
    assert response(name, tasks.sample("bfs", 10, 12, seed=3)).effect < 0.9


def test_the_algorithm_decides_what_is_used(graphs):
    used, unused = counterfactual.changes(graphs, seed=0)
    for changed, differs in ((used, True), (unused, False)):
        for before, after, sample in zip(
            changed.before.outputs["pi"], changed.after.outputs["pi"], changed.samples, strict=True
        ):
            np.testing.assert_array_equal(before, graphs.outputs["pi"][sample])
            if not differs:
                np.testing.assert_array_equal(before, after)
        removed = changed.before.inputs["A"] - changed.after.inputs["A"]
        assert (removed.sum((1, 2)) == 2).all(), "one undirected edge"
    assert len(used.samples) > 4
    assert len(unused.samples) > 4


@pytest.mark.parametrize("task", ["mst_prim", "minimum"])
def test_flips_are_a_hair_apart_and_answered_differently(task):
    batch = tasks.sample(task, 10, 16, seed=3)
    changed = counterfactual.flips(batch, seed=0)
    assert len(changed.samples) >= 6
    name = "A" if task == "mst_prim" else "key"
    apart = np.abs(changed.before.inputs[name] - changed.after.inputs[name])
    largest = apart.reshape(len(apart), -1).max(-1)
    assert (largest <= 8.1e-4).all()
    assert (largest >= 1.9e-4).all()
    output = next(iter(changed.before.outputs))
    differs = changed.before.outputs[output] != changed.after.outputs[output]
    assert differs.reshape(len(differs), -1).any(-1).all()


@pytest.mark.parametrize("task", ["naive_string_matcher", "kmp_matcher", "lcs_length"])
def test_strings_change_by_a_letter_and_never_by_a_hair(task):
    batch = tasks.sample(task, 12, 8, seed=3)
    used, _ = counterfactual.changes(batch, seed=0)
    before, after = (strings.inputs["key"].argmax(-1) for strings in used[:2])
    assert len(used.samples) > 4
    assert ((before != after).sum(-1) == 1).all()
    with pytest.raises(ValueError, match="no numbers to change by a hair"):
        counterfactual.flips(batch, seed=0)


def test_flips_tell_almost_the_right_comparison_from_the_right_one():
    changed = counterfactual.flips(tasks.sample("mst_prim", 10, 16, seed=3), seed=0)
    exact, tilted = (flip_response(name, changed) for name in ("prim_by_hints", "prim_tilted"))
    assert exact.followed == exact.reads == exact.answers == 1
    assert tilted.followed < 0.9


def test_flips_of_keys_are_followed_in_the_answers():
    changed = counterfactual.flips(tasks.sample("minimum", 10, 16, seed=3), seed=0)
    assert flip_response("minimum_by_state", changed).followed == 1
    assert flip_response("minimum_tilted", changed).followed < 0.9


def test_what_cannot_be_changed_is_refused_with_what_can(graphs):
    with pytest.raises(ValueError, match="no numbers to change by a hair"):
        counterfactual.flips(graphs, seed=0)
    with pytest.raises(ValueError, match=r"needed one whose problems have edges \(A\) or keys"):
        counterfactual.changes(tasks.sample("segments_intersect", 4, 2), seed=0)
