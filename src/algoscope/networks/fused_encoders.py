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
import numpy as np
from jaxtyping import Array, Float

from algoscope.networks.config import NetworkConfig
from algoscope.networks.layers import Linear
from algoscope.networks.pairs import PairLayers, Rows

_FILLED_TO = 16
_EXPONENT, _MANTISSA = 8, 10
"""Bits of the numbers that a GPU multiplies."""


def folds(config: NetworkConfig) -> bool:
    """Whether it pays. Networks of full precision, such as compiled ones, are to round as they were
    verified."""
    return jax.default_backend() == "gpu" and config.matrix_precision == "default"


class Folding(eqx.Module):
    rows: Rows | None
    """R, those rows of it again that are of exact scalars, and c; None where layers read x."""
    exact: tuple[int, ...] = eqx.field(static=True)
    """Which scalars have to arrive as they are, such as positions."""

    @staticmethod
    def of(rows: Rows, exact: Sequence[int], config: NetworkConfig) -> "Folding":
        if not folds(config):
            return Folding(None, tuple(exact))
        all_rows = jnp.concatenate([rows.rows, *(rows.rows[k][None] for k in exact)])
        filled = jnp.pad(all_rows, ((0, -len(all_rows) % _FILLED_TO), (0, 0)))
        return Folding(Rows(filled, rows.bias), tuple(exact))

    def read(
        self, x: Float[Array, "n width"], scalars: Sequence[Float[Array, "n K"]]
    ) -> Float[Array, "n inputs"]:
        """What folded layers read: the scalars, and what a GPU would round off the exact ones."""
        if self.rows is None:
            return x
        s = jnp.concatenate(scalars, -1)
        exact = np.isin(np.arange(s.shape[1]), self.exact)
        off = jnp.where(exact, s - jax.lax.reduce_precision(s, _EXPONENT, _MANTISSA), 0)
        off = jax.lax.stop_gradient(off)
        both = jnp.concatenate([s - off, *(off[:, k : k + 1] for k in self.exact)], -1)
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
