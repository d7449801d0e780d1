"""Layers with derivatives of their own: these are those of the equations."""

import jax
import jax.numpy as jnp
import numpy as np

from algoscope.networks.layers import LayerNorm


def test_derivatives_of_a_layer_norm_are_those_of_its_equation():
    with jax.enable_x64(True):
        x, scale, offset, weight = jax.random.normal(jax.random.key(0), (4, 3, 5))

        def plain(x):
            variance = jnp.var(x, -1, keepdims=True)
            normal = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(variance + 1e-5)
            return scale[0] * normal + offset[0]

        own = LayerNorm(scale[0], offset[0])
        for derivative in (jax.grad, jax.hessian):
            ours, theirs = (
                derivative(lambda x, norm=norm: (weight * jnp.tanh(norm(x))).sum())(x)
                for norm in (own, plain)
            )
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
