"""The GPU's kernels, interpreted on any device, against the form that XLA makes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algoscope.networks import kernels, pairs

SEEDS, BATCH = 2, 2


@pytest.mark.parametrize("join", pairs.JOINS)
@pytest.mark.parametrize(
    ("receivers", "senders", "channels", "fixed", "width"),
    [(5, 7, 3, 1, 64), (20, 20, 1, 0, 16), (3, 3, 2, 2, 32)],
)
def test_scores_and_gradients_equal_the_plain_form(
    join, receivers, senders, channels, fixed, width
):
    rng = np.random.default_rng(3)

    def draw(*shape):
        # Few distinct numbers, so that sums tie.
        return jnp.asarray(rng.integers(-2, 3, shape), jnp.float32)

    given = (
        draw(SEEDS, BATCH, receivers, width),
        draw(SEEDS, BATCH, senders, width),
        draw(SEEDS, BATCH, receivers, senders, channels),
        draw(SEEDS, channels, width),
        draw(SEEDS, width),
    )
    incoming = draw(SEEDS, BATCH, receivers, senders)

    def of_kernel(*one):
        return kernels.pair_scores(kernels.Form(join, fixed, interpret=True), *one)

    def plain(receivers, senders, scalars, rows, weight):
        data, live = jnp.split(scalars, [fixed], -1)
        scalars = jnp.concatenate([jax.lax.stop_gradient(data), live], -1)
        return pairs.plain_pair_scores(
            pairs.JOINS[join], receivers, senders, scalars, rows, weight[:, None]
        )[..., 0]

    (ours, of_ours), (reference, of_reference) = (
        _with_gradients(one, given, incoming) for one in (of_kernel, plain)
    )
    np.testing.assert_allclose(ours, reference, rtol=1e-5, atol=1e-4)
    for a, b in zip(of_ours, of_reference, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-4)


def _with_gradients(one, given, incoming):
    of_all = jax.vmap(jax.vmap(one, (0, 0, 0, None, None)))
    scores, pull = jax.vjp(of_all, *given)
    return scores, pull(incoming)


def test_second_derivatives_are_left_to_xla(monkeypatch):
    """Where there is a GPU, the first derivative alone asks for the kernel."""
    asked = []
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(
        kernels, "pair_scores", lambda form, receivers, *_: asked.append(form) or receivers[:, :3]
    )
    rows = pairs.Rows(jnp.ones((2, 16)), jnp.ones(16))
    edges = pairs.Factored(jnp.ones((3, 3, 2)), rows, fixed=1)
    given = (jnp.ones((3, 16)), jnp.ones((3, 16)), edges, jnp.ones((16, 1)))
    assert pairs.pair_scores("maximum", *given).shape == (3, 3, 1)
    with pairs.twice_differentiable():
        assert pairs.pair_scores("maximum", *given).shape == (3, 3, 1)
    assert asked == [kernels.Form("maximum", 1)]


def test_what_the_kernels_cannot_serve_is_left_to_xla():
    def fits(heads=1, channels=1, width=16, dtype=jnp.float32):
        return kernels.fits(
            jnp.zeros((4, width), dtype), jnp.zeros((4, 4, channels)), jnp.zeros((width, heads))
        )

    assert fits()
    assert not (fits(heads=2))
    assert not (fits(channels=0))
    assert not (fits(channels=100))
    assert not (fits(width=24))
    assert not (fits(width=8))
    assert not fits(dtype=jnp.bfloat16)
