"""Computations over pairs of nodes that never hold n x n x width numbers at once.

An edge feature enters the network as a few scalars times a row of its encoder, so

    e_ij = sum_k s_ijk R_k + c        s [n, n, K], R [K, width], c [width], K about 3 to 6

and every linear map of e is again of this form: (s R + c) W + b = s (R W) + (c W + b). `Edges`
keeps the factors. Scores of pairs, such as attention logits and pointer logits, are sums over
the width; `pair_scores` forms them for a few receivers at a time and repeats the work in the
backward pass instead of keeping it.
"""

from collections.abc import Callable
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks import kernels
from algoscope.networks.layers import Linear

_BLOCK = 2**17
"""How many numbers of the n x n x width that is never formed may exist at a time, per sample."""


class Edges(eqx.Module):
    """Edge features e_ij = sum_k scalars_ijk rows_k + bias, in factors."""

    scalars: Float[Array, "n n K"]
    rows: Float[Array, "K width"]
    bias: Float[Array, " width"]

    def through(self, linear: Linear) -> "Edges":
        """The edges after a linear layer."""
        return Edges(
            self.scalars, self.rows @ linear.weight, self.bias @ linear.weight + linear.bias
        )

    def beside(self, features: Float[Array, "n n more"]) -> "Edges":
        """The edges with further features appended to each."""
        more = features.shape[-1]
        rows = jax.scipy.linalg.block_diag(self.rows, jnp.eye(more, dtype=features.dtype))
        scalars = jnp.concatenate([self.scalars, features], -1)
        return Edges(scalars, rows, jnp.pad(self.bias, (0, more)))

    def plus(self, scalar: Float[Array, "n n"]) -> "Edges":
        """The edges with a scalar added to every feature."""
        return Edges(
            jnp.concatenate([self.scalars, scalar[..., None]], -1),
            jnp.concatenate([self.rows, jnp.ones_like(self.bias)[None]]),
            self.bias,
        )

    def reversed(self) -> "Edges":
        """e_ji in place of e_ij."""
        return Edges(jnp.swapaxes(self.scalars, 0, 1), self.rows, self.bias)

    def dense(self) -> Float[Array, "n n width"]:
        return self.scalars @ self.rows + self.bias


def no_edges(receivers: int, senders: int, width: int) -> Edges:
    return Edges(jnp.zeros((receivers, senders, 0)), jnp.zeros((0, width)), jnp.zeros(width))


JOINS: dict[str, Callable] = {
    "leaky_sum": lambda receiver, rest: jax.nn.leaky_relu(receiver + rest),
    "maximum": jnp.maximum,
}
"""How a receiver meets a sender."""


def pair_scores(
    join: str,
    receivers: Float[Array, "n width"],
    senders: Float[Array, "m width"],
    edges: Edges,
    weight: Float[Array, "width heads"],
) -> Float[Array, "n m heads"]:
    """score_ijh = sum_p join(receivers_ip, senders_jp + e_ijp) weight_ph"""
    senders = senders + edges.bias
    if jax.default_backend() == "gpu" and kernels.fits(receivers, edges.scalars, weight):
        scores = kernels.pair_scores(
            join, False, receivers, senders, edges.scalars, edges.rows, weight[:, 0]
        )
        return cast("Array", scores)[..., None]
    return plain_pair_scores(JOINS[join], receivers, senders, edges.scalars, edges.rows, weight)


def plain_pair_scores(join, receivers, senders, scalars, rows, weight):
    """As XLA forms them, on every device; a few receivers at a time."""

    @jax.checkpoint
    def scores_of(receiver, of_edges):
        return join(receiver, senders + of_edges @ rows) @ weight

    rows_at_once = max(1, _BLOCK // senders.size)
    if rows_at_once >= len(receivers):
        return jax.vmap(scores_of)(receivers, scalars)
    return jax.lax.map(lambda row: scores_of(*row), (receivers, scalars), batch_size=rows_at_once)
