"""GATv2 and its options against the paper's equations, written out for single numbers in numpy."""

import dataclasses

import jax
import numpy as np
import pytest

from algoscope import networks, tasks
from algoscope.networks.encoders import Encoded, encode

BASE = networks.NetworkConfig(width=8, heads=2)
OPTIONS = {
    "plain": {},
    "full": {"processor": "gatv2_full"},
    "edge information": {"edge_information": True},
    "pre-attention bias": {"attention_bias": 6},
    "heads summed": {"head_combination": "sum"},
    "heads summed, wide attention": {"head_combination": "sum", "heads": 3, "attention_width": 24},
    "heads summed, edge information": {"head_combination": "sum", "edge_information": True},
    "activation on the skip": {"activation": "skip"},
    "no LayerNorm": {"layer_norm": False},
    "as in the paper": {
        "edge_information": True,
        "attention_bias": 6,
        "activation": "skip",
        "layer_norm": False,
        "head_combination": "sum",
    },
}


def equations(p: dict, config: networks.NetworkConfig, encoded: Encoded, hidden: np.ndarray):
    """Equations 4-14, one receiver, sender and head at a time; p: the processor's arrays."""
    nodes, edges, graph, adjacency = map(np.asarray, encoded)
    adjacency = adjacency | ("full" in config.processor)
    n, heads, width = len(nodes), config.heads, config.width
    c = np.concatenate([nodes, hidden], -1)

    def linear(name, x):
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    part = p["head.weight"].shape[0]
    values = width if config.head_combination == "sum" else width // heads
    attention = np.zeros((heads, n, n))
    selected = np.zeros((n, heads, values))
    for h in range(heads):
        for i in range(n):
            logits = np.full(n, -np.inf)
            for j in range(n):
                zeta = linear("receiver", c[i]) + linear("sender", c[j])
                zeta = zeta + linear("edge", edges[i, j]) + linear("graph", graph)
                zeta = zeta + (p["bias"][i, j] if config.attention_bias else 0)
                zeta = zeta[h * part : (h + 1) * part]
                if adjacency[i, j]:
                    activated = np.where(zeta > 0, zeta, 0.01 * zeta)
                    logits[j] = activated @ p["head.weight"][:, h] + p["head.bias"][h]
            attention[h, i] = np.exp(logits - logits.max())
            attention[h, i] /= attention[h, i].sum()
            for j in range(n):
                value = linear("value", c[j])
                if config.edge_information:
                    value = value + edges[i, j] @ p["information"]
                selected[i, h] += attention[h, i, j] * value[h * values : (h + 1) * values]
    combined = selected.sum(1) if config.head_combination == "sum" else selected.reshape(n, -1)
    skip = linear("skip", c)
    if config.activation == "sum":
        result = np.maximum(combined + skip, 0)
    else:
        result = combined + np.maximum(skip, 0)
    if config.layer_norm:
        result = (result - result.mean(-1, keepdims=True)) / np.sqrt(
            result.var(-1, keepdims=True) + 1e-5
        )
        result = result * p["norm.scale"] + p["norm.offset"]
    return result, attention


@pytest.mark.parametrize("option", OPTIONS)
def test_processor_computes_the_equations(option):
    config = dataclasses.replace(BASE, **OPTIONS[option])
    batch = tasks.sample("bellman_ford", size=6, count=1, seed=3)
    with jax.enable_x64(True):
        network = networks.build(batch.task, config, key=jax.random.key(0))
        random = np.random.RandomState(0)
        network = networks.with_arrays(
            network,
            {k: random.normal(size=a.shape) for k, a in networks.arrays(network).items()},
        )
        sample = networks.to_device(network, batch).take(0)
        first_hints = {name: hint[0] for name, hint in sample.hints.items()}
        values = network.values(sample.inputs | first_hints)
        encoded = encode(network.encoders, network.features, values, config.width)
        hidden = jax.numpy.asarray(random.normal(size=(6, config.width)))
        processed = network.rounds[0](encoded, hidden)
        weights = {
            name.removeprefix("processor."): np.asarray(array)
            for name, array in networks.arrays(network).items()
        }
        expected, attention = equations(weights, config, encoded, np.asarray(hidden))
    np.testing.assert_allclose(processed.attention, attention, atol=1e-12)
    np.testing.assert_allclose(processed.hidden, expected, atol=1e-11)


def test_rounds_with_shared_weights_repeat_the_processor():
    batch = tasks.sample("bfs", size=5, count=2)
    shared = dataclasses.replace(BASE, rounds=3)
    separate = dataclasses.replace(shared, shared_rounds=False)
    one = networks.build(batch.task, shared, key=jax.random.key(0))
    three = networks.build(batch.task, separate, key=jax.random.key(0))
    copied = {
        name: networks.arrays(one)[".".join(p for p in name.split(".") if not p.isdigit())]
        for name in networks.arrays(three)
    }
    a = networks.run(one, batch)
    b = networks.run(networks.with_arrays(three, copied), batch)
    assert a.attention.shape[2] == 3 * BASE.heads
    np.testing.assert_allclose(a.attention, b.attention, atol=1e-6)
    different = networks.run(three, batch)
    assert np.abs(np.asarray(different.hidden - a.hidden)).max() > 0.01


def test_simple_decoders_do_not_read_edges():
    config = dataclasses.replace(BASE, simple_decoders=True)
    network = networks.build(tasks.get("bfs"), config, key=jax.random.key(0))
    assert "decoders.pi.edge.weight" not in networks.arrays(network)
    recording = networks.run(network, tasks.sample("bfs", size=5, count=2))
    assert recording.outputs["pi"].shape == (2, 5)
