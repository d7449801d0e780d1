"""Steps: Adam, clipping, freezing, noise; seeds side by side or one after the other."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from small import CONFIG, changed

from algoscope import networks, tasks
from algoscope.networks import to_device
from algoscope.training import learning, pool
from algoscope.training.ensemble import start_learners
from algoscope.training.model import PROCESSOR
from algoscope.training.optimiser import Adam, start_learner
from algoscope.training.plan import plan_training


def vectors(*seeds: int) -> dict[str, jax.Array]:
    names = (PROCESSOR, "bfs", "dfs")
    return {
        name: jax.random.normal(jax.random.key(seed), (5,))
        for name, seed in zip(names, seeds, strict=True)
    }


ADAM = Adam(0.1, 1.0)


@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_a_step_is_optax_s_adam(clip):
    weights = vectors(1, 2, 3)
    cut = optax.clip_by_global_norm(clip) if clip else optax.identity()
    optimiser = optax.chain(cut, optax.scale_by_adam(), optax.scale(-0.1))
    expected, state = weights, optimiser.init(weights)
    learner = start_learner(weights, validated=True)
    for seed in range(3):
        gradient = vectors(seed + 10, seed + 20, seed + 30)
        updates, state = optimiser.update(gradient, state)
        expected = optax.apply_updates(expected, updates)
        learner = Adam(0.1, clip).step(learner, gradient)
    for name, found in learner.weights.items():
        np.testing.assert_allclose(found, expected[name], rtol=1e-5)


def test_a_rate_with_a_warm_up_grows_and_falls_to_a_tenth():
    adam = Adam(0.1, 1.0, warmup=10, steps=50)
    expected = optax.warmup_cosine_decay_schedule(0.0, 0.1, 10, 50, end_value=0.01)
    for count in (10, 20, 35, 50, 60):
        np.testing.assert_allclose(adam.rate(jnp.int32(count)), expected(count), rtol=1e-5)
    np.testing.assert_allclose([adam.rate(jnp.int32(k)) for k in (0, 4, 9)], [0.01, 0.05, 0.1])
    assert Adam(0.1, 1.0).rate(jnp.int32(7)) == 0.1


def test_each_task_takes_a_step_of_the_schedule():
    """So far along as steps are done, however many tasks there are."""
    config = changed(tasks=("bfs", "dfs"), steps=4, warmup=2, learning_rate=1.0)
    lesson = learning.Lesson(config, plan_training(config).layout, "bfs", 4, 1)
    rates = [float(lesson.adam.rate(jnp.int32(count))) for count in range(9)]
    assert rates.index(max(rates)) == 3
    np.testing.assert_allclose([rates[3], rates[4], rates[8]], [1.0, 1.0, 0.1], rtol=1e-6)


def test_weights_of_other_tasks_keep_their_moments():
    learner = start_learner(vectors(1, 2, 3), validated=True)
    learner = learning.learn(ADAM, learner, vectors(4, 5, 6))
    gradient = {name: v for name, v in vectors(7, 8, 9).items() if name != "dfs"}
    after = learning.learn(ADAM, learner, gradient)
    for before, now in zip(learner[:4], after[:4], strict=True):
        if isinstance(now, dict):
            assert (now["dfs"] == before["dfs"]).all()
            assert (now["bfs"] != before["bfs"]).all()
    assert after.count == 2


def test_frozen_weights_stay_and_count_for_the_norm():
    frozen = {name: np.zeros(5, bool) for name in (PROCESSOR, "dfs")}
    frozen["bfs"] = np.arange(5) < 2
    learner = start_learner(vectors(1, 2, 3), validated=True)
    free = ADAM.step(learner, vectors(4, 5, 6))
    after = ADAM.step(learner, vectors(4, 5, 6), frozen)
    assert (after.weights["bfs"][:2] == learner.weights["bfs"][:2]).all()
    assert (after.weights["bfs"][2:] == free.weights["bfs"][2:]).all()


def test_names_of_frozen_weights_become_places_in_the_vectors():
    layout = plan_training(CONFIG).layout
    model = layout.shapes
    masks = layout.where(("processor.value", "encoders.A"))
    marked = layout.unpack({name: jnp.asarray(mask) for name, mask in masks.items()})
    for name, mask in networks.arrays(marked.network("bfs")).items():
        expected = name.startswith(("processor.value.", "encoders.A."))
        assert mask.all() if expected else not mask.any(), name
    assert sum(m.size for m in masks.values()) == sum(a.size for a in jax.tree.leaves(model))


def test_vectors_become_the_same_network_again():
    plan = plan_training(CONFIG)
    layout, weights = plan.layout, start_learners(plan).weights
    second = jax.tree.map(lambda stacked: stacked[1], weights)
    again = layout.pack(layout.unpack(second))
    assert jax.tree.all(jax.tree.map(np.array_equal, again, second))
    assert not np.array_equal(weights["bfs"][0], weights["bfs"][1])


def test_noise_only_where_there_is_chance():
    key = jax.random.key(3)
    for task, changes, expected in [
        ("bfs", {}, False),
        ("bfs", {"teacher_forcing": 0.5}, True),
        ("insertion_sort", {}, True),
    ]:
        batch = tasks.sample(task, size=4, count=6)
        network = networks.build(batch.features, CONFIG.network, key=key)
        arrays = to_device(network, batch)
        noise = learning.noise_of(changed(**changes), network, arrays, key)
        assert (noise is not None) == expected
        if noise is None:
            continue
        assert (noise.keep == 1).all()
        assert noise.force.shape == (6, next(iter(arrays.hints.values())).shape[1] - 1)
        assert noise.force.any() == ("teacher_forcing" in changes)


def test_validation_draws_with_replacement_at_new_positions():
    arrays = pool.compact(pool.validation_batch(CONFIG, "bfs"))
    drawn = learning.draw_again(CONFIG, jax.tree.map(jnp.asarray, arrays), jax.random.key(1))
    rows = {row.tobytes() for row in arrays.inputs["A"]}
    assert all(np.asarray(row).tobytes() in rows for row in drawn.inputs["A"])
    assert (np.diff(drawn.inputs["pos"]) >= 0).all()
    assert not np.isin(drawn.inputs["pos"], arrays.inputs["pos"]).any()


def test_seeds_learn_the_same_side_by_side_and_one_after_the_other():
    no_hints = networks.NetworkConfig(width=4, encode_hints=False, decode_hints=False)
    config = changed(evaluate_every=10**6, regularisation=1e-3, network=no_hints)
    plan = plan_training(config)
    generation = pool.draw_generation(config, plan.tasks, 0, config.all_seeds)
    lesson = learning.Lesson(config, plan.layout, "bfs", 4, 3)
    per_seed = (
        start_learners(plan),
        jnp.arange(2, dtype=jnp.uint32),
        jnp.asarray(generation.schedules[0].batch[:, 1]),
    )
    mesh = plan.placement.mesh

    def one(own, pool):
        return lesson(*own, jnp.int32(1), pool)

    @jax.jit
    def both(per_seed, pool):
        return [learning.over_seeds(one, per_seed, pool, mesh, at_once) for at_once in (1, 2)]

    (one_by_one, loss), (together, _) = both(per_seed, generation.pools[0][0])
    for name, weights in one_by_one.weights.items():
        np.testing.assert_allclose(weights, together.weights[name], atol=1e-4)
        assert not np.array_equal(weights, per_seed[0].weights[name])
    assert np.isfinite(loss).all()
    assert (one_by_one.count == 1).all()
