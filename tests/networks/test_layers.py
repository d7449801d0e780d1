"""Layers with derivatives of their own: these are those of the equations."""

import jax
import jax.numpy as jnp
import numpy as np

from algoscope.networks.fast.layers import FastLayerNorm
from algoscope.networks.layers import LayerNorm


def test_derivatives_of_a_layer_norm_are_those_of_its_equation():
    with jax.enable_x64(True):
        x, scale, offset, weight = jax.random.normal(jax.random.key(0), (4, 3, 5))

        plain, fast = (norm(scale[0], offset[0]) for norm in (LayerNorm, FastLayerNorm))
        for derivative in (jax.grad, jax.hessian):
            ours, theirs = (
                derivative(lambda x, norm=norm: (weight * jnp.tanh(norm(x))).sum())(x)
                for norm in (fast, plain)
            )
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
