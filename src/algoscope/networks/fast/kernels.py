"""Scores of pairs on a GPU: one Pallas kernel forwards, one backwards.

    score_dij = sum_p join(r_dip, s_djp + sum_k scalars_ijk rows_dkp) weight_dp

with receivers r and senders s, each projected and offset, for one or several d.

A program of the kernel is one warp. It holds `_SENDERS` senders of one sample in registers, in
`_COLUMNS` columns of the width, and goes through all receivers, so that the n x n x width in
between never reaches memory; the backward kernel forms it again. So narrow a tile keeps the sums
over senders and over columns within a warp, and nearly within a thread; what is left of them, over
tiles, is small. `vmap` adds axes to the grid. `fast.pairs` holds the form that it has to equal.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from algoscope.networks.layers import LEAKY_SLOPE

_SENDERS = 16
_COLUMNS = 32
_MOST_CHANNELS = 12


class Form(NamedTuple):
    """What a kernel is made for."""

    join: str
    fixed: int
    """So many of the first scalars are data: their gradient is not formed, it is 0."""
    interpret: bool = False


def fits(nodes: Array, scalars: Array, weight: Array) -> bool:
    """Whether the kernels can serve: there are a few edge features and one head, the width is a
    power of two, in float32. A kernel has code and registers for each channel."""
    _, width, heads = weight.shape
    return (
        heads == 1
        and 0 < scalars.shape[-1] <= _MOST_CHANNELS
        and width >= _SENDERS
        and width & (width - 1) == 0
        and nodes.dtype == jnp.float32
    )


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def pair_scores(
    form: Form,
    projected: Float[Array, "n parts width"],
    offsets: Float[Array, "parts width"],
    scalars: Float[Array, "n n K"],
    rows: Float[Array, "d K width"],
    weight: Float[Array, "d width"],
) -> Float[Array, "d n n"]:
    """`projected` and `offsets` are of receivers and of senders in turn: parts = 2 d."""
    return _forward(form, projected, offsets, scalars, rows, weight)[0]


def _forward(form: Form, projected, offsets, scalars, rows, weight):
    tiles = _Tiles.of(projected, scalars)
    scores = pl.pallas_call(
        functools.partial(_forward_kernel, form),
        grid=tiles.grid,
        in_specs=tiles.inputs(),
        out_specs=tiles.of_pairs(),
        out_shape=tiles.shape(tiles.several, tiles.columns, tiles.n, tiles.m),
        compiler_params=triton.CompilerParams(num_warps=1),
        interpret=form.interpret,
    )(*tiles.padded(projected, scalars), offsets, rows, weight)
    return scores.sum(1)[..., : tiles.n], (projected, offsets, scalars, rows, weight)


def _backward(form: Form, residuals, gradient):
    projected, offsets, scalars, rows, weight = residuals
    tiles = _Tiles.of(projected, scalars)
    (several, blocks, columns), n, m, channels = tiles.grid, tiles.n, tiles.m, tiles.channels
    live = channels - form.fixed
    # Where one block has all senders, their gradient and the receivers' go into the same array.
    if blocks == 1:
        specs = [pl.BlockSpec((m, 2, tiles.column), lambda d, b, c: (0, d, c))]
        shapes = [tiles.shape(m, 2 * several, tiles.width)]
    else:
        specs = [
            pl.BlockSpec((None, n, None, tiles.column), lambda d, b, c: (b, 0, d, c)),
            pl.BlockSpec((_SENDERS, None, tiles.column), lambda d, b, c: (b, d, c)),
        ]
        shapes = [
            tiles.shape(blocks, n, several, tiles.width),
            tiles.shape(m, several, tiles.width),
        ]
    outputs = pl.pallas_call(
        functools.partial(_backward_kernel, form, blocks == 1),
        grid=tiles.grid,
        in_specs=[*tiles.inputs(), pl.BlockSpec((None, n, _SENDERS), lambda d, b, c: (d, 0, b))],
        out_specs=[
            *specs,
            pl.BlockSpec((None, 2, tiles.column), lambda d, b, c: (b, d, c)),
            pl.BlockSpec((None, None, channels, tiles.column), lambda d, b, c: (b, d, 0, c)),
            pl.BlockSpec((None, None, tiles.column), lambda d, b, c: (b, d, c)),
            *[tiles.of_pairs()] * live,
        ],
        out_shape=[
            *shapes,
            tiles.shape(blocks, 2 * several, tiles.width),
            tiles.shape(blocks, several, channels, tiles.width),
            tiles.shape(blocks, several, tiles.width),
            *[tiles.shape(several, columns, n, m)] * live,
        ],
        compiler_params=triton.CompilerParams(num_warps=1),
        interpret=form.interpret,
    )(
        *tiles.padded(projected, scalars),
        offsets,
        rows,
        weight,
        jnp.pad(gradient, ((0, 0), (0, 0), (0, m - n))),
    )
    if blocks == 1:
        of_projected, *outputs = outputs
    else:
        of_receivers, of_senders, *outputs = outputs
        both = jnp.stack([of_receivers.sum(0), of_senders[:n]], 2)
        of_projected = both.reshape(n, 2 * several, tiles.width)
    of_offsets, of_rows, of_weight, *of_scalars = outputs
    none = jnp.zeros((n, n), projected.dtype)
    each = [none] * form.fixed + [one.sum((0, 1))[:, :n] for one in of_scalars]
    return (
        of_projected[:n],
        of_offsets.sum(0),
        jnp.stack(each, -1),
        of_rows.sum(0),
        of_weight.sum(0),
    )


pair_scores.defvjp(_forward, _backward)


class _Tiles(NamedTuple):
    """Of several scores: n receivers, n senders filled up to m, and the width, cut into tiles of
    senders and columns."""

    several: int
    n: int
    m: int
    channels: int
    width: int

    @staticmethod
    def of(projected: Array, scalars: Array) -> "_Tiles":
        n, parts, width = projected.shape
        return _Tiles(parts // 2, n, n + -n % _SENDERS, scalars.shape[-1], width)

    @property
    def column(self) -> int:
        return min(_COLUMNS, self.width)

    @property
    def columns(self) -> int:
        return self.width // self.column

    @property
    def grid(self) -> tuple[int, int, int]:
        return self.several, self.m // _SENDERS, self.columns

    def padded(self, projected: Array, scalars: Array) -> tuple[Array, Array, Array]:
        """The first three inputs: receivers and senders are parts of the same array."""
        more = self.m - self.n
        projected = jnp.pad(projected, ((0, more), (0, 0), (0, 0)))
        return projected, projected, jnp.pad(scalars, ((0, 0), (0, more), (0, 0)))

    def inputs(self) -> list[pl.BlockSpec]:
        return [
            pl.BlockSpec((self.n, None, self.column), lambda d, b, c: (0, 2 * d, c)),
            pl.BlockSpec((_SENDERS, None, self.column), lambda d, b, c: (b, 2 * d + 1, c)),
            pl.BlockSpec((self.n, _SENDERS, self.channels), lambda d, b, c: (0, b, 0)),
            pl.BlockSpec((2, self.column), lambda d, b, c: (d, c)),
            pl.BlockSpec((None, self.channels, self.column), lambda d, b, c: (d, 0, c)),
            pl.BlockSpec((None, self.column), lambda d, b, c: (d, c)),
        ]

    def of_pairs(self) -> pl.BlockSpec:
        """Of [several, columns, n, m], to be summed over columns."""
        return pl.BlockSpec((None, None, self.n, _SENDERS), lambda d, b, c: (d, c, 0, b))

    def shape(self, *shape: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32)


def _fma(form: Form, a: Array, b: Array, c: Array) -> Array:
    """a b + c, rounded once: the compiler would multiply and add."""
    return _instruction(form, "fma.rn.f32", lambda a, b, c: a * b + c, a, b, c)


def _above(form: Form, difference: Array) -> Array:
    """1 where it is positive, 0 where it is negative, 1/2 where it is 0."""

    def plain(a: Array, b: Array, c: Array) -> Array:
        return jnp.clip(a * b + c, 0.0, 1.0)

    big, half = (jnp.full_like(difference, number) for number in (2.0**100, 0.5))
    return _instruction(form, "fma.rn.sat.f32", plain, difference, big, half)


def _instruction(form: Form, name: str, plain: Callable, *arguments: Array) -> Array:
    if form.interpret:
        return plain(*arguments)
    like = jnp.broadcast_shapes(*(a.shape for a in arguments))
    (result,) = triton.elementwise_inline_asm(
        f"{name} $0, $1, $2, $3;",
        args=[jnp.broadcast_to(a, like) for a in arguments],
        constraints="=f,f,f,f",
        pack=1,
        result_shape_dtypes=[jax.ShapeDtypeStruct(like, jnp.float32)],
    )
    return result


def _joined(form: Form, receiver: Array, rest: Array) -> tuple[Array, Array]:
    """join(receiver, rest) [senders, columns], and its derivative by the rest."""
    if form.join == "maximum":
        # As jnp.maximum: a tie goes to both by half.
        return jnp.maximum(rest, receiver), _above(form, rest - receiver)
    total = receiver + rest
    slope = jnp.where(total >= 0, 1.0, LEAKY_SLOPE)
    return total * slope, slope


def _forward_kernel(form, receivers, senders, scalars, offsets, rows, weight, scores):
    channels = range(rows.shape[0])
    of_receivers, of_senders = offsets[0, :], senders[...] + offsets[1, :][None]
    of_rows, of_weight = [rows[k, :] for k in channels], weight[...]

    def of_receiver(i, _):
        rest = of_senders
        for k in channels:
            rest = _fma(form, scalars[i, :, k][:, None], of_rows[k][None], rest)
        value, _ = _joined(form, (receivers[i, :] + of_receivers)[None], rest)
        scores[i, :] = jnp.sum(value * of_weight[None], -1)
        return 0

    jax.lax.fori_loop(0, receivers.shape[0], of_receiver, 0)


def _backward_kernel(
    form, one_block, receivers, senders, scalars, offsets, rows, weight, gradient, *outputs
):
    to_nodes = outputs[: 1 if one_block else 2]
    to_offsets, to_rows, to_weight, *to_scalars = outputs[len(to_nodes) :]
    channels, live = range(rows.shape[0]), range(form.fixed, rows.shape[0])
    # Tiles of half as many senders: threads hold twice the columns, and meet less often.
    halves = [pl.ds(start, _SENDERS // 2) for start in (0, _SENDERS // 2)]
    of_receivers, of_weight = offsets[0, :], weight[...]
    of_senders = [senders[half, :] + offsets[1, :][None] for half in halves]
    of_rows = [rows[k, :] for k in channels]
    weighed = [of_rows[k] * of_weight for k in live]
    last = receivers.shape[0] - 1

    def load(i):
        of_halves = [
            (gradient[i, half], [scalars[i, half, k] for k in channels]) for half in halves
        ]
        return receivers[i, :], of_halves

    def of_receiver(i, carry):
        (by_receivers, by_senders, by_rows, by_weight), (receiver, of_halves) = carry
        # Prefetch the next receiver; occupancy is too low to hide loads.
        ahead = load(jnp.minimum(i + 1, last))
        receiver = (receiver + of_receivers)[None]
        to_receiver, by_both = jnp.zeros_like(of_senders[0]), []
        for half, rest, by_sender, loaded in zip(
            halves, of_senders, by_senders, of_halves, strict=True
        ):
            incoming, of_scalars = loaded[0][:, None], [one[:, None] for one in loaded[1]]
            for k in channels:
                rest = _fma(form, of_scalars[k], of_rows[k][None], rest)
            value, slope = _joined(form, receiver, rest)
            # The slopes of a maximum add up to 1, those of a sum are the same.
            other = 1 - slope if form.join == "maximum" else slope
            to_receiver = _fma(form, incoming, other, to_receiver)
            by_both.append(_fma(form, incoming, slope, by_sender))
            for row, to_scalar in zip(weighed, to_scalars, strict=True):
                to_scalar[i, half] = loaded[0] * jnp.sum(slope * row[None], -1)
            by_rows = [_fma(form, slope, incoming * of_scalars[k], by_rows[k]) for k in channels]
            by_weight = _fma(form, incoming, value, by_weight)
        to_receiver = of_weight * jnp.sum(to_receiver, 0)
        if one_block:
            to_nodes[0][i, 0, :] = to_receiver
        else:
            to_nodes[0][i, :] = to_receiver
        return (by_receivers + to_receiver, by_both, by_rows, by_weight), ahead

    # Sums over senders wait for the end: within the loop, threads would have to meet for each.
    zero = jnp.zeros_like(of_senders[0])
    sums = (jnp.zeros_like(of_receivers), [zero, zero], [zero for _ in channels], zero)
    # Two in a turn: what one has loaded for the other stays in its registers.
    carry = jax.lax.fori_loop(
        0,
        (last + 1) // 2,
        lambda turn, carry: of_receiver(2 * turn + 1, of_receiver(2 * turn, carry)),
        (sums, load(0)),
    )
    sums, _ = of_receiver(last, carry) if last % 2 == 0 else carry
    by_receivers, by_senders, by_rows, by_weight = sums
    by_senders = [of_weight[None] * of_half for of_half in by_senders]
    for half, of_half in zip(halves, by_senders, strict=True):
        if one_block:
            to_nodes[0][half, 1, :] = of_half
        else:
            to_nodes[1][half, :] = of_half
    to_weight[...] = jnp.sum(by_weight, 0)
    to_offsets[0, :], to_offsets[1, :] = by_receivers, jnp.sum(by_senders[0] + by_senders[1], 0)
    for k in channels:
        to_rows[k, :] = of_weight * jnp.sum(by_rows[k], 0)
