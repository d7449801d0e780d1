"""Batches: the same at any buffer size, padded, and refused with a reason where they cannot be."""

import itertools

import numpy as np
import pytest
from drawing import samples_of

from algoscope import tasks
from algoscope.tasks.sampling import batches


def one_by_one(name: str, size: int, count: int, seed: int) -> list[tasks.Batch]:
    return list(itertools.islice(batches(tasks.get(name), size, 1, seed, {}), count))


@pytest.mark.parametrize("name", ["bubble_sort", "quickselect", "dfs", "bfs", "graham_scan"])
def test_a_trace_that_outgrows_the_first_buffer_is_what_single_draws_give(name):
    """The buffer starts with 8 steps a sample: too few for all of these but bfs."""
    batch = tasks.sample(name, 12, 6, 3)
    assert batch.lengths.sum() > 8 * len(batch) or name == "bfs"
    singles = one_by_one(name, 12, 6, 3)
    assert [int(single.lengths[0]) for single in singles] == batch.lengths.tolist()
    for together, single in zip(samples_of(batch), singles, strict=True):
        [alone] = samples_of(single)
        for ours, theirs in zip(together, alone, strict=True):
            assert ours.keys() == theirs.keys()
            for key in ours:
                assert np.array_equal(ours[key], theirs[key]), key


def test_the_same_seed_draws_the_same_and_a_longer_batch_begins_alike():
    few, many, other = (
        tasks.sample("dijkstra", 9, count, seed) for count, seed in ((3, 5), (8, 5), (3, 6))
    )
    assert np.array_equal(few.inputs["A"], many.inputs["A"][:3])
    assert np.array_equal(few.outputs["pi"], many.outputs["pi"][:3])
    assert not np.array_equal(few.inputs["A"], other.inputs["A"])


def test_hints_are_zero_after_the_last_step():
    batch = tasks.sample("quicksort", 10, 8, 0)
    assert len(set(batch.lengths)) > 1
    for name, array in batch.hints.items():
        assert array.shape[:2] == (8, batch.lengths.max())
        for sample, steps in zip(array, batch.lengths, strict=True):
            assert not sample[steps:].any(), name


def test_defaults_are_32_problems_of_size_16_from_seed_7():
    batch = tasks.sample("bfs")
    assert len(batch) == 32
    assert batch.inputs["A"].shape == (32, 16, 16)
    assert np.array_equal(batch.inputs["A"], tasks.sample("bfs", 16, 32, 7).inputs["A"])


def test_a_batch_shows_its_shapes():
    batch = tasks.sample("bfs", 5, 2, 0)
    assert "bfs, 2 samples" in repr(batch)
    assert f"reach_h [2, {batch.lengths.max()}, 5]" in repr(batch)
    assert repr(batch.task) == "Task('bfs')"


