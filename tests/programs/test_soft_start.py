"""Soft compiled networks compute what the sharp ones do, and can learn."""

import jax
import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.programs.compiler import compile_program
from algoscope.programs.soft_start import compile_soft

_WIDTH = 32


def _gradient(network, batch) -> dict[str, np.ndarray]:
    gradient = jax.grad(networks.loss)(network, networks.to_device(network, batch))
    return {name: np.asarray(array) for name, array in networks.arrays(gradient).items()}


@pytest.mark.parametrize("name", ["bfs", "bellman_ford"])
def test_soft_pointers_and_random_units_change_no_state(name):
    program = programs.get(name)
    batch = tasks.sample(program.task, 12, 4, seed=3)
    sharp = networks.run(compile_program(program, _WIDTH).network, batch)
    soft = compile_soft(program, _WIDTH, masks=2.0**10)
    done = networks.run(soft.network, batch)
    used = np.asarray(sharp.hidden).any((0, 1, 2))
    np.testing.assert_array_equal(
        np.asarray(done.hidden)[..., used], np.asarray(sharp.hidden)[..., used]
    )
    assert np.asarray(done.hidden)[..., ~used].any(), "the rest does something, unread"
    np.testing.assert_array_equal(np.asarray(done.attention), np.asarray(sharp.attention))
    assert float(networks.score(done, batch)["score"]) == 1.0
    assert soft.certificate == compile_program(program, _WIDTH).certificate


def test_sharp_networks_have_no_gradient_and_soft_ones_have():
    program = programs.get("bfs")
    batch = tasks.sample("bfs", 8, 4, seed=3)
    sharp = _gradient(compile_program(program, _WIDTH).network, batch)
    assert not any(array.any() for array in sharp.values())
    empty = _gradient(compile_soft(program, _WIDTH, rest=0.0).network, batch)
    wide = _gradient(compile_soft(program, _WIDTH, rest=1.0).network, batch)
    moving = [sum(np.count_nonzero(a) for a in arrays.values()) for arrays in (empty, wide)]
    assert 0 < moving[0] < moving[1], "random units can be listened to"


def test_softer_attention_has_a_smaller_certificate():
    program = programs.get("bfs")
    sizes = [
        compile_soft(program, _WIDTH, attention=sharpness).certificate.largest_uniform_size
        for sharpness in (2.0**9, 2.0**12, 2.0**16)
    ]
    assert sizes == sorted(set(sizes))
    assert sizes[0] >= 16
