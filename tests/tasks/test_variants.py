"""Variants: other traces of the same algorithms, kept apart from the thirty of CLRS-30."""

import numpy as np
import pytest
from drawing import PROBABILITIES, Draw, draws, samples_of
from hypothesis import given

from algoscope import tasks


def test_the_thirty_are_listed_and_variants_on_request():
    assert len(tasks.names()) == 30
    variants = {name: tasks.get(name).variant_of for name in tasks.names(variants=True)}
    assert {name: of for name, of in variants.items() if of is not None} == {
        "bfs_sequential": "bfs",
        "dfs_simplified": "dfs",
    }
    assert sorted(variants) == list(variants)


@given(draws("bfs_sequential", p=PROBABILITIES))
def test_sequential_bfs_reaches_one_node_a_step_in_the_order_of_levels(draw: Draw):
    whole = samples_of(tasks.sample("bfs", draw.size, 3, draw.seed, **draw.options))
    for sample, parallel in zip(draw.samples(), whole, strict=True):
        reached = sample.hints["reach_h"]
        assert np.array_equal(sample.inputs["A"], parallel.inputs["A"])
        assert np.array_equal(sample.outputs["pi"], parallel.outputs["pi"])
        assert np.array_equal(reached.sum(axis=1), np.arange(1, len(reached) + 1))
        steps = {step.tobytes(): i for i, step in enumerate(reached)}
        levels = [steps[level.tobytes()] for level in parallel.hints["reach_h"]]
        assert levels == sorted(levels)
        assert levels[-1] == len(reached) - 1
        for at, level in zip(levels, parallel.hints["pi_h"], strict=True):
            assert np.array_equal(sample.hints["pi_h"][at], level)


@given(draws("dfs_simplified", p=PROBABILITIES))
def test_simplified_dfs_is_dfs_with_fewer_hints(draw: Draw):
    whole = samples_of(tasks.sample("dfs", draw.size, 3, draw.seed, **draw.options))
    for sample, full in zip(draw.samples(), whole, strict=True):
        assert set(sample.hints) == {"pi_h", "color"}
        for ours, theirs in zip(sample, full, strict=True):
            for key, value in ours.items():
                assert np.array_equal(value, theirs[key]), key


@pytest.mark.parametrize("name", ["bfs_sequential", "dfs_simplified"])
def test_a_variant_has_the_splits_of_its_task(name):
    batch = tasks.split(name, "val")
    original = tasks.split(tasks.get(name).variant_of, "val")
    assert np.array_equal(batch.inputs["A"], original.inputs["A"])
    assert np.array_equal(batch.outputs["pi"], original.outputs["pi"])
