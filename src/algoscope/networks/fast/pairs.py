"""Scores of pairs of nodes that never hold n x n x width numbers at once.

Scores, such as attention logits and pointer logits, are sums over the width. A kernel forms them on
a GPU; elsewhere `pair_scores` does, for a few receivers at a time, and recomputes them in the
backward pass instead of saving them. Of edges they read the scalars, see `fast.encoders`. Lean
networks (`networks.lean`) have so few units that each is formed by itself (`unit_scores`).
"""

from collections.abc import Callable, Sequence
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks.fast import kernels
from algoscope.networks.fast.layers import save_for_backward
from algoscope.networks.layers import Linear

_BLOCK = 2**17
"""How many numbers of the n x n x width that is never formed may exist at a time, per sample."""


JOINS: dict[str, Callable] = {
    "leaky_sum": lambda receiver, rest: jax.nn.leaky_relu(receiver + rest),
    "maximum": jnp.maximum,
}
"""How a receiver meets a sender with its edge."""


class PairLayers(eqx.Module):
    """The weights of several scores d of pairs of nodes, all that is made of weights alone done:

    score_dijh = sum_p join(W_receiver x_i + o, W_sender x_j + s_ij · rows + o')_p weight_ph
    """

    nodes: Float[Array, "inputs outputs"]
    """Of receivers and senders side by side, for one product where a kernel reads its parts:
    outputs = 2 d width."""
    offsets: Float[Array, "parts width"]
    """All that is added to receivers and to senders: parts = 2 d."""
    rows: Float[Array, "d K width"]
    weight: Float[Array, "d width heads"]
    """Each head has a part of the width, one after the other, and zeros elsewhere."""
    few_units: bool = eqx.field(static=True, default=False)
    """Whether the width is so small that each of its units is formed by itself."""

    @staticmethod
    def of(
        receiver: Linear,
        sender: Linear,
        edges: Linear,
        weight: Float[Array, "width heads"],
        few_units: bool = False,
    ) -> "PairLayers":
        """`edges` is the layer on the scalars of edges."""
        return PairLayers(
            jnp.concatenate([receiver.weight, sender.weight], 1),
            jnp.stack([receiver.bias, sender.bias + edges.bias]),
            edges.weight[None],
            weight[None],
            few_units,
        )

    @staticmethod
    def together(several: Sequence["PairLayers"]) -> "PairLayers":
        """The scores of all of them."""
        return PairLayers(
            jnp.concatenate([one.nodes for one in several], 1),
            jnp.concatenate([one.offsets for one in several]),
            jnp.concatenate([one.rows for one in several]),
            jnp.concatenate([one.weight for one in several]),
            all(one.few_units for one in several),
        )

    def scores(
        self,
        join: str,
        x: Float[Array, "n inputs"],
        scalars: Float[Array, "n n K"],
        fixed: int,
        uses_kernels: bool,
    ) -> list[Float[Array, "n n heads"]]:
        """Of all pairs, for each d; so many of the first scalars are data, which no gradient is
        for. Kernels serve where they can."""
        parts = len(self.offsets)
        if uses_kernels and kernels.fits(x, scalars, self.weight):
            scores = kernels.pair_scores(
                kernels.Form(join, fixed),
                (x @ self.nodes).reshape(len(x), parts, -1),
                self.offsets,
                scalars,
                self.rows,
                self.weight[..., 0],
            )
            return [score[..., None] for score in save_for_backward(cast("Array", scores))]
        projected = [
            x @ weight + offset[None]
            for weight, offset in zip(jnp.split(self.nodes, parts, 1), self.offsets, strict=True)
        ]
        form_scores = unit_scores if self.few_units else pair_scores
        return [
            form_scores(join, receivers, senders, scalars, rows, weight)
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
    def receiver_scores(receiver, scalars):
        return JOINS[join](receiver[None], senders + scalars @ rows) @ weight

    rows_at_once = max(1, _BLOCK // senders.size)
    if rows_at_once >= len(receivers):
        return jax.vmap(receiver_scores)(receivers, scalars)
    return jax.lax.map(
        lambda row: receiver_scores(*row), (receivers, scalars), batch_size=rows_at_once
    )


def unit_scores(
    join: str,
    receivers: Float[Array, "n width"],
    senders: Float[Array, "m width"],
    scalars: Float[Array, "n m K"],
    rows: Float[Array, "K width"],
    weight: Float[Array, "width heads"],
) -> Float[Array, "n m heads"]:
    """The same, unit by unit: [n, m] alone, all in one pass. A processor takes ten times as long
    for products of matrices that are two or three numbers wide."""
    width, heads = weight.shape
    totals = [jnp.zeros((len(receivers), len(senders)), receivers.dtype)] * heads
    for p in range(width):
        rest = senders[None, :, p]
        for k in range(len(rows)):
            rest = rest + scalars[..., k] * rows[k, p]
        head = p * heads // width
        totals[head] += JOINS[join](receivers[:, None, p], rest) * weight[p, head]
    return jnp.stack(totals, -1)
