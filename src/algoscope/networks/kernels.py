"""Scores of pairs on a GPU: one Pallas kernel forwards, one backwards.

    score_ij = sum_p join(receivers_ip, senders_jp + sum_k scalars_ijk rows_kp) weight_p

A program of the kernel holds `_SENDERS` senders of one sample in registers and goes through all
receivers, so that the n x n x width in between never reaches memory; the backward kernel forms it
again. `vmap` adds axes to the grid. `networks.pairs` decides where this is used, and holds the form
that it has to equal.
"""

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

_SENDERS = 16
_WARPS = 4
_SLOPE = 0.01


def fits(receivers: Array, scalars: Array, weight: Array) -> bool:
    """Whether the kernels can serve: there are edge features and one head, the width is a power of
    two, in float32."""
    width, heads = weight.shape
    return (
        heads == 1
        and scalars.shape[-1] > 0
        and width >= _SENDERS
        and width & (width - 1) == 0
        and receivers.dtype == jnp.float32
    )


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def pair_scores(
    join: str,
    interpret: bool,
    receivers: Float[Array, "n width"],
    senders: Float[Array, "m width"],
    scalars: Float[Array, "n m K"],
    rows: Float[Array, "K width"],
    weight: Float[Array, " width"],
) -> Float[Array, "n m"]:
    return _forward(join, interpret, receivers, senders, scalars, rows, weight)[0]


def _forward(join, interpret, receivers, senders, scalars, rows, weight):
    count, padded = len(senders), _padded(senders, scalars)
    (n, m, channels), width = padded[1].shape, receivers.shape[1]
    scores = pl.pallas_call(
        functools.partial(_forward_kernel, join),
        grid=(m // _SENDERS,),
        in_specs=_inputs(n, width, channels),
        out_specs=pl.BlockSpec((n, _SENDERS), lambda b: (0, b)),
        out_shape=jax.ShapeDtypeStruct((n, m), receivers.dtype),
        compiler_params=triton.CompilerParams(num_warps=_WARPS),
        interpret=interpret,
    )(receivers, *padded, rows, weight)
    return scores[:, :count], (receivers, senders, scalars, rows, weight)


def _backward(join, interpret, residuals, gradient):
    receivers, senders, scalars, rows, weight = residuals
    count, padded = len(senders), _padded(senders, scalars)
    (n, m, channels), width = padded[1].shape, receivers.shape[1]
    blocks, dtype = m // _SENDERS, receivers.dtype
    gradient = jnp.pad(gradient, ((0, 0), (0, m - count)))
    shape = functools.partial(jax.ShapeDtypeStruct, dtype=dtype)
    of_receivers, of_senders, of_scalars, of_rows, of_weight = pl.pallas_call(
        functools.partial(_backward_kernel, join),
        grid=(blocks,),
        in_specs=[
            *_inputs(n, width, channels),
            pl.BlockSpec((n, _SENDERS), lambda b: (0, b)),
        ],
        out_specs=[
            pl.BlockSpec((None, n, width), lambda b: (b, 0, 0)),
            pl.BlockSpec((_SENDERS, width), lambda b: (b, 0)),
            pl.BlockSpec((n, _SENDERS, channels), lambda b: (0, b, 0)),
            pl.BlockSpec((None, channels, width), lambda b: (b, 0, 0)),
            pl.BlockSpec((None, width), lambda b: (b, 0)),
        ],
        out_shape=[
            shape((blocks, n, width)),
            shape((m, width)),
            shape((n, m, channels)),
            shape((blocks, channels, width)),
            shape((blocks, width)),
        ],
        compiler_params=triton.CompilerParams(num_warps=_WARPS),
        interpret=interpret,
    )(receivers, *padded, rows, weight, gradient)
    return (
        of_receivers.sum(0),
        of_senders[:count],
        of_scalars[:, :count],
        of_rows.sum(0),
        of_weight.sum(0),
    )


pair_scores.defvjp(_forward, _backward)


def _padded(senders: Array, scalars: Array) -> tuple[Array, Array]:
    """To a whole number of blocks of senders."""
    more = -len(senders) % _SENDERS
    return jnp.pad(senders, ((0, more), (0, 0))), jnp.pad(scalars, ((0, 0), (0, more), (0, 0)))


def _inputs(n: int, width: int, channels: int) -> list[pl.BlockSpec]:
    return [
        pl.BlockSpec((n, width), lambda b: (0, 0)),
        pl.BlockSpec((_SENDERS, width), lambda b: (b, 0)),
        pl.BlockSpec((n, _SENDERS, channels), lambda b: (0, b, 0)),
        pl.BlockSpec((channels, width), lambda b: (0, 0)),
        pl.BlockSpec((width,), lambda b: (0,)),
    ]


def _joined(join: str, receiver: Array, rest: Array) -> tuple[Array, Array, Array]:
    """join(receiver, rest) [senders, width], and its derivatives by both."""
    if join == "maximum":
        # As jnp.maximum: a tie goes to both by half.
        by_rest = jnp.where(rest > receiver, 1.0, jnp.where(rest == receiver, 0.5, 0.0))
        return jnp.maximum(rest, receiver), 1.0 - by_rest, by_rest
    total = receiver + rest
    slope = jnp.where(total >= 0, 1.0, _SLOPE)
    return total * slope, slope, slope


def _forward_kernel(join, receivers, senders, scalars, rows, weight, scores):
    channels = range(rows.shape[0])
    of_senders, of_weight = senders[...], weight[...]
    of_rows = [rows[k, :] for k in channels]

    def of_receiver(i, _):
        rest = of_senders
        for k in channels:
            rest += scalars[i, :, k][:, None] * of_rows[k][None]
        value, _, _ = _joined(join, receivers[i, :][None], rest)
        scores[i, :] = jnp.sum(value * of_weight[None], -1)
        return 0

    jax.lax.fori_loop(0, receivers.shape[0], of_receiver, 0)


def _backward_kernel(
    join, receivers, senders, scalars, rows, weight, gradient,
    to_receivers, to_senders, to_scalars, to_rows, to_weight,
):  # fmt: skip
    channels = range(rows.shape[0])
    of_senders, of_weight = senders[...], weight[...]
    of_rows = [rows[k, :] for k in channels]

    def of_receiver(i, sums):
        by_senders, by_rows, by_weight = sums
        of_scalars = [scalars[i, :, k][:, None] for k in channels]
        rest = of_senders
        for k in channels:
            rest += of_scalars[k] * of_rows[k][None]
        value, slope, slope_of_rest = _joined(join, receivers[i, :][None], rest)
        incoming = gradient[i, :][:, None]
        through = incoming * of_weight[None]
        to_receivers[i, :] = jnp.sum(through * slope, 0)
        through *= slope_of_rest
        for k in channels:
            to_scalars[i, :, k] = jnp.sum(through * of_rows[k][None], -1)
        return (
            by_senders + through,
            tuple(by_rows[k] + through * of_scalars[k] for k in channels),
            by_weight + incoming * value,
        )

    # Sums over senders wait for the end: within the loop, threads would have to meet for each.
    zero = jnp.zeros_like(of_senders)
    sums = (zero, tuple(zero for _ in channels), zero)
    by_senders, by_rows, by_weight = jax.lax.fori_loop(0, receivers.shape[0], of_receiver, sums)
    to_senders[...], to_weight[...] = by_senders, jnp.sum(by_weight, 0)
    for k in channels:
        to_rows[k, :] = jnp.sum(by_rows[k], 0)
