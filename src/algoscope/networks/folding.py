"""Folding: the encoders of nodes merged into the layers that read their sum.

A node's encoded features are a few scalars times rows, x = s R + c, and a layer on them and on
states h is

    [x, h] [W; V] + b = [s, h] [R W; V] + (c W + b)

so that it reads the scalars in place of `width` numbers, and x itself is never formed. R W is made
of weights alone. On GPUs, where such layers cost what they read and write, that saves a fifth of a
step. Elsewhere they read x, which rounds as dm-clrs does.
"""

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks.layers import Linear
from algoscope.networks.pairs import PairLayers, Rows

_FILLED_TO = 16
_EXPONENT, _MANTISSA = 8, 10
"""Bits of the numbers that a GPU multiplies."""


def folds() -> bool:
    return jax.default_backend() == "gpu"


class Folding(eqx.Module):
    rows: Rows | None
    """R, twice, and c; None where layers read x."""

    @staticmethod
    def of(rows: Rows) -> "Folding":
        if not folds():
            return Folding(None)
        twice = jnp.concatenate([rows.rows, rows.rows])
        return Folding(Rows(jnp.pad(twice, ((0, -len(twice) % _FILLED_TO), (0, 0))), rows.bias))

    def read(
        self, x: Float[Array, "n width"], scalars: Sequence[Float[Array, "n K"]]
    ) -> Float[Array, "n inputs"]:
        """What folded layers read: each scalar as a number that a GPU multiplies without rounding,
        and the rest of it, so that positions arrive as they are."""
        if self.rows is None:
            return x
        exact = jnp.concatenate(scalars, -1)
        rest = exact - jax.lax.reduce_precision(exact, _EXPONENT, _MANTISSA)
        rest = jax.lax.stop_gradient(rest)
        both = jnp.concatenate([exact - rest, rest], -1)
        return jnp.pad(both, ((0, 0), (0, len(self.rows.rows) - both.shape[-1])))

    def layer(self, linear: Linear) -> Linear:
        weight, bias = self._folded(linear.weight)
        return Linear(weight, linear.bias + bias)

    def pairs(self, layers: PairLayers) -> PairLayers:
        weight, bias = self._folded(layers.nodes)
        offsets = layers.offsets + bias.reshape(layers.offsets.shape)
        return dataclasses.replace(layers, nodes=weight, offsets=offsets)

    def _folded(
        self, weight: Float[Array, "inputs outputs"]
    ) -> tuple[Float[Array, "folded outputs"], Float[Array, " outputs"]]:
        if self.rows is None:
            return weight, jnp.zeros(weight.shape[1], weight.dtype)
        of_x, of_states = jnp.split(weight, [self.rows.rows.shape[1]])
        rows, bias = (
            jnp.matmul(part, of_x, precision="highest") for part in (self.rows.rows, self.rows.bias)
        )
        return jnp.concatenate([rows, of_states]), bias
