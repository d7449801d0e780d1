"""Encoders folded into layers, as on GPUs, against layers that read the encoders' sum."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algoscope import networks, tasks
from algoscope.networks import fused_encoders, objective
from algoscope.networks.network import to_device
from algoscope.networks.pairs import Rows


@pytest.mark.parametrize("task", ["bfs", "dfs"])
def test_a_folded_network_has_the_same_loss_and_gradient(task, monkeypatch):
    batch = tasks.sample(task, 6, 3, seed=1)
    network = networks.build(
        batch.features, networks.NetworkConfig(width=16), key=jax.random.key(1)
    )
    arrays = to_device(network, batch)

    def computed(folds: bool):
        monkeypatch.setattr(fused_encoders, "folds", lambda _: folds)
        return jax.jit(jax.value_and_grad(lambda n: objective.loss(n, arrays)))(network)

    (plain, of_plain), (folded, of_folded) = computed(False), computed(True)
    np.testing.assert_allclose(folded, plain, rtol=1e-5)
    for a, b in zip(jax.tree.leaves(of_folded), jax.tree.leaves(of_plain), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_exact_scalars_are_read_in_two_parts_that_a_gpu_does_not_round(monkeypatch):
    monkeypatch.setattr(fused_encoders, "folds", lambda _: True)
    scalars = jax.random.normal(jax.random.key(0), (5, 3))
    folded = fused_encoders.Folding.of(
        Rows(jnp.ones((3, 8)), jnp.zeros(8)), [0, 2], networks.NetworkConfig()
    )
    read = folded.read(jnp.zeros((5, 8)), [scalars])
    assert read.shape == (5, 16)
    np.testing.assert_array_equal(read[:, 1], scalars[:, 1])
    coarse, off = read[:, [0, 2]], read[:, 3:5]
    np.testing.assert_array_equal(coarse, jax.lax.reduce_precision(coarse, 8, 10))
    np.testing.assert_array_equal(coarse + off, scalars[:, [0, 2]])
    assert 0 < np.abs(off).max() < 2**-10 * np.abs(scalars).max()


def test_networks_of_full_precision_are_not_folded(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert fused_encoders.folds(networks.NetworkConfig())
    assert not fused_encoders.folds(networks.NetworkConfig(matrix_precision="highest"))
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    assert not fused_encoders.folds(networks.NetworkConfig())
