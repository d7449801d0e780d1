"""Layers as they are fastest: equal to the plain ones, and to several of them at once."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
from jaxtyping import Array, Float

from algoscope.networks.layers import EPSILON, LayerNorm, Linear, along_last

_NARROW = 8
_SAVED = "saved"

save_named = jax.checkpoint_policies.save_only_these_names(_SAVED)
"""For the backward pass of a long loop on a GPU, where recomputing is faster than saving and
reloading: only what `save_for_backward` names is saved."""


def save_for_backward(values: Any) -> Any:
    """The same values, worth saving: expensive to compute, or few."""
    return jax.tree.map(lambda value: checkpoint_name(value, _SAVED), values)


def compose(first: Linear, second: Linear) -> Linear:
    """second(first(x)) as one layer: (x R + c) W + b = x (R W) + (c W + b)"""
    return Linear(first.weight @ second.weight, first.bias @ second.weight + second.bias)


class ParallelLinears(eqx.Module):
    """Linear layers on the same x: those with few outputs as one matrix product, since each alone
    would read all of x for a few numbers."""

    wide: tuple[Linear, ...]
    narrow: Linear | None
    """All of them, filled with zeros to a width that matrix units like."""
    outputs: tuple[int, ...] = eqx.field(static=True)
    """Of each layer."""

    @staticmethod
    def of(layers: Sequence[Linear]) -> "ParallelLinears":
        outputs = tuple(len(layer.bias) for layer in layers)
        narrow = [layer for layer in layers if len(layer.bias) <= _NARROW]
        joint = None
        if narrow:
            padding = -sum(len(layer.bias) for layer in narrow) % _NARROW
            weight = jnp.concatenate([layer.weight for layer in narrow], 1)
            bias = jnp.concatenate([layer.bias for layer in narrow])
            joint = Linear(jnp.pad(weight, ((0, 0), (0, padding))), jnp.pad(bias, (0, padding)))
        wide = tuple(layer for layer in layers if len(layer.bias) > _NARROW)
        return ParallelLinears(wide, joint, outputs)

    def __call__(self, x: Float[Array, "... inputs"]) -> list[Float[Array, "... _"]]:
        """In the order of the layers."""
        wide, end = iter(self.wide), 0
        narrow = None if self.narrow is None else self.narrow(x)
        y = []
        for outputs in self.outputs:
            if outputs > _NARROW:
                y.append(next(wide)(x))
            else:
                assert narrow is not None
                y.append(jax.lax.slice_in_dim(narrow, end, end + outputs, axis=-1))
                end += outputs
        return y


def summed(
    x: Sequence[Float[Array, "... _"]], layers: Sequence[Linear]
) -> Float[Array, "... outputs"]:
    """y = sum_f x_f W_f + b_f in full precision, one term after the other: as one product, large
    and small terms would round each other off."""
    first = layers[0].bias
    total = jnp.zeros((*x[0].shape[:-1], len(first)), first.dtype)
    for x_f, layer in zip(x, layers, strict=True):
        # Not as a product of matrices: what reads this may then recompute it.
        rows = range(len(layer.weight))
        terms = (x_f[..., k : k + 1] * along_last(layer.weight[k], x_f) for k in rows)
        total += sum(terms) + along_last(layer.bias, x_f)
    return total


@jax.custom_jvp
def _moments(x: Float[Array, "*n width"]) -> tuple[Float[Array, "*n 1"], Float[Array, "*n 1"]]:
    """m = mean(x) and r = 1 / sqrt(var(x) + 1e-5)"""
    variance = jnp.var(x, -1, keepdims=True)
    return x.mean(-1, keepdims=True), jax.lax.rsqrt(variance + EPSILON)


@_moments.defjvp
def _moments_jvp(primals, tangents):
    """dr = -r³ mean((x - m) dx), where var(x) through m would be one more pass over x."""
    (x,), (dx,) = primals, tangents
    mean, inverse = save_for_backward(_moments(x))
    dinverse = -(inverse**3) * ((x - mean) * dx).mean(-1, keepdims=True)
    return (mean, inverse), (dx.mean(-1, keepdims=True), dinverse)


class FastLayerNorm(LayerNorm):
    def __call__(self, x: Float[Array, "... width"]) -> Float[Array, "... width"]:
        mean, inverse = _moments(x)
        return along_last(self.scale, x) * inverse * (x - mean) + along_last(self.offset, x)
