"""Disguises leave the mechanism what it is."""

import jax
import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.networks import NetworkConfig
from algoscope.programs import disguises
from algoscope.programs.compiler import compile_program


@pytest.mark.parametrize("name", ["bfs_two_heads", "bellman_ford_in_rounds"])
def test_permuted_networks_compute_the_same_by_other_weights(name):
    program = programs.get(name)
    batch = tasks.sample(program.task, 6, 3, seed=1)
    network = compile_program(program).network
    other = disguises.permuted(network, seed=5)
    plain, disguised = networks.run(network, batch), networks.run(other, batch)
    np.testing.assert_array_equal(plain.attention, disguised.attention)
    for hint in plain.hints:
        np.testing.assert_array_equal(plain.hints[hint], disguised.hints[hint])
    assert not np.array_equal(plain.hidden, disguised.hidden)


def test_permuting_a_random_network_with_layer_norm_changes_rounding_alone():
    batch = tasks.sample("bfs", 5, 2, seed=1)
    network = networks.build(tasks.get("bfs"), NetworkConfig(width=6), key=jax.random.key(2))
    other = disguises.permuted(network, seed=3)
    plain, disguised = networks.run(network, batch), networks.run(other, batch)
    np.testing.assert_allclose(plain.attention, disguised.attention, atol=1e-5)
    np.testing.assert_allclose(plain.logits["pi"], disguised.logits["pi"], atol=1e-4)
    apart = np.abs(plain.hidden[..., :, None] - disguised.hidden[..., None, :]).sum((0, 1, 2))
    order = apart.argmin(1).tolist()
    assert sorted(order) == list(range(6))
    assert order != list(range(6))


def test_softened_attention_is_softer_and_noise_is_noise():
    batch = tasks.sample("bfs", 6, 3, seed=1)
    network = compile_program(programs.get("bfs")).network
    sharp, soft = (
        networks.run(n, batch).attention for n in (network, disguises.softened(network, 2.0**24))
    )
    assert sharp.max(-1).mean() > 0.99 > soft.max(-1).mean()
    noisy = networks.arrays(disguises.noisy(network, 0.1, seed=1))
    for name, array in networks.arrays(network).items():
        np.testing.assert_array_equal(noisy[name] == 0, array == 0)


def test_as_far_as_finds_the_largest_amount_that_is_borne():
    tried = []

    def disguise(amount):
        tried.append(amount)
        return amount

    furthest = disguises.as_far_as(disguise, list(range(1, 17)), lambda amount: amount <= 11)  # pyright: ignore
    assert furthest == (11, 11)
    assert len(tried) <= 5
    assert disguises.as_far_as(disguise, [1.0, 2.0], lambda _: False) is None  # pyright: ignore


def test_what_cannot_be_disguised_is_refused():
    config = NetworkConfig(width=4, processor="mpnn")
    network = networks.build(tasks.get("bfs"), config, key=jax.random.key(0))
    with pytest.raises(ValueError, match="got the processor mpnn"):
        disguises.permuted(network, seed=0)
