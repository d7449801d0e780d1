"""Networks that are tried together get what each gets alone, on the same problems."""

import jax
import numpy as np
import pytest

from algoscope import networks, tasks
from algoscope.falsify import covers_of, falsify_all
from algoscope.falsify.cover import Group
from algoscope.falsify.families import SAMPLER, SEARCH
from algoscope.falsify.search import Hunt
from algoscope.networks import Ensemble, NetworkConfig
from algoscope.programs import get as program
from algoscope.programs.compiler import compile_program

FEW, SIZES = 300, (4, 8)


def stacked(members: list) -> networks.Network:
    return Ensemble.of(members, "bfs", range(len(members))).network


@pytest.fixture(scope="module")
def untrained() -> list:
    config = NetworkConfig(width=8)
    return [networks.build(tasks.get("bfs"), config, key=jax.random.key(k)) for k in range(2)]


def test_rates_are_those_of_each_network_alone(untrained):
    covers = covers_of("bfs", problems=FEW, sizes=SIZES, count=2)
    together = falsify_all(
        stacked(untrained), "bfs", sizes=SIZES, covers=covers, searched=False, shrunk=0
    )
    for network, result in zip(untrained, together, strict=True):
        alone = Hunt(network, tasks.get("bfs"), None, np.random.default_rng(0))
        for group in (group for groups in covers for group in groups):
            alone.examine(group)
        assert alone.tolerance == pytest.approx(result.tolerance, rel=1e-4)
        assert alone.result(None, None).families == result.families
        assert result.wrong > 0
        assert result.smallest is not None
        assert result.smallest.batch.nodes <= 4


def test_an_exact_network_beside_a_noisy_one_has_no_disagreement():
    exact = compile_program(program("bfs")).network
    noisy = jax.tree.map(lambda a: a + 3 * jax.random.normal(jax.random.key(0), a.shape), exact)
    right, wrong = falsify_all(stacked([exact, noisy]), "bfs", problems=FEW, sizes=SIZES, shrunk=0)
    counts = [{f.family: f.problems for f in result.families} for result in (right, wrong)]
    assert counts[0] == counts[1]
    assert counts[0][SEARCH] > 0
    assert right.wrong == 0
    assert right.smallest is None
    assert right.region is None
    assert wrong.wrong > 0
    assert wrong.smallest is not None


def test_traced_problems_are_read_from_their_batch():
    groups = covers_of("bellman_ford", problems=FEW, sizes=SIZES, count=1)[0]
    for group in groups:
        again = Group.of_batch(group.names, group.batch, group.coordinates)
        for one, other in zip(group.problems, again.problems, strict=True):
            assert set(one) == set(other)
            assert all(np.allclose(one[name], other[name]) for name in one)
        assert SAMPLER in group.names
