"""Towers and trainings that differ from the usual ones in one thing."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_towers import CONFIG, TOWER, logits

from algoscope.errors import ConfigError
from algoscope.training.optimiser import Adam, start_learner
from algoscope.transnar import mechanism
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar import tower_training as towers
from algoscope.transnar.cross_attention import reading_layers
from algoscope.transnar.pool import training_orders
from algoscope.transnar.text_dataset import draw_all
from algoscope.transnar.tower import build, positions_of

PLAIN = dataclasses.replace(CONFIG, tower=dataclasses.replace(TOWER, reads="nothing"), steps=3)


def opened(reasoner, **changes):
    """A hybrid with its gates open."""
    config = dataclasses.replace(TOWER, **changes)
    hybrid = build(config, jax.random.key(0), reasoners.widths_of(reasoner))
    reader = dataclasses.replace(hybrid.reader, gate=jnp.full(config.layers, 0.2))
    return dataclasses.replace(hybrid, reader=reader)


@pytest.fixture(scope="module")
def text(dataset):
    tokens = jnp.asarray(dataset.tokens, jnp.int32)
    return tokens, positions_of(TOWER, jax.random.key(1), *tokens.shape)


@pytest.mark.parametrize("mix", ["joined", "sum", "mlp", "orthogonal"])
def test_every_mix_reads_nodes_and_edges(reasoner, text, graph, mix):
    hybrid = opened(reasoner, mix=mix)
    whole = logits(hybrid, *text, graph)
    base = logits(mechanism.without_gates(hybrid), *text, graph)
    assert not np.allclose(whole, base, atol=1e-3)
    for stream, states in (("nodes", "nodes"), ("edges", "edges")):
        changed = graph._replace(**{states: -getattr(graph, states)})
        assert not np.allclose(whole, logits(hybrid, *text, changed), atol=1e-3)
        deprived = mechanism.without(hybrid, stream)
        assert np.array_equal(logits(deprived, *text, graph), logits(deprived, *text, changed))


def test_orthogonal_parts_are_so(reasoner):
    from algoscope.transnar.cross_attention import _mixed

    reader = opened(reasoner, mix="orthogonal").reader
    nodes, edges = jax.random.normal(jax.random.key(0), (2, 3, 5, 8))
    first, second = jnp.split(_mixed(reader, nodes, edges), 2, -1)
    assert np.array_equal(first, nodes)
    assert np.abs(jnp.sum(first * second, -1)).max() < 1e-4
    assert not np.allclose(second, edges, atol=1e-2)


@pytest.mark.parametrize(
    ("which", "reading"),
    [("all", [1, 1, 1, 1]), ("first", [1, 0, 0, 0]), ("last", [0, 0, 0, 1]),
     ("alternate", [1, 0, 1, 0])],
)  # fmt: skip
def test_only_chosen_layers_read(which, reading):
    config = dataclasses.replace(TOWER, layers=4, reading_layers=which)
    assert list(reading_layers(config)) == [bool(layer) for layer in reading]


def test_gates_of_layers_that_do_not_read_stay_shut(reasoner, text, graph):
    hybrid = opened(reasoner, reading_layers="last")
    gate = hybrid.reader.gate.at[0].set(0.0)
    shut = dataclasses.replace(hybrid, reader=dataclasses.replace(hybrid.reader, gate=gate))
    assert np.array_equal(logits(hybrid, *text, graph), logits(shut, *text, graph))
    slope = jax.grad(lambda tower: logits(tower, *text, graph)[0, -1, 0])(hybrid).reader.gate
    assert slope[0] == 0
    assert slope[1] != 0


def test_weights_decay_apart_from_their_gradient():
    learner = start_learner({"w": jnp.array([2.0, -4.0])}, validated=False)
    still = Adam(0.1, 0.0, weight_decay=0.5).step(learner, {"w": jnp.zeros(2)})
    np.testing.assert_allclose(still.weights["w"], [1.9, -3.8], rtol=1e-6)
    gradient = {"w": jnp.array([3.0, -1.0])}
    plain, decayed = (
        Adam(0.1, 0.0, weight_decay=decay).step(learner, gradient).weights["w"]
        for decay in (0.0, 0.5)
    )
    np.testing.assert_allclose(plain - decayed, [0.1, -0.2], rtol=1e-5)


def test_a_pool_in_parts_holds_the_same_problems_and_states(reasoner):
    config = dataclasses.replace(CONFIG, sizes=(4, 5), parts=3)
    datasets = draw_all(training_orders(config))
    [(shape, whole)] = towers.prepare(dataclasses.replace(config, parts=1), reasoner, datasets)[
        0
    ].items()
    parts = towers.prepare(config, reasoner, datasets)
    assert parts.samples == {shape: 8}
    for number in range(3):
        part = parts[number][shape]
        rows = [*range(4 * number, 4 * number + 4), *range(12 + 4 * number, 16 + 4 * number)]
        assert np.array_equal(part.tokens, whole.tokens[np.array(rows)])
        assert np.allclose(part.graph.nodes, whole.graph.nodes[:, np.array(rows)], atol=1e-6)
        assert np.array_equal(part.graph.mask, whole.graph.mask[np.array(rows)])


class KilledError(Exception):
    pass


def kill(progress) -> None:
    if progress.step == 3:
        raise KilledError


def test_a_training_in_parts_that_was_stopped_ends_with_the_same_bits(tmp_path):
    config = dataclasses.replace(PLAIN, parts=3, steps=5)
    whole = towers.train(config, tmp_path / "whole")
    with pytest.raises(KilledError):
        towers.train(config, tmp_path / "killed", checkpoint_seconds=0.0, report=kill)
    resumed = towers.resume(tmp_path / "killed")
    for name in ("weights.safetensors", "metrics.safetensors"):
        assert (resumed.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_a_plain_tower_learns_what_a_hybrid_expects(reasoner, tmp_path):
    """And needs no graph, neither then nor, if it was stopped, from anywhere else."""
    config = dataclasses.replace(CONFIG, steps=2)
    teacher = towers.load(towers.train(config, tmp_path / "hybrid", reasoner=reasoner).path)
    distilled = dataclasses.replace(PLAIN, loss="teacher", steps=5)
    with pytest.raises(KilledError):
        towers.train(
            distilled, tmp_path / "plain", teacher=teacher, checkpoint_seconds=0.0, report=kill
        )
    run = towers.resume(tmp_path / "plain")
    again = towers.train(distilled, tmp_path / "again", teacher=teacher)
    learnt = (run.path / "weights.safetensors").read_bytes()
    assert learnt == (again.path / "weights.safetensors").read_bytes()
    answers = towers.train(dataclasses.replace(PLAIN, steps=5), tmp_path / "from-answers")
    assert learnt != (answers.path / "weights.safetensors").read_bytes()
    found = towers.load(run.path)
    assert found.reasoner is None
    assert found.tower.reader is None


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"loss": "teacher"}, "teacher: got none with loss 'teacher'"),
        ({"loss": "words"}, "loss: got .*words.*, needed one of answers"),
        ({"weight_decay": -1.0}, "weight_decay: got -1.0"),
        ({"parts": 13}, "parts: got 13, needed a divisor of 12"),
        ({"loss": "teacher", "tower": TOWER}, "tower.reads: got 'final' with loss \"teacher\""),
    ],
)
def test_a_wrong_variant_is_refused(tmp_path, changes, complaint):
    with pytest.raises(ConfigError, match=complaint):
        towers.train(dataclasses.replace(PLAIN, **changes), tmp_path / "wrong")
    assert not (tmp_path / "wrong").exists()
