"""The two layers that everything is made of, with the shapes and starting values of dm-clrs."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
from jaxtyping import Array, Float, PRNGKeyArray

_EPSILON = 1e-5
_NARROW = 8
_KEPT = "kept"

what_is_kept = jax.checkpoint_policies.save_only_these_names(_KEPT)
"""For the backward pass of a long loop on a GPU, where to put aside and fetch takes longer than
most computations: what `for_backward` names."""


def for_backward(values: Any) -> Any:
    """The same values, worth being kept: dear to compute, or few."""
    return jax.tree.map(lambda value: checkpoint_name(value, _KEPT), values)


class Linear(eqx.Module):
    """y = x W + b, for x [..., inputs]"""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __call__(self, x: Float[Array, "... inputs"]) -> Float[Array, "... outputs"]:
        return x @ self.weight + self.bias

    @staticmethod
    def start(
        key: PRNGKeyArray, inputs: int, outputs: int, spread: float | None = None, bias: float = 0.0
    ) -> "Linear":
        """Weights from a normal cut at two standard deviations, 1 / sqrt(inputs) unless told."""
        scale = inputs**-0.5 if spread is None else spread
        weight = scale * jax.random.truncated_normal(key, -2.0, 2.0, (inputs, outputs))
        return Linear(weight, jnp.full(outputs, bias, weight.dtype))


class SideBySide(eqx.Module):
    """Linear layers on the same x: those with few outputs as one matrix product, since each alone
    would read all of x for a few numbers."""

    wide: tuple[Linear, ...]
    narrow: Linear | None
    """All of them, filled with zeros to a width that matrix units like."""
    outputs: tuple[int, ...] = eqx.field(static=True)
    """Of each layer."""

    @staticmethod
    def of(layers: Sequence[Linear]) -> "SideBySide":
        outputs = tuple(len(layer.bias) for layer in layers)
        narrow = [layer for layer in layers if len(layer.bias) <= _NARROW]
        joint = None
        if narrow:
            more = -sum(len(layer.bias) for layer in narrow) % _NARROW
            weight = jnp.concatenate([layer.weight for layer in narrow], 1)
            bias = jnp.concatenate([layer.bias for layer in narrow])
            joint = Linear(jnp.pad(weight, ((0, 0), (0, more))), jnp.pad(bias, (0, more)))
        wide = tuple(layer for layer in layers if len(layer.bias) > _NARROW)
        return SideBySide(wide, joint, outputs)

    def __call__(self, x: Float[Array, "... inputs"]) -> list[Float[Array, "... outputs"]]:
        """In the order of the layers."""
        of_wide, end = iter(self.wide), 0
        of_narrow = None if self.narrow is None else self.narrow(x)
        y = []
        for outputs in self.outputs:
            if outputs > _NARROW:
                y.append(next(of_wide)(x))
            else:
                assert of_narrow is not None
                y.append(jax.lax.slice_in_dim(of_narrow, end, end + outputs, axis=-1))
                end += outputs
        return y


def summed(
    x: Sequence[Float[Array, "... inputs"]],
    weights: Sequence[Float[Array, "inputs outputs"]],
    biases: Sequence[Float[Array, " outputs"]],
) -> Float[Array, "... outputs"]:
    """y = sum_f x_f W_f + b_f in full precision, one term after the other: as one product, large
    and small terms would round each other off."""
    total = jnp.zeros((*x[0].shape[:-1], biases[0].shape[0]), biases[0].dtype)
    for x_f, weight, bias in zip(x, weights, biases, strict=True):
        # Not as a product of matrices: what reads this may then compute it again.
        total += sum(x_f[..., k : k + 1] * weight[k] for k in range(len(weight))) + bias
    return total


@jax.custom_jvp
def _moments(x: Float[Array, "... width"]) -> tuple[Float[Array, "... 1"], Float[Array, "... 1"]]:
    """m = mean(x) and r = 1 / sqrt(var(x) + 1e-5)"""
    variance = jnp.var(x, -1, keepdims=True)
    return x.mean(-1, keepdims=True), jax.lax.rsqrt(variance + _EPSILON)


@_moments.defjvp
def _moments_jvp(primals, tangents):
    """dr = -r³ mean((x - m) dx), where var(x) through m would be one more pass over x."""
    (x,), (dx,) = primals, tangents
    mean, inverse = for_backward(_moments(x))
    dinverse = -(inverse**3) * ((x - mean) * dx).mean(-1, keepdims=True)
    return (mean, inverse), (dx.mean(-1, keepdims=True), dinverse)


class LayerNorm(eqx.Module):
    """y = scale (x - mean(x)) / sqrt(var(x) + 1e-5) + offset, over the last axis"""

    scale: Float[Array, " width"]
    offset: Float[Array, " width"]

    def __call__(self, x: Float[Array, "... width"]) -> Float[Array, "... width"]:
        mean, inverse = _moments(x)
        return self.scale * inverse * (x - mean) + self.offset

    @staticmethod
    def start(width: int) -> "LayerNorm":
        return LayerNorm(jnp.ones(width), jnp.zeros(width))
