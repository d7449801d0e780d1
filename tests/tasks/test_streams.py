"""Streams equal dm-clrs's training samplers, whose digests make_stream_goldens.py wrote."""

import dataclasses
import itertools

import numpy as np
import pytest
from oracle import stream_goldens
from oracle.task_goldens import CPU_DEPENDENT

from algoscope import tasks
from algoscope.tasks import Recipe, Stage

GOLDENS = stream_goldens.load()
FEW = Recipe(count=4)


def take(count: int, *arguments, **options) -> list[tasks.Batch]:
    return list(itertools.islice(tasks.stream(*arguments, **options), count))


@pytest.mark.parametrize("case", stream_goldens.CASES, ids=lambda case: case.name)
def test_a_stream_equals_that_of_dm_clrs(case):
    random = np.random.RandomState(stream_goldens.SEED)
    stream = tasks.stream(case.task, case.recipe, random)
    random.randint(2**32, size=stream_goldens.SEEDS_AFTER_TRAINING)
    batches = [
        {
            "inputs": batch.inputs,
            "hints": batch.hints,
            "outputs": batch.outputs,
            "lengths": {"lengths": batch.lengths},
        }
        for batch in itertools.islice(stream, case.batches)
    ]
    ours = stream_goldens.digests(batches, CPU_DEPENDENT.get(case.task, ()))
    assert list(ours.items()) == list(GOLDENS[case.name].items())


def test_every_case_has_its_golden_and_no_golden_is_left_over():
    assert sorted(GOLDENS) == sorted(case.name for case in stream_goldens.CASES)


@pytest.mark.parametrize("name", tasks.names())
def test_a_batch_says_what_its_arrays_are(name):
    for permutations in ("line", "cycle", "pointers"):
        [batch] = take(1, name, dataclasses.replace(FEW, permutations=permutations))
        stages = {
            Stage.INPUT: batch.inputs,
            Stage.HINT: batch.hints,
            Stage.OUTPUT: batch.outputs,
        }
        nodes = batch.inputs["pos"].shape[1]
        for stage, arrays in stages.items():
            features = batch.at(stage)
            assert [f.name for f in features] == list(arrays)
            for feature in features:
                array = arrays[feature.name]
                over_time = 2 if stage is Stage.HINT else 1
                assert array.shape[over_time:] == feature.dense_shape(nodes), feature
                assert array.dtype == feature.dense_dtype, feature


def test_sizes_come_in_turn_and_matchers_have_one():
    sizes = [batch.inputs["pos"].shape for batch in take(4, "bfs", Recipe((5, 9, 6), count=2))]
    assert sizes == [(2, 5), (2, 9), (2, 6), (2, 5)]
    sizes = [batch.inputs["pos"].shape for batch in take(2, "kmp_matcher", FEW)]
    assert sizes == [(4, 20), (4, 20)]


@pytest.mark.parametrize(("name", "edges"), [("dfs", 1.0), ("bridges", 0.25), ("mst_prim", 1.0)])
def test_edges_are_as_likely_as_asked_for_and_fewer_where_traces_are_long(name, edges):
    [batch] = take(1, name, Recipe((16,), p=(1.0,)))
    assert (batch.inputs["A"] != 0).mean() == pytest.approx(edges, abs=0.02)


def test_needles_have_the_lengths_asked_for():
    [batch] = take(1, "naive_string_matcher", Recipe(count=64))
    assert set(batch.inputs["string"].sum(1)) == set(range(1, 9))
    [batch] = take(1, "naive_string_matcher", Recipe(count=8, length_needle=3))
    assert set(batch.inputs["string"].sum(1)) == {3}
    [batch] = take(1, "naive_string_matcher", Recipe(count=8, length_needle=None))
    assert set(batch.inputs["string"].sum(1)) == {4}


def test_options_override_the_recipe():
    [batch] = take(1, "dfs", FEW, p=0.0)
    assert not batch.inputs["A"].any()
    [batch] = take(1, "dijkstra", Recipe((16,), count=8), low=2.0, high=3.0)
    weights = batch.inputs["A"][batch.inputs["A"] > 0]
    assert 2.0 <= weights.min() <= weights.max() <= 3.001
    [batch] = take(1, "bfs", Recipe((16,), count=8), family="tree")
    assert (batch.inputs["A"].sum((1, 2)) == 30).all()


