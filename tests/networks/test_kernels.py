"""The GPU's kernels, interpreted on any device, against the form that XLA makes."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algoscope import networks, tasks
from algoscope.networks.fast import kernels, pairs
from algoscope.networks.layers import Linear

SEEDS, BATCH = 2, 2


@pytest.mark.parametrize("join", pairs.JOINS)
@pytest.mark.parametrize(
    ("several", "nodes", "channels", "fixed", "width"),
    [(1, 7, 3, 1, 64), (2, 20, 1, 0, 16), (3, 16, 2, 2, 32)],
)
def test_scores_and_gradients_equal_the_plain_form(join, several, nodes, channels, fixed, width):
    rng = np.random.default_rng(3)

    def draw(*shape):
        # Few distinct numbers, so that sums tie.
        return jnp.asarray(rng.integers(-2, 3, shape), jnp.float32)

    arguments = (
        draw(SEEDS, BATCH, nodes, 2 * several, width),
        draw(SEEDS, 2 * several, width),
        draw(SEEDS, BATCH, nodes, nodes, channels),
        draw(SEEDS, several, channels, width),
        draw(SEEDS, several, width),
    )
    incoming = draw(SEEDS, BATCH, several, nodes, nodes)

    def kernel_scores(*arrays):
        return kernels.pair_scores(kernels.Form(join, fixed, interpret=True), *arrays)

    def plain(projected, offsets, scalars, rows, weight):
        data, live = jnp.split(scalars, [fixed], -1)
        scalars = jnp.concatenate([jax.lax.stop_gradient(data), live], -1)
        each = jnp.moveaxis(projected + offsets[None], 1, 0)
        scores = [
            pairs.pair_scores(
                join, each[2 * d], each[2 * d + 1], scalars, rows[d], weight[d, :, None]
            )
            for d in range(several)
        ]
        return jnp.stack(scores)[..., 0]

    (ours, our_gradients), (reference, gradients) = (
        _with_gradients(scores, arguments, incoming) for scores in (kernel_scores, plain)
    )
    np.testing.assert_allclose(ours, reference, rtol=1e-5, atol=1e-4)
    for a, b in zip(our_gradients, gradients, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("nodes", [7, 16, 20])
def test_they_can_be_lowered_for_a_gpu(nodes):
    def loss(*arguments):
        batched = jax.vmap(
            functools.partial(kernels.pair_scores, kernels.Form("maximum", 1)),
            (0, None, 0, None, None),
        )
        return jnp.sum(batched(*arguments))

    shapes = [(BATCH, nodes, 4, 32), (4, 32), (BATCH, nodes, nodes, 3), (2, 3, 32), (2, 32)]
    arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    lowered = jax.jit(jax.grad(loss)).trace(*arguments).lower(lowering_platforms=("cuda",))
    assert "_backward_kernel" in lowered.as_text()


def _with_gradients(scores, arguments, incoming):
    batched = jax.vmap(jax.vmap(scores, (0, None, 0, None, None)))
    values, pull = jax.vjp(batched, *arguments)
    return values, pull(incoming)


def test_kernels_are_used_where_they_are_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(
        kernels,
        "pair_scores",
        lambda form, projected, *_: asked.append(form) or projected[None, :, 0, :3],
    )
    linear = Linear(jnp.ones((5, 16)), jnp.ones(16))
    edges = Linear(jnp.ones((2, 16)), jnp.ones(16))
    layers = pairs.PairLayers.of(linear, linear, edges, jnp.ones((16, 1)))
    for uses_kernels in (True, False):
        scores = layers.scores(
            "maximum", jnp.ones((3, 5)), jnp.ones((3, 3, 2)), fixed=1, uses_kernels=uses_kernels
        )
        assert scores[0].shape == (3, 3, 1)
    assert asked == [kernels.Form("maximum", 1)]


def test_second_derivatives_are_left_to_xla():
    """On a GPU, only a path without them asks for a kernel."""
    batch = tasks.sample("bfs", 4, 1)
    network = networks.build(batch.task, networks.NetworkConfig(width=16), key=jax.random.key(0))
    arrays = networks.to_device(network, batch)

    def lowered(second_derivatives: bool) -> str:
        path = networks.Path(backend="gpu", second_derivatives=second_derivatives)
        loss = jax.jit(lambda network: networks.loss(network, arrays, path=path))
        return loss.trace(network).lower(lowering_platforms=("cuda",)).as_text()

    assert "_forward_kernel" in lowered(second_derivatives=False)
    assert "_forward_kernel" not in lowered(second_derivatives=True)


def test_what_the_kernels_cannot_serve_is_left_to_xla():
    def fits(heads=1, channels=1, width=16, dtype=jnp.float32):
        return kernels.fits(
            jnp.zeros((4, 2, width), dtype),
            jnp.zeros((4, 4, channels)),
            jnp.zeros((1, width, heads)),
        )

    assert fits()
    assert not fits(heads=2)
    assert not fits(channels=0)
    assert not fits(channels=100)
    assert not fits(width=24)
    assert not fits(width=8)
    assert not fits(dtype=jnp.bfloat16)
