"""The landscape's directions fit the network's filters, and sharpness is an eigenvalue."""

import jax
import numpy as np
import pytest

from algoscope import networks, tasks
from algoscope.measures.landscape import (
    LOCAL,
    landscape,
    largest_eigenvalue,
    random_direction,
    sharpness,
)


@pytest.fixture(scope="module")
def small():
    batch = tasks.sample("bfs", 5, 3, seed=1)
    config = networks.NetworkConfig(width=4)
    return networks.build(tasks.get("bfs"), config, key=jax.random.key(1)), batch


def test_every_filter_of_a_direction_is_as_long_as_the_networks(small):
    network, _ = small
    own, direction = (networks.arrays(n) for n in (network, random_direction(network, 3)))
    for name, array in own.items():
        if array.ndim == 2:
            np.testing.assert_allclose(
                np.linalg.norm(direction[name], axis=0), np.linalg.norm(array, axis=0), rtol=1e-5
            )
        else:
            assert not np.asarray(direction[name]).any()


def test_the_network_itself_is_in_the_middle(small):
    network, batch = small
    plane = landscape(network, batch, LOCAL, resolution=3)
    loss = float(networks.loss(network, networks.to_device(network, batch)))
    assert plane.losses.shape == (3, 3)
    np.testing.assert_allclose(plane.losses[1, 1], loss, rtol=1e-5)
    assert np.ptp(plane.losses) > 0
    np.testing.assert_allclose(plane.offsets, [-LOCAL, 0, LOCAL])


def test_sharpness_is_an_eigenvalue_of_the_whole_network(small):
    network, batch = small
    found = sharpness(network, batch)
    assert found.largest_eigenvalue > 0
    assert found.residual < 0.05 * found.largest_eigenvalue
    assert found.parameters == sum(a.size for a in networks.arrays(network).values())


def test_lanczos_finds_the_largest_eigenvalue_of_a_known_matrix():
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.standard_normal((60, 60)))[0]
    matrix = basis @ np.diag(np.linspace(-9, 5, 60)) @ basis.T
    value, residual = largest_eigenvalue(lambda v: matrix @ v, 60, 60)
    np.testing.assert_allclose(value, 5, atol=1e-8)
    assert residual < 1e-6


def test_an_even_resolution_is_refused(small):
    with pytest.raises(ValueError, match="odd resolution"):
        landscape(*small, radius=1.0, resolution=4)
