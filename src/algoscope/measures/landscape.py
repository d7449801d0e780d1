"""The loss around a network's weights: pictures along random directions, and sharpness as a number.

Directions are *filter-normalised* (Li et al., 2018): random, and scaled so that each filter of the
direction is as long as the network's own,

    d_ij <- d_ij / |d_ij| |w_ij|

A filter is what feeds one unit: a column of a matrix. Biases stay where they are, as there. So the
picture does not depend on the scale of units. Sharpness is the largest eigenvalue of the Hessian of
the loss, by Lanczos iterations on products of the Hessian with vectors; it does depend on scale.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from algoscope import networks
from algoscope.networks import Network
from algoscope.tasks import Batch

LOCAL, WIDE = 0.1, 1.0
"""Radii in units of the filters' lengths."""


class Landscape(NamedTuple):
    offsets: np.ndarray
    """Steps along each direction, 0 in the middle: [resolution]"""
    losses: np.ndarray
    """[along the first direction, along the second]"""


class Sharpness(NamedTuple):
    largest_eigenvalue: float
    residual: float
    """How exact that is: |H v - λ v| of the unit eigenvector v."""
    loss: float
    parameters: int


def random_direction(network: Network, seed: int) -> Network:
    """A filter-normalised direction, in the form of the network."""
    random = np.random.default_rng(seed)
    named = {}
    for name, array in networks.arrays(network).items():
        weights = np.asarray(array)
        if weights.ndim < 2:
            named[name] = np.zeros_like(weights)
            continue
        drawn = random.standard_normal(weights.shape)
        lengths = np.linalg.norm(weights, axis=0) / np.linalg.norm(drawn, axis=0)
        named[name] = (drawn * lengths).astype(weights.dtype)
    return networks.with_arrays(network, named)


def landscape(
    network: Network, batch: Batch, radius: float, resolution: int = 25, seed: int = 0
) -> Landscape:
    """The training loss on a plane through the network along two random directions."""
    if radius <= 0 or resolution < 3 or resolution % 2 == 0:
        raise ValueError(
            f"radius, resolution: got {radius} and {resolution}, needed a radius above 0 and an "
            "odd resolution of at least 3, so that the network itself is in the middle"
        )
    directions = [random_direction(network, 2 * seed + k) for k in range(2)]
    offsets = np.linspace(-radius, radius, resolution)
    arrays = networks.to_device(network, batch)

    @jax.jit
    def row(first, seconds):
        def at(second):
            moved = jax.tree.map(lambda w, a, b: w + first * a + second * b, network, *directions)
            return networks.loss(moved, arrays)

        return jax.lax.map(at, seconds)

    seconds = jnp.asarray(offsets, network.dtype)
    losses = [np.asarray(row(first, seconds)) for first in seconds]
    return Landscape(offsets, np.stack(losses))


def sharpness(network: Network, batch: Batch, iterations: int = 40) -> Sharpness:
    """The largest eigenvalue of the Hessian of the training loss."""
    arrays = networks.to_device(network, batch)
    flat, unflatten = jax.flatten_util.ravel_pytree(network)

    def loss(weights, path=None):
        return networks.loss(unflatten(weights), arrays, path=path)

    @jax.jit
    def product(vector):
        twice = networks.fast_path(second_derivatives=True)
        gradient = jax.grad(lambda weights: loss(weights, twice))
        return jax.jvp(gradient, (flat,), (vector,))[1]

    largest, residual = largest_eigenvalue(
        lambda v: np.asarray(product(jnp.asarray(v, flat.dtype)), float), flat.size, iterations
    )
    return Sharpness(largest, residual, float(jax.jit(loss)(flat)), int(flat.size))


def largest_eigenvalue(
    product: Callable[[np.ndarray], np.ndarray], size: int, iterations: int
) -> tuple[float, float]:
    """Of a symmetric matrix given by its product with vectors, and the residual |A v - λ v| of the
    eigenvector that goes with it; by Lanczos iterations that are orthogonalised in full."""
    vector = np.random.default_rng(0).standard_normal(size)
    basis, diagonal, off_diagonal = [vector / np.linalg.norm(vector)], [], []
    for _ in range(min(iterations, size)):
        image = product(basis[-1])
        diagonal.append(float(image @ basis[-1]))
        for _ in range(2):
            for known in basis:
                image = image - (image @ known) * known
        off_diagonal.append(float(np.linalg.norm(image)))
        if off_diagonal[-1] < 1e-10 * max(1.0, abs(diagonal[0])):
            break
        basis.append(image / off_diagonal[-1])
    values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, off_diagonal[:-1])
    return float(values[-1]), float(abs(off_diagonal[-1] * vectors[-1, -1]))
