"""Computations over pairs of nodes that never hold n x n x width numbers at once.

An edge feature enters the network as a few scalars times a row of its encoder, so

    e_ij = sum_k s_ijk R_k + c        s [n, n, K], R [K, width], c [width], K about 3 to 6

and every linear map of e is again of this form: (s R + c) W + b = s (R W) + (c W + b). `Factored`
keeps the factors. Scores of pairs, such as attention logits and pointer logits, are sums over
the width; `pair_scores` forms them for a few receivers at a time and repeats the work in the
backward pass instead of keeping it.
"""

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks import kernels
from algoscope.networks.layers import Linear, for_backward

_BLOCK = 2**17
"""How many numbers of the n x n x width that is never formed may exist at a time, per sample."""


class Rows(eqx.Module):
    """What the scalars multiply, and what is added: the part that is made of weights alone."""

    rows: Float[Array, "K width"]
    bias: Float[Array, " width"]

    def through(self, linear: Linear) -> "Rows":
        """The rows of the features after a linear layer."""
        return Rows(self.rows @ linear.weight, self.bias @ linear.weight + linear.bias)

    def beside(self, more: int) -> "Rows":
        """The rows with so many features appended, each its own scalar."""
        own = jnp.eye(more, dtype=self.bias.dtype)
        return Rows(jax.scipy.linalg.block_diag(self.rows, own), jnp.pad(self.bias, (0, more)))


class Factored(eqx.Module):
    """Features of edges, or of the graph, in factors: sum_k scalars_k rows_k + bias."""

    scalars: Float[Array, "... K"]
    """[n, n, K] of edges, [K] of the graph"""
    rows: Rows
    fixed: int = eqx.field(static=True, default=0)
    """So many of the first scalars are data, which no gradient is for."""

    def under(self, rows: Rows) -> "Factored":
        """The same scalars times other rows."""
        return Factored(self.scalars, rows, self.fixed)

    def through(self, linear: Linear) -> "Factored":
        """The features after a linear layer."""
        return self.under(self.rows.through(linear))

    def beside(self, features: Float[Array, "n n more"]) -> "Factored":
        """With further features appended to each edge."""
        scalars = jnp.concatenate([self.scalars, features], -1)
        return Factored(scalars, self.rows.beside(features.shape[-1]), self.fixed)

    def plus(self, scalar: Float[Array, "n n"]) -> "Factored":
        """With a scalar added to every feature of an edge."""
        rows = jnp.concatenate([self.rows.rows, jnp.ones_like(self.rows.bias)[None]])
        scalars = jnp.concatenate([self.scalars, scalar[..., None]], -1)
        return Factored(scalars, Rows(rows, self.rows.bias), self.fixed)

    def reversed(self) -> "Factored":
        """e_ji in place of e_ij."""
        return Factored(jnp.swapaxes(self.scalars, 0, 1), self.rows, self.fixed)

    def dense(self) -> Float[Array, "... width"]:
        return self.scalars @ self.rows.rows + self.rows.bias


def no_edges(nodes: int, width: int) -> Factored:
    return Factored(jnp.zeros((nodes, nodes, 0)), Rows(jnp.zeros((0, width)), jnp.zeros(width)))


_plain = contextvars.ContextVar("plain", default=False)


@contextlib.contextmanager
def twice_differentiable() -> Iterator[None]:
    """Within, scores have second derivatives on every device: kernels have the first alone."""
    token = _plain.set(True)
    try:
        yield
    finally:
        _plain.reset(token)


JOINS: dict[str, Callable] = {
    "leaky_sum": lambda receiver, rest: jax.nn.leaky_relu(receiver + rest),
    "maximum": jnp.maximum,
}
"""How a receiver meets a sender."""


class PairLayers(eqx.Module):
    """The weights of several scores d of pairs of nodes, all that is made of weights alone done:

    score_dijh = sum_p join(W_receiver x_i + o, W_sender x_j + s_ij · rows + o')_p weight_ph
    """

    nodes: Float[Array, "inputs 2*d*width"]
    """Of receivers and senders side by side, for one product where a kernel reads its parts."""
    offsets: Float[Array, "2*d width"]
    """All that is added to receivers and to senders."""
    rows: Float[Array, "d K width"]
    weight: Float[Array, "d width heads"]

    @staticmethod
    def of(
        receiver: Linear, sender: Linear, edges: Rows, weight: Float[Array, "width heads"]
    ) -> "PairLayers":
        return PairLayers(
            jnp.concatenate([receiver.weight, sender.weight], 1),
            jnp.stack([receiver.bias, sender.bias + edges.bias]),
            edges.rows[None],
            weight[None],
        )

    @staticmethod
    def together(several: Sequence["PairLayers"]) -> "PairLayers":
        """The scores of all of them."""
        return PairLayers(
            jnp.concatenate([one.nodes for one in several], 1),
            jnp.concatenate([one.offsets for one in several]),
            jnp.concatenate([one.rows for one in several]),
            jnp.concatenate([one.weight for one in several]),
        )

    def scores(
        self, join: str, x: Float[Array, "n inputs"], edges: "Factored"
    ) -> list[Float[Array, "n n heads"]]:
        """Of all pairs, for each d; of the edges, the scalars alone count."""
        parts = len(self.offsets)
        on_gpu = jax.default_backend() == "gpu" and not _plain.get()
        if on_gpu and kernels.fits(x, edges.scalars, self.weight):
            scores = kernels.pair_scores(
                kernels.Form(join, edges.fixed),
                (x @ self.nodes).reshape(len(x), parts, -1),
                self.offsets,
                edges.scalars,
                self.rows,
                self.weight[..., 0],
            )
            return [one[..., None] for one in for_backward(cast("Array", scores))]
        projected = [
            x @ weight + offset
            for weight, offset in zip(jnp.split(self.nodes, parts, 1), self.offsets, strict=True)
        ]
        return [
            pair_scores(join, receivers, senders, edges.scalars, rows, weight)
            for receivers, senders, rows, weight in zip(
                projected[::2], projected[1::2], self.rows, self.weight, strict=True
            )
        ]


def pair_scores(
    join: str,
    receivers: Float[Array, "n width"],
    senders: Float[Array, "m width"],
    scalars: Float[Array, "n m K"],
    rows: Float[Array, "K width"],
    weight: Float[Array, "width heads"],
) -> Float[Array, "n m heads"]:
    """score_ijh = sum_p join(receivers_ip, senders_jp + sum_k scalars_ijk rows_kp) weight_ph, as
    XLA forms it on every device; a few receivers at a time."""

    @jax.checkpoint
    def scores_of(receiver, of_edges):
        return JOINS[join](receiver, senders + of_edges @ rows) @ weight

    rows_at_once = max(1, _BLOCK // senders.size)
    if rows_at_once >= len(receivers):
        return jax.vmap(scores_of)(receivers, scalars)
    return jax.lax.map(lambda row: scores_of(*row), (receivers, scalars), batch_size=rows_at_once)
