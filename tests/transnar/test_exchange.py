"""The causal test: what counts as following the reasoner, and what is exchanged."""

import jax
import numpy as np
import pytest
from tiny_towers import CONFIG

from algoscope.transnar import exchange
from algoscope.transnar.tower_training import TrainedTower

BEFORE = np.array([[0, 0, 1, 2], [0, 0, 0, 0], [1, 1, 1, 1]])
AFTER = np.array([[0, 2, 1, 2], [0, 0, 0, 3], [1, 1, 1, 1]])
NODES = np.array([1, 3, 0])
"""The reasoner changes the first two problems' answers for the exchanged node, and no others."""


def test_a_tower_that_only_reads_follows_and_leaves_the_others():
    found = exchange.compared((BEFORE, AFTER), (BEFORE, AFTER), NODES)
    assert (found.problems, found.follows, found.follows_before, found.stays) == (2, 1, 0, 0)
    assert (found.others, found.others_stay) == (6, 1)


def test_a_tower_that_reads_nothing_stays():
    found = exchange.compared((BEFORE, AFTER), (BEFORE, BEFORE), NODES)
    assert (found.follows, found.stays, found.others_stay) == (0, 1, 1)


def test_answers_of_another_length_do_not_count():
    illegible = np.full_like(BEFORE, -1)
    found = exchange.compared((BEFORE, AFTER), (illegible, AFTER), NODES)
    assert found.problems == 0
    assert np.isnan(found.follows)


def test_one_nodes_states_are_those_of_the_problem_before(reasoner, hybrid, dataset, states):
    nodes = np.array([2, 0, 1, 3])
    before, after = exchange.exchanged(TrainedTower(CONFIG, hybrid, reasoner), dataset, nodes)
    np.testing.assert_allclose(before.nodes, states.nodes, atol=1e-5)
    np.testing.assert_allclose(before.edges, states.edges, atol=1e-5)
    assert np.array_equal(before.outputs["pi"], states.outputs["pi"])
    for problem, node in enumerate(nodes):
        others = np.arange(4) != node
        assert np.array_equal(after.nodes[0, problem, node], before.nodes[0, problem - 1, node])
        assert np.array_equal(after.nodes[0, problem, others], before.nodes[0, problem, others])
        assert np.array_equal(after.edges[0, problem, node], before.edges[0, problem - 1, node])
        assert np.array_equal(
            after.edges[0, problem][:, node], before.edges[0, problem - 1][:, node]
        )
        kept = np.ix_(others, others)
        assert np.array_equal(after.edges[0, problem][kept], before.edges[0, problem][kept])


def test_it_is_measured_on_what_a_tower_writes(reasoner, hybrid, dataset):
    found = exchange.measure(TrainedTower(CONFIG, hybrid, reasoner), dataset)
    assert 0 <= found.problems <= len(dataset)
    with pytest.raises(ValueError, match="reads no final states"):
        exchange.measure(TrainedTower(CONFIG, hybrid, None), dataset)


def test_another_problems_state_can_change_the_reasoners_answer(reasoner, hybrid, dataset):
    trained = TrainedTower(CONFIG, hybrid, reasoner)
    changes = []
    for node in range(4):
        before, after = exchange.exchanged(trained, dataset, np.full(4, node))
        changes.append((before.outputs["pi"] != after.outputs["pi"]).any())
    assert any(jax.device_get(changes))
