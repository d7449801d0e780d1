"""Networks that are judged in one pass get the words and the numbers that each gets alone."""

import math

import jax
import pytest

from algoscope import networks, tasks
from algoscope.measures import judge_all
from algoscope.measures.examination import examination
from algoscope.measures.verdict import examine
from algoscope.networks import Ensemble, Network, NetworkConfig
from algoscope.programs import get as program
from algoscope.programs.compiler import compile_program

FEW = 60


def noisy(network: Network, scale: float) -> Network:
    return jax.tree.map(
        lambda a: a * (1 + scale * jax.random.normal(jax.random.key(1), a.shape)), network
    )


def test_words_and_numbers_are_those_of_each_network_alone():
    exact = compile_program(program("bfs")).network
    members = [exact, noisy(exact, 0.3)]
    stacked = Ensemble.of(members, "bfs", range(2)).network
    exam = examination("bfs", small_count=6, large_count=2)
    together = judge_all(stacked, "bfs", problems=FEW, exam=exam, shrunk=0)
    assert together[0].verdict.word == "runs"
    assert together[1].verdict.word != "runs"
    for network, judgement in zip(members, together, strict=True):
        alone = examine(network, exam, problems=FEW)
        assert judgement.verdict.word == alone.verdict.word
        assert judgement.evidence.accuracy == pytest.approx(alone.evidence.accuracy)
        assert judgement.evidence.followed == pytest.approx(alone.evidence.followed, nan_ok=True)
        for key, value in alone.evidence.tested.items():
            # The two searches try other problems.
            if key != "agreement":
                assert judgement.evidence.tested[key] == pytest.approx(value, nan_ok=True), key
        assert math.isnan(judgement.evidence.probes.same_size)


def test_networks_of_another_task_are_refused():
    network = networks.build(tasks.get("bfs"), NetworkConfig(width=4), key=jax.random.key(0))
    with pytest.raises(ValueError, match="needed those of bellman_ford"):
        judge_all(Ensemble.of([network], "bfs", [0]).network, "bellman_ford")