def test_a_burn_in_pads_time_to_the_longest_trace_so_far():
    recipe = Recipe((8,), count=2, burn_in=100)
    batches = take(30, "quicksort", recipe)
    steps = [batch.hints["i"].shape[1] for batch in batches]
    longest = np.maximum.accumulate([batch.lengths.max() for batch in batches])
    assert steps == np.maximum(steps[0], longest).tolist()
    assert steps[0] > batches[0].lengths.max()
    for batch in batches:
        for sample, length in zip(batch.hints["j"], batch.lengths, strict=True):
            assert not sample[length:].any()


def test_a_batch_keeps_its_values_while_others_are_drawn():
    """Memory is used again, but not that of arrays, or of views of them, that are still there."""
    recipe = Recipe((16,), count=32)
    stream = tasks.stream("bridges", recipe, 3)
    kept = [next(stream).hints["is_bridge_h"][:, 1] for _ in range(6)]
    copies = [np.array(array) for array in kept]
    for _ in range(6):
        next(stream)
    again = [batch.hints["is_bridge_h"][:, 1] for batch in take(6, "bridges", recipe, 3)]
    for array, copy, expected in zip(kept, copies, again, strict=True):
        assert np.array_equal(array, copy)
        assert np.array_equal(array, expected)


def test_a_random_state_moves_on_and_an_integer_seeds_one():
    random = np.random.RandomState(5)
    [first] = take(1, "minimum", FEW, random)
    [second] = take(1, "minimum", FEW, random)
    [again] = take(1, "minimum", FEW, 5)
    assert np.array_equal(first.inputs["key"], again.inputs["key"])
    assert not np.array_equal(first.inputs["key"], second.inputs["key"])


def test_networks_can_be_built_for_what_a_stream_gives():
    import jax

    from algoscope import networks

    for name, permutations in (("minimum", "line"), ("insertion_sort", "pointers")):
        recipe = Recipe((5,), count=2, permutations=permutations)
        [batch] = take(1, name, recipe)
        network = networks.build(batch.features, key=jax.random.key(0))
        assert ("pred" in network.encoders) == (name == "minimum")
        scores = networks.score(networks.run(network, batch), batch)
        assert scores.keys() == {"score", *batch.outputs}
    [batch] = take(1, "insertion_sort", Recipe((5,), count=2, permutations="cycle"))
    with pytest.raises(ValueError, match=r"feature pred: got a cycle, needed a .*permutation"):
        networks.build(batch.features, key=jax.random.key(0))


@pytest.mark.parametrize(
    ("recipe", "seed", "message"),
    [
        (Recipe(()), 0, r"sizes: got \(\), needed at least one"),
        (Recipe((0,)), 0, "sizes: got 0, needed an integer of at least 1"),
        (Recipe((4.5,)), 0, "sizes: got 4.5, needed an integer"),
        (Recipe((3,)), 0, "size: got 3, needed .* at least 4 for strongly_connected_components"),
        (Recipe(count=0), 0, "count: got 0, needed an integer of at least 1"),
        (Recipe(p=(1.5,)), 0, "p: got 1.5, needed a probability"),
        (Recipe(p=()), 0, "p: got an empty list"),
        (Recipe(burn_in=-1), 0, "burn_in: got -1, needed an integer of at least 0"),
        (Recipe(permutations="circle"), 0, "unknown permutations: 'circle'; did you mean cycle"),
        (Recipe(), -1, "seed: got -1, needed an integer from 0 to 4294967295"),
        (Recipe(), 2**32, "seed: got 4294967296, needed an integer from 0 to 4294967295"),
        (Recipe(), None, "seed: got None, needed an integer"),
    ],
)
def test_a_bad_recipe_is_refused_at_once(recipe, seed, message):
    with pytest.raises(ValueError, match=message):
        tasks.stream("strongly_connected_components", recipe, seed)


def test_a_needle_too_long_for_the_sizes_is_refused():
    with pytest.raises(ValueError, match=r"length_needle: got -8, needed .* from -4 to 4"):
        tasks.stream("kmp_matcher", Recipe((8,)))
