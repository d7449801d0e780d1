"""Runs, recordings, scores, and the work over pairs."""

import dataclasses

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import pytest
from jax.interpreters import partial_eval

from algoscope import networks, tasks
from algoscope.networks import Noise, trajectories
from algoscope.networks.fast import pairs
from algoscope.networks.fast.layers import compose
from algoscope.networks.layers import Linear
from algoscope.recording import Recording


def build(task: str, **options) -> networks.Network:
    config = networks.NetworkConfig(width=8, **options)
    return networks.build(tasks.get(task), config, key=jax.random.key(0))


@pytest.mark.parametrize("processor", sorted(networks.PROCESSORS))
def test_a_recording_always_carries_attention_states_and_predictions(processor):
    batch = tasks.sample("bfs", size=7, count=3)
    recording = networks.run(build("bfs", processor=processor), batch)
    steps = batch.hints["pi_h"].shape[1] - 1
    assert recording.attention.shape == (3, steps, 1, 7, 7)
    assert recording.hidden.shape == (3, steps, 7, 8)
    assert recording.hints["pi_h"].shape == (3, steps, 7)
    assert recording.hints["reach_h"].shape == (3, steps, 7)
    assert recording.outputs["pi"].shape == (3, 7)
    np.testing.assert_allclose(recording.attention.sum(-1), 1, atol=1e-5)
    if processor in ("gat", "gatv2", "pgn"):
        neighbours = batch.inputs["adj"] + np.swapaxes(batch.inputs["adj"], 1, 2) > 0
        first = np.asarray(recording.attention[:, 0, 0])
        assert first[~neighbours].max(initial=0) < 1e-6
    if processor == "deepsets":
        assert (np.asarray(recording.attention) == np.eye(7)).all()


def test_predictions_do_not_depend_on_padding():
    batch = tasks.sample("bfs", size=6, count=8, seed=2)
    assert len(set(batch.lengths)) > 1
    network = build("bfs")
    whole = networks.run(network, batch)
    shortest = int(np.argmin(batch.lengths))
    alone = batch.take([shortest])
    hints = {name: hint[:, : batch.lengths[shortest]] for name, hint in alone.hints.items()}
    alone = dataclasses.replace(alone, hints=hints)
    single = networks.run(network, alone)
    np.testing.assert_allclose(
        whole.logits["pi"][shortest], single.logits["pi"][0], rtol=1e-4, atol=1e-5
    )


def test_a_run_is_the_same_every_time():
    batch = tasks.sample("dfs", size=5, count=2)
    network = build("dfs")
    first, second = networks.run(network, batch), networks.run(network, batch)
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_array_equal(a, b)


def noise(batch: tasks.Batch, width: int, keep: float = 1.0, force: bool = False) -> Noise:
    count, times, nodes = batch.hints["pi_h"].shape
    return Noise(
        jnp.full((count, times - 1, nodes, width), keep),
        jnp.full((count, times - 1), force),
        jnp.zeros((count, nodes, nodes)),
    )


def test_teacher_forcing_replaces_the_predicted_hints():
    batch = tasks.sample("bfs", size=6, count=4, seed=1)
    network = build("bfs")
    arrays = networks.to_device(network, batch)
    free = trajectories(network, arrays, noise(batch, 8), training=True)
    forced = trajectories(network, arrays, noise(batch, 8, force=True), training=True)
    np.testing.assert_allclose(free.hidden[:, 0], forced.hidden[:, 0], atol=1e-6)
    assert jnp.abs(free.hidden[:, 1] - forced.hidden[:, 1]).max() > 1e-3


def test_dropout_scales_and_removes_units():
    batch = tasks.sample("bfs", size=6, count=4, seed=1)
    network = build("bfs", dropout=0.5)
    arrays = networks.to_device(network, batch)
    off = trajectories(network, arrays, noise(batch, 8, keep=0.0), training=True)
    assert jnp.abs(off.hidden).max() == 0
    full = trajectories(network, arrays, noise(batch, 8), training=True)
    twice = trajectories(network, arrays, noise(batch, 8, keep=2.0), training=True)
    np.testing.assert_allclose(twice.hidden[:, 0], 2 * full.hidden[:, 0], rtol=1e-5)


def test_truth_scores_one_and_wrong_answers_less():
    for task in ("bfs", "insertion_sort", "articulation_points", "binary_search", "lcs_length"):
        batch = tasks.sample(task, size=8, count=4)
        network = build(task)
        recording = networks.run(network, batch)
        truth = Recording(
            recording.attention,
            recording.hidden,
            {k: v[:, 1:] for k, v in batch.hints.items()},
            batch.outputs,
            batch.lengths,
            {},
        )
        assert networks.score(truth, batch)["score"] == pytest.approx(1.0)
        assert networks.score(recording, batch)["score"] < 0.9
        along_time = networks.hint_scores(truth, batch)
        for feature in batch.task.at(tasks.Stage.HINT):
            valid = batch.lengths.max() - 1
            best = 0.0 if feature.kind is tasks.Kind.SCALAR else 1.0
            np.testing.assert_allclose(along_time[feature.name][:valid], best, atol=1e-6)


def test_composed_layers_equal_one_after_the_other():
    first, second = (Linear.start(jax.random.key(k), 4, 4, bias=0.5) for k in (0, 1))
    x = jax.random.normal(jax.random.key(2), (5, 5, 4))
    np.testing.assert_allclose(compose(first, second)(x), second(first(x)), atol=1e-5)