@pytest.mark.parametrize("name", tasks.names())
def test_a_size_below_the_smallest_is_refused_and_the_smallest_is_not(name):
    smallest = tasks.get(name).smallest
    for size in (smallest - 1, -1):
        message = rf"size: got {size}, needed an integer of at least {smallest} for {name}"
        with pytest.raises(ValueError, match=message):
            tasks.sample(name, size)
    assert len(tasks.sample(name, smallest, 2)) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size: got 0, needed an integer of at least 1 for bfs"),
        ({"size": 4.0}, "size: got 4.0, needed an integer"),
        ({"size": "4"}, "size: got '4', needed an integer"),
        ({"size": True}, "size: got True, needed an integer of at least 1"),
        ({"size": None}, "size: got None, needed an integer"),
        ({"count": 0}, "count: got 0, needed an integer of at least 1"),
        ({"count": -3}, "count: got -3, needed an integer of at least 1"),
        ({"count": 1.5}, "count: got 1.5, needed an integer"),
        ({"seed": -1}, "seed: got -1, needed an integer from 0 to 4294967295"),
        ({"seed": 2**32}, "seed: got 4294967296, needed an integer from 0 to 4294967295"),
        ({"seed": "x"}, "seed: got 'x', needed an integer"),
        ({"p": 1.5}, "p: got 1.5, needed a probability between 0 and 1"),
        ({"p": -0.1}, "p: got -0.1, needed a probability between 0 and 1"),
        ({"p": float("nan")}, "p: got nan, needed a finite number"),
        ({"p": []}, "p: got an empty list, needed at least one value"),
        ({"p": [0.1, "x"]}, "p: got 'x', needed a number"),
        ({"p": None}, "p: got None, needed a number"),
        ({"p": np.array(0.5)}, r"p: got array\(0.5\), needed a number"),
        ({"P": 0.5}, "unknown option of bfs: 'P'; did you mean p"),
        ({"low": 0.5}, "unknown option of bfs: 'low'"),
        ({"truncate": 3}, "unknown option of bfs: 'truncate'; did you mean truncate_decimals"),
        ({"truncate_decimals": 0}, "truncate_decimals: got 0, needed an integer from 1 to 15"),
        ({"truncate_decimals": 16}, "truncate_decimals: got 16, needed an integer from 1 to 15"),
    ],
)
def test_a_bad_argument_is_refused_with_its_name_and_what_is_needed(arguments, message):
    with pytest.raises(ValueError, match=message):
        tasks.sample("bfs", **arguments)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("dijkstra", {"low": -1}, "low: got -1, needed a number of at least 0"),
        ("mst_prim", {"high": float("inf")}, "high: got inf, needed a finite number"),
        ("minimum", {"low": "0"}, "low: got '0', needed a number"),
        ("minimum", {"lo": 0}, "unknown option of minimum: 'lo'; did you mean low"),
        ("optimal_bst", {"p": 0.5}, "unknown option of optimal_bst: 'p'"),
        ("lcs_length", {"length_2": 0}, "length_2: got 0, needed an integer of at least 1"),
        ("lcs_length", {"length_2": 2.5}, "length_2: got 2.5, needed an integer"),
        ("lcs_length", {"chars": 5}, "chars: got 5, needed an integer from 1 to 4"),
        ("kmp_matcher", {"length_needle": 8}, "length_needle: got 8, .* from -7 to 7"),
        ("kmp_matcher", {"length_needle": -8}, "length_needle: got -8, .* from -7 to 7"),
        ("kmp_matcher", {"length_needle": 0}, "length_needle: got 0, needed a length"),
        ("naive_string_matcher", {"chars": 0}, "chars: got 0, needed an integer from 1 to 4"),
        ("task_scheduling", {"max_deadline": 0}, "max_deadline: got 0, needed an integer from 1"),
        ("strongly_connected_components", {"k": 17}, "k: got 17, needed an integer from 1 to 16"),
        ("strongly_connected_components", {"eps": 2}, "eps: got 2, needed a probability"),
        ("graham_scan", {"radius": 0}, "radius: got 0, needed a number above 0"),
        (
            "jarvis_march",
            {"truncate_decimals": 1, "collinearity_resampling_attempts": 3},
            "collinearity_resampling_attempts: got 3, needed more",
        ),
        ("segments_intersect", {"low": 1.0, "high": 1.0}, "high: got the value of low"),
    ],
)
def test_a_bad_option_is_refused_with_its_name_and_what_is_needed(name, given, message):
    with pytest.raises(ValueError, match=message):
        tasks.sample(name, **given)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("bsf", "bfs"), ("quick_sort", "quicksort"), ("kmp", "kmp_matcher"), ("BFS", "bfs")],
)
def test_an_unknown_task_is_refused_with_what_may_have_been_meant(given, meant):
    with pytest.raises(ValueError, match=rf"unknown task: '{given}'; did you mean .*{meant}"):
        tasks.get(given)


def test_an_unknown_task_unlike_any_is_refused_with_all_there_are():
    with pytest.raises(ValueError, match="unknown task: '###'; there is activity_selector, "):
        tasks.sample("###")


def test_one_probability_is_the_same_as_a_list_of_it():
    batches = [tasks.sample("dfs", 8, 4, 0, p=p) for p in (0.3, [0.3], (0.3,), np.array([0.3]))]
    for batch in batches[1:]:
        assert np.array_equal(batch.inputs["A"], batches[0].inputs["A"])


def test_truncated_inputs_have_the_decimals_asked_for():
    for name in ("insertion_sort", "dijkstra"):
        exact = tasks.sample(name, 6, 4, 1)
        truncated = tasks.sample(name, 6, 4, 1, truncate_decimals=4)
        for key in exact.inputs.keys() & {"key", "A"}:
            expected = np.trunc(exact.inputs[key] * 1e4) / 1e4
            assert np.array_equal(truncated.inputs[key], expected), key
            assert not np.array_equal(truncated.inputs[key], exact.inputs[key]), key
