"""The order match: 1 for planted steps, nothing for what is static, mentioned often or mirrored."""

import dataclasses

import numpy as np
import pytest
from tiny_models import tiny_llama

from algoscope.llm import attention, order, probes, representation
from algoscope.llm.hypotheses import by_name, trace
from algoscope.llm.observe import observe
from algoscope.llm.prompts import navigation
from algoscope.llm.subjects import subject

CHANNEL = "attention of the last token"


@pytest.fixture(scope="module")
def seen(tokenizer):
    made = subject((tiny_llama(tokenizer, gain=1.0, num_hidden_layers=6), tokenizer), "llama")
    return observe(made, navigation(60, form="letters"))


def _planted(observations, numbers):
    """Observations in which readouts attend to a mention as `numbers(item)` says:
    [layer, head, node]."""
    changed = []
    for o in observations:
        summed, nodes = numbers(o.item) * o.places.mentions, o.item.nodes
        attention = np.zeros((1, *summed.shape[:2], nodes + 3, nodes + 3))
        attention[0, :, :, nodes : nodes + 2, :nodes] = summed[:, :, None]
        recording = dataclasses.replace(o.recording, attention=attention)
        changed.append(dataclasses.replace(o, recording=recording))
    return changed


def _with_states(observation, states):
    """The observation with other states of the maze's nodes: [layer + 1, node, width]."""
    states = np.pad(states, ((0, 0), (0, 3), (0, 0)))[None]
    recording = dataclasses.replace(
        observation.recording, initial=states[:, 0], hidden=states[:, 1:]
    )
    return dataclasses.replace(observation, recording=recording)


def _steps(name, item, layers=6):
    field = np.zeros((layers, 2, item.nodes))
    steps = trace(by_name(name), item)[:layers]
    field[: len(steps), 0] = steps
    return field


@pytest.mark.parametrize("name", ["BFS", "DFS", "backward search"])
def test_planted_steps_are_found_and_named(seen, name):
    planted = _planted(seen, lambda item: _steps(name, item))
    found = order.match(planted, by_name(name), CHANNEL, permutations=199)
    assert found.score.low > 0.9
    assert found.p == 1 / 200
    assert found.matched == found.steps
    assert [layer for layer, _ in found.alignment] == sorted(x for x, _ in found.alignment)
    for other in {"BFS", "DFS", "backward search"} - {name}:
        rival = order.match(planted, by_name(other), CHANNEL, permutations=19)
        assert rival.score.value < found.score.value - 0.3


def test_steps_in_reverse_order_are_not_found(seen):
    planted = _planted(seen, lambda item: _steps("BFS", item)[::-1])
    found = order.match(planted, by_name("BFS"), CHANNEL, permutations=19)
    assert found.score.value < 0.6


def test_all_steps_at_once_at_every_layer_count_for_nothing(seen):
    def everything(item):
        visited = trace(by_name("BFS"), item).any(0).astype(float)
        return np.broadcast_to(visited, (6, 2, item.nodes)).copy()

    found = order.match(_planted(seen, everything), by_name("BFS"), CHANNEL, permutations=99)
    assert abs(found.score.value) < 0.1


def test_the_number_of_mentions_counts_for_nothing(seen):
    def mentions(item):
        return np.broadcast_to(item.mention_counts(), (6, 2, item.nodes)).astype(float)

    found = order.match(_planted(seen, mentions), by_name("BFS"), CHANNEL, permutations=99)
    assert abs(found.score.value) < 0.1


def test_p_values_of_random_weights_are_not_small_more_often_than_they_should(tokenizer):
    """20 models without any training: uniform p-values fall below 0.1 twice, on average."""
    low = 0
    for seed in range(20):
        made = subject((tiny_llama(tokenizer, seed, 8.0), tokenizer), "random")
        seen = observe(made, navigation(30, form="letters", seed=seed))
        low += order.match(seen, by_name("BFS"), CHANNEL, permutations=99, seed=seed).p < 0.1
    assert low <= 6  # P(more) < 0.003


def test_items_without_a_mirror_are_refused(seen):
    bare = [dataclasses.replace(o, item=dataclasses.replace(o.item, mirror=())) for o in seen]
    with pytest.raises(ValueError, match="without a mirror"):
        order.match(bare, by_name("BFS"), CHANNEL)


def test_the_case_study_finds_its_effect_in_random_weights_and_the_correction_removes_it(seen):
    layers = attention.by_layer(seen)
    assert all(layer.naive_rho.high < 0 for layer in layers)
    assert all(layer.paper.p < 0.001 and layer.paper.b > 0 for layer in layers)
    assert all(layer.corrected.p > 0.001 for layer in layers)
    assert attention.mention_rho(seen).high < -0.3


def test_probes_find_what_is_planted_and_nothing_else(seen):
    rng = np.random.default_rng(0)

    def with_states(visible):
        changed = []
        for o in seen:
            states = rng.normal(size=(3, o.item.nodes, 8))
            states[2, :, 0] += 3 * visible(o.item)
            changed.append(_with_states(o, states))
        return changed

    reachable = probes.TARGETS["is reachable"]
    [found] = probes.probe(with_states(reachable), {"it": reachable}, permutations=99)
    assert found.scores[2] > 0.9
    assert abs(found.scores[0] - 0.5) < 0.1
    assert found.p == 0.01
    mentions = with_states(lambda item: item.mention_counts().astype(float))
    [nothing] = probes.probe(mentions, {"it": reachable}, permutations=99)
    assert nothing.p > 0.01
    first = probes.visited(by_name("BFS"), 1)
    [visited] = probes.probe(with_states(first), {"first": first}, permutations=99)
    assert visited.best.low > 0.8


def test_similarity_finds_planted_geometry(seen):
    rng = np.random.default_rng(0)
    planted = []
    for o in seen:
        when = np.full(o.item.nodes, 9.0)
        for step, row in enumerate(trace(by_name("DFS"), o.item)):
            when[row] = step
        angle = when / 6
        states = np.stack([np.cos(angle), np.sin(angle)], 1) + rng.normal(
            size=(2, o.item.nodes, 2), scale=0.05
        )
        planted.append(_with_states(o, states))
    found = {(s.measure, s.reference): s for s in representation.similarities(planted)}
    for measure in ("RSA", "CKA"):
        dfs, bfs = found[measure, "DFS"], found[measure, "BFS"]
        assert dfs.p < 0.05
        assert dfs.mirrored[0].value > bfs.mirrored[0].value + 0.1
        assert dfs.best == max(dfs.mirrored)
    assert min(s.p for s in representation.similarities(seen)) > 0.05


def test_trajectories_have_two_coordinates_for_every_node_and_layer(seen):
    for method in ("pca", "tsne"):
        placed = representation.trajectories(seen[0], method)
        assert placed.shape == (7, 15, 2)
        assert np.array_equal(placed, representation.trajectories(seen[0], method))
    with pytest.raises(ValueError, match="needed pca or tsne"):
        representation.trajectories(seen[0], "umap")
