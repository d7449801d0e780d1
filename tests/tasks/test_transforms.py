"""Transforms give new batches with the features they name, and leave the old ones alone."""

import numpy as np
import pytest

from algoscope import tasks
from algoscope.tasks import Feature, Kind, Location, Stage
from algoscope.tasks.transforms import (
    with_cycles,
    with_permutations_as_pointers,
    with_positions,
    with_predecessors_as_inputs,
)


def test_positions_ascend_and_are_the_values_given():
    batch = tasks.sample("bfs", 9, 5, 0)
    values = np.random.RandomState(0).random_sample((5, 9))
    pos = with_positions(batch, values).inputs["pos"]
    assert np.array_equal(pos, np.sort(values, 1))
    assert np.array_equal(batch.inputs["pos"], np.tile(np.arange(9) / 9, (5, 1)))


@pytest.mark.parametrize("name", ["lcs_length", "kmp_matcher"])
def test_positions_ascend_in_each_string(name):
    batch = tasks.sample(name, 11, 6, 0)
    values = np.random.RandomState(0).random_sample((6, 11))
    positions = with_positions(batch, values).inputs["pos"]
    for pos, drawn, string in zip(positions, values, batch.inputs["string"], strict=True):
        for part in (string == 0, string == 1):
            assert np.array_equal(pos[part], np.sort(drawn[part]))


def test_positions_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"values: got shape \(5, 8\), needed \(5, 9\)"):
        with_positions(tasks.sample("bfs", 9, 5, 0), np.zeros((5, 8)))


def test_predecessors_move_from_the_hints_to_the_inputs():
    batch = tasks.sample("minimum", 4, 3, 0)
    moved = with_predecessors_as_inputs(batch)
    assert moved.inputs["pred"].tolist() == [[0, 0, 1, 2]] * 3
    assert list(moved.inputs) == [*batch.inputs, "pred"]
    assert list(moved.hints) == ["min_h", "i"]
    assert Feature("pred", Stage.INPUT, Location.NODE, Kind.POINTER) in moved.features
    assert "pred_h" in batch.hints
    assert batch.features == batch.task.features


def test_a_batch_without_predecessors_stays_as_it_is():
    batch = tasks.sample("bfs", 4, 3, 0)
    assert with_predecessors_as_inputs(batch) is batch


def test_predecessors_that_change_are_refused():
    with pytest.raises(ValueError, match="batch: got insertion_sort, whose pred_h changes"):
        with_predecessors_as_inputs(tasks.sample("insertion_sort", 6, 3, 0))


def test_the_padding_is_no_change_of_predecessors():
    batch = tasks.sample("binary_search", 5, 16, 0)
    assert len(set(batch.lengths)) > 1
    assert with_predecessors_as_inputs(batch).inputs["pred"].tolist() == [[0, 0, 1, 2, 3]] * 16


@pytest.mark.parametrize("name", ["insertion_sort", "bubble_sort", "heapsort", "quicksort"])
def test_a_cycle_goes_through_all_nodes_and_is_the_line_when_cut_at_its_first_node(name):
    batch = tasks.sample(name, 7, 5, 0)
    closed = with_cycles(batch)
    cycles, firsts = closed.outputs["pred"], closed.outputs["pred_mask"]
    assert (cycles.sum(1) == 1).all()
    assert (cycles.sum(2) == 1).all()
    for cycle, first, line in zip(cycles, firsts, batch.outputs["pred"], strict=True):
        node = first.argmax()
        seen = [node := cycle[node].argmax() for _ in range(7)]
        assert sorted(seen) == list(range(7))
        cut = np.where(first == 1, np.arange(7), cycle.argmax(1))
        assert np.array_equal(cut, line)
    kinds = {f.name: f.kind for f in closed.at(Stage.OUTPUT)}
    assert kinds == {"pred": Kind.CYCLE, "pred_mask": Kind.MASK_ONE}
    assert batch.outputs["pred"].shape == (5, 7)


def test_permutations_become_pointers_with_the_same_values():
    batch = tasks.sample("heapsort", 7, 5, 0)
    freed = with_permutations_as_pointers(batch)
    assert [f.kind for f in freed.at(Stage.OUTPUT)] == [Kind.POINTER]
    assert freed.outputs is batch.outputs