@pytest.mark.parametrize("block", [1, 2**6, 2**17])
def test_pair_scores_do_not_depend_on_the_block_size(block, monkeypatch):
    monkeypatch.setattr(pairs, "_BLOCK", block)
    receiver, sender = (Linear.start(jax.random.key(k), 6, 4, bias=0.5) for k in (4, 5))
    edge = Linear.start(jax.random.key(1), 3, 4, bias=0.5)
    weight = jax.random.normal(jax.random.key(6), (4, 2))
    x = jax.random.normal(jax.random.key(7), (5, 6))
    scalars = jax.random.normal(jax.random.key(8), (5, 5, 3))

    def ours(x, scalars, receiver, sender, edge, weight):
        layers = pairs.PairLayers.of(receiver, sender, edge, weight)
        return layers.scores("maximum", x, scalars, fixed=0, uses_kernels=False)[0]

    def dense(x, scalars, receiver, sender, edge, weight):
        return jnp.maximum(receiver(x)[:, None], sender(x)[None] + edge(scalars)) @ weight

    arguments = (x, scalars, receiver, sender, edge, weight)
    np.testing.assert_allclose(ours(*arguments), dense(*arguments), atol=1e-5)
    ours_gradient = jax.grad(lambda a: jnp.sum(ours(*a) ** 2))(arguments)
    dense_gradient = jax.grad(lambda a: jnp.sum(dense(*a) ** 2))(arguments)
    for a, b in zip(jax.tree.leaves(ours_gradient), jax.tree.leaves(dense_gradient), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("join", list(pairs.JOINS))
@pytest.mark.parametrize("channels", [0, 3])
def test_pair_scores_unit_by_unit(join, channels):
    """Of two heads, each with its part of the units."""
    receivers, senders = (jax.random.normal(jax.random.key(k), (5, 6)) for k in (0, 1))
    scalars = jax.random.normal(jax.random.key(2), (5, 5, channels))
    rows = jax.random.normal(jax.random.key(3), (channels, 6))
    heads = jax.random.normal(jax.random.key(4), (2, 3, 1))
    arguments = (join, receivers, senders, scalars, rows, jax.scipy.linalg.block_diag(*heads))
    scores = pairs.unit_scores(*arguments)
    np.testing.assert_allclose(scores, pairs.pair_scores(*arguments), atol=1e-6)


def largest_array(function, *arguments) -> int:
    """The largest array that any operation of the function makes, in elements."""

    def sizes(jaxpr):
        for equation in jaxpr.eqns:
            yield from (v.aval.size for v in equation.outvars if hasattr(v.aval, "size"))
            for inner in jax.extend.core.jaxprs_in_params(equation.params):
                yield from sizes(inner)

    jaxpr = jax.make_jaxpr(function)(*arguments).jaxpr
    used, _ = partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))
    return max(sizes(used))


def test_no_operation_makes_nodes_by_nodes_by_width_numbers():
    nodes, width = 256, 128
    batch = tasks.sample("bfs", size=nodes, count=1, p=0.2)
    config = networks.NetworkConfig(width=width)
    network = networks.build(tasks.get("bfs"), config, key=jax.random.key(0))
    arrays = networks.to_device(network, batch)
    # Without the states, which hold the edges as decoders read them.
    largest = largest_array(lambda n: trajectories(n, arrays)._replace(states=None), network)
    assert largest < nodes * nodes * width / 4


def test_arrays_of_any_model_make_a_recording_or_all_faults_are_listed():
    attention = np.full((2, 3, 1, 4, 4), 0.25)
    hidden = np.zeros((2, 3, 4, 5))
    lengths = np.array([4, 4])
    recording = Recording.from_arrays(
        attention=attention, hidden=hidden, lengths=lengths, hints={"pi_h": np.zeros((2, 3, 4))}
    )
    assert recording.hints["pi_h"].shape == (2, 3, 4)
    listed = Recording.from_arrays(lengths=[4, 4], hints={"pi_h": np.zeros((2, 3, 4)).tolist()})
    assert np.array_equal(listed.hints["pi_h"], recording.hints["pi_h"])
    for parts, fault in (
        ({"lengths": np.array(4)}, "lengths: got shape"),
        ({"lengths": lengths, "hidden": "x"}, "hidden: got 'x', needed an array of numbers"),
        (
            {"lengths": lengths, "hints": {"a": np.array(["x"])}},
            r"hints\['a'\]: got .*needed an arr",
        ),
    ):
        with pytest.raises(ValueError, match=fault):
            Recording.from_arrays(**parts)
    with pytest.raises(ValueError, match="needed sums of 1 over senders"):
        Recording.from_arrays(attention=attention * 2, hidden=hidden, lengths=lengths)
    with pytest.raises(ValueError, match="attention: got shape") as error:
        Recording.from_arrays(attention=attention[0], hidden=hidden[0], lengths=lengths)
    assert "hidden: got shape" in str(error.value)
    with pytest.raises(ValueError, match="hidden: got shape") as error:
        Recording.from_arrays(attention=attention, hidden=hidden[:, :2], lengths=lengths[:1])
    assert "lengths: got shape" in str(error.value)
