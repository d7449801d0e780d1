"""The two layers that everything is made of, with the shapes and starting values of dm-clrs."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

EPSILON = 1e-5
"""Of layer norms."""
LEAKY_SLOPE = 0.01
"""Of leaky ReLUs, jax.nn's default."""


def along_last(
    vector: Shaped[Array, " width"], x: Shaped[Array, "..."]
) -> Shaped[Array, "... width"]:
    """The vector [width] with as many axes as x, to meet its last one."""
    return vector.reshape((1,) * (x.ndim - 1) + vector.shape)


class Linear(eqx.Module):
    """y = x W + b, for x [..., inputs]"""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __call__(self, x: Float[Array, "... inputs"]) -> Float[Array, "... outputs"]:
        return x @ self.weight + along_last(self.bias, x)

    @staticmethod
    def start(
        key: PRNGKeyArray, inputs: int, outputs: int, spread: float | None = None, bias: float = 0.0
    ) -> "Linear":
        """Weights from a normal cut at two standard deviations, 1 / sqrt(inputs) unless told."""
        scale = inputs**-0.5 if spread is None else spread
        weight = scale * jax.random.truncated_normal(key, -2.0, 2.0, (inputs, outputs))
        return Linear(weight, jnp.full(outputs, bias, weight.dtype))


class LayerNorm(eqx.Module):
    """y = scale (x - mean(x)) / sqrt(var(x) + 1e-5) + offset, over the last axis"""

    scale: Float[Array, " width"]
    offset: Float[Array, " width"]

    def __call__(self, x: Float[Array, "... width"]) -> Float[Array, "... width"]:
        centred = x - x.mean(-1, keepdims=True)
        deviation = jnp.sqrt(jnp.var(x, -1, keepdims=True) + EPSILON)
        return along_last(self.scale, x) * centred / deviation + along_last(self.offset, x)

    @staticmethod
    def start(width: int) -> "LayerNorm":
        return LayerNorm(jnp.ones(width), jnp.zeros(width))
