"""Pools: what networks learn from, and in which order."""

import dataclasses

import jax
import numpy as np
import pytest

from algoscope import networks, tasks
from algoscope.training import TrainingConfig
from algoscope.training.pool import (
    compact,
    draw_generation,
    make_plan,
    memory_problems,
    steps_per_generation,
    validation_batch,
)

CONFIG = TrainingConfig(
    ("bfs",), steps=4000, pool_steps=60, recipe=tasks.Recipe(sizes=(4, 12), count=4)
)


@pytest.fixture(scope="module")
def plans():
    return (make_plan(CONFIG, "bfs"),)


@pytest.fixture(scope="module")
def generation(plans):
    return draw_generation(CONFIG, plans, 0, seeds=(0, 1, 2))


def test_a_generation_is_a_whole_number_of_cycles():
    assert steps_per_generation(CONFIG) == 60
    assert steps_per_generation(dataclasses.replace(CONFIG, pool_steps=61)) == 62
    assert steps_per_generation(dataclasses.replace(CONFIG, steps=7)) == 8


def test_every_network_sees_every_batch_once_and_in_its_own_order(generation):
    batch = generation.schedules[0].batch
    for size in range(2):
        of_size = batch[:, size::2]
        assert (np.sort(of_size) == np.arange(30)).all()
        assert len({tuple(order) for order in of_size}) == 3


def test_sizes_come_in_turn_and_batches_fit_the_bucket_of_their_step(generation):
    plan, schedule = generation.plans[0], generation.schedules[0]
    assert len(plan.buckets[1]) == 2
    for step, branch in enumerate(schedule.branch):
        size, time = plan.branches[branch]
        assert size == step % 2
        smaller = [t for t in plan.buckets[size] if t < time]
        for batch in schedule.batch[:, step]:
            longest = max(2, generation.pools[0][size].batch.lengths[batch].max())
            assert longest <= time
            assert all(longest > t for t in smaller)


def test_generations_differ_and_each_is_the_same_every_time(generation, plans):
    again = draw_generation(CONFIG, plans, 0, seeds=(0, 1, 2))
    later = draw_generation(CONFIG, plans, 1, seeds=(0, 1, 2))
    assert jax.tree.all(jax.tree.map(np.array_equal, again, generation))
    assert not np.array_equal(
        later.pools[0][0].batch.inputs["A"], generation.pools[0][0].batch.inputs["A"]
    )
    assert not np.array_equal(later.schedules[0].batch, generation.schedules[0].batch)


def test_a_seed_has_the_same_order_whatever_the_other_seeds(generation, plans):
    alone = draw_generation(CONFIG, plans, 0, seeds=(1,))
    assert (alone.schedules[0].batch[0] == generation.schedules[0].batch[1]).all()


def test_a_trace_that_is_longer_than_foreseen_gets_room(plans):
    cramped = dataclasses.replace(plans[0], buckets=((2,), (2,)))
    fitted = draw_generation(CONFIG, (cramped,), 0, seeds=(0,))
    for times, pool in zip(fitted.plans[0].buckets, fitted.pools[0], strict=True):
        assert times[-1] == pool.batch.lengths.max() == pool.batch.hints["pi_h"].shape[2]


def test_short_runs_have_one_bucket():
    plan = make_plan(dataclasses.replace(CONFIG, steps=100), "bfs")
    assert [len(times) for times in plan.buckets] == [1, 1]


@pytest.mark.parametrize("task", ["dfs", "insertion_sort"])
def test_compact_problems_are_the_same_to_a_network(task):
    batch = tasks.sample(task, size=5, count=3)
    network = networks.build(batch.features, networks.NetworkConfig(width=4), key=jax.random.key(0))
    expected = networks.to_device(network, batch)
    compacted = networks.to_device(network, compact(batch))
    assert jax.tree.all(jax.tree.map(np.array_equal, compacted, expected))
    assert sum(a.nbytes for a in jax.tree.leaves(compact(batch))) < sum(
        a.nbytes for a in jax.tree.leaves(expected)
    )


def test_large_problems_have_pointers_that_fit():
    batch = tasks.sample("minimum", size=200, count=1)
    assert (compact(batch).hints["pred_h"] == batch.hints["pred_h"]).all()


def test_validation_problems_are_of_the_largest_size_and_not_those_of_training(generation):
    batch = validation_batch(CONFIG, "bfs")
    assert len(batch) == 64
    assert batch.inputs["pos"].shape == (64, 12)
    assert (np.diff(batch.inputs["pos"]) >= 0).all()
    assert not np.allclose(batch.inputs["pos"][0], np.arange(12) / 12)
    seen = generation.pools[0][1].batch.inputs["pos"].ravel()
    assert not np.isin(batch.inputs["pos"].astype(np.float32)[:, 0], seen).any()


def test_seen_problems_were_learnt_from_and_fresh_ones_were_not(generation):
    memory = memory_problems(CONFIG, "bfs")
    pool = generation.pools[0][1].batch.inputs["pos"].ravel()
    assert np.isin(memory["seen"].inputs["pos"], pool).all()
    assert not np.isin(memory["fresh"].inputs["pos"], pool).any()
    shapes = [[a.shape for a in jax.tree.leaves(problems)] for problems in memory.values()]
    assert shapes[0] == shapes[1]
    assert len(memory["seen"]) == 64


def test_constant_predecessors_become_inputs():
    plan = make_plan(TrainingConfig(("minimum",), steps=5), "minimum")
    assert [f.name for f in plan.features if f.stage is tasks.Stage.INPUT] == ["pos", "key", "pred"]


def test_string_matching_has_one_size():
    config = TrainingConfig(("kmp_matcher",), steps=5)
    assert len(make_plan(config, "kmp_matcher").buckets) == 1
    assert steps_per_generation(config) == 5
