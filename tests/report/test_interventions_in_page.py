"""Interventions by hand in the page lead where they do in Python, in a real browser: states that
are exchanged, heads that are off, readings that are pinned."""

import functools

import jax
import numpy as np
import pytest
from train_briefly import trained

from algoscope import networks, programs, tasks
from algoscope.measures import exchanges
from algoscope.networks import PLAIN, NetworkConfig
from algoscope.networks.processors import gat, gatv2, pgn
from algoscope.programs.compiler import compile_program
from algoscope.report import live
from algoscope.tasks import Batch
from algoscope.tasks.sampling import trace_problems

_CHANGED = """([task, description, A, s, others, change]) => {
  const network = Network.read(description, task.features), n = A.length;
  const problem = (rows, source) => Algorithms.trace(task.name, task.features,
    { n, A: Float64Array.from(rows.flat()), s: source });
  const exchanges = (change.exchanges ?? []).map(({ step, node }) =>
    ({ step, node, donor: Network.run(network, problem(others, s)) }));
  const interventions = Interventions.from({
    off: new Set(change.off ?? []), pins: change.pins ?? [], exchanges });
  const { logits, attention } = Network.run(network, problem(A, s), interventions);
  const told = Object.fromEntries(Object.entries(logits).map(([name, rows]) =>
    [name, Array.isArray(rows) ? rows.map((row) => Array.from(row)) : Array.from(rows)]));
  return { logits: told, attention: attention.map((step) => Array.from(step)) };
}"""
LINE = np.eye(6, k=1) + np.eye(6, k=-1)
"""A line of six nodes: breadth-first search takes five steps."""
SHORT = LINE + np.eye(6, k=3) + np.eye(6, k=-3)
BFS_NETWORKS = {
    "trained": NetworkConfig(width=16, heads=2),
    "pgn": NetworkConfig(width=16, processor="pgn"),
    "compiled": None,
}


def bfs_network(kind: str):
    config = BFS_NETWORKS[kind]
    if config is None:
        return compile_program(programs.get("bfs")).network
    return networks.build("bfs", config, key=jax.random.key(7))


def changed_in_page(page, network, change, task="bfs", line=LINE):
    given = [
        live.task_data(tasks.get(task)),
        live.describe(network, "float32"),
        *(line.tolist(), 0, SHORT.tolist(), change),
    ]
    return page.evaluate(_CHANGED, given)


def on(adjacency, task="bfs") -> Batch:
    return trace_problems(tasks.get(task), 6, [{"A": adjacency, "s": np.array([0])}])


@pytest.mark.parametrize("kind", BFS_NETWORKS)
@pytest.mark.parametrize("node", [1, 3])
def test_an_exchanged_state_leads_where_it_does_in_python(page, kind, node):
    """A node's hidden state and hints before step 3 are those that it has on another graph."""
    network, step = bfs_network(kind), 2
    base, other = on(LINE), on(SHORT)
    starts = [
        networks.state_after(network, networks.run(network, batch), np.array([step - 1]))
        for batch in (base, other)
    ]
    hidden = starts[0].hidden.at[:, node].set(starts[1].hidden[:, node])
    hints = {
        name: value.at[:, node].set(starts[1].hints[name][:, node])
        for name, value in starts[0].hints.items()
    }
    rest = exchanges.cut(base, int(base.lengths[0]) - 1 - step)
    truth = networks.run_from(network, rest, networks.Start(hidden, hints)).logits
    change = {"exchanges": [{"step": step, "node": node}]}
    told = changed_in_page(page, network, change)["logits"]
    unchanged = changed_in_page(page, network, {})["logits"]
    for name in ("reach_h", "pi_h"):
        expected = np.asarray(truth[name][0])
        # Logits of programs are large, and differences of larger numbers.
        tolerance = max(1e-3, 1e-6 * np.abs(expected).max())
        assert np.abs(np.reshape(told[name][step:], expected.shape) - expected).max() < tolerance
        assert told[name][:step] == unchanged[name][:step]
    if kind == "compiled":
        parents = [np.reshape(each["pi_h"], (-1, 6, 6)).argmax(-1) for each in (told, unchanged)]
        assert np.array_equal(*parents) == (node == 1), "node 1 is reached alike in both graphs"


def test_a_head_that_is_off_gives_nothing(page):
    """As if its values were 0."""
    network = bfs_network("trained")
    arrays = {name: np.array(array) for name, array in networks.arrays(network).items()}
    half = arrays["processor.value.weight"].shape[1] // 2
    for name in ("processor.value.weight", "processor.value.bias"):
        arrays[name][..., :half] = 0
    truth = networks.run(networks.with_arrays(network, arrays), on(LINE)).logits
    told = changed_in_page(page, network, {"off": [0]})["logits"]
    for name, rows in truth.items():
        expected = np.asarray(rows[0])
        assert np.abs(np.reshape(told[name], expected.shape) - expected).max() < 1e-3, name
    other = changed_in_page(page, network, {"off": [1]})["logits"]
    assert np.abs(np.array(other["pi"]) - np.array(told["pi"])).max() > 1e-3


@pytest.mark.parametrize("kind", BFS_NETWORKS)
def test_a_pinned_node_reads_one_node_alone(page, kind):
    network = bfs_network(kind)
    told = changed_in_page(page, network, {"pins": [{"receiver": 2, "sender": 5}]})
    for step in told["attention"]:
        rows = np.reshape(step, (-1, 6, 6))
        assert np.allclose(rows[:, 2], np.eye(6)[5])
    unchanged = changed_in_page(page, network, {})
    before, after = (np.array(each["attention"][0]).reshape(-1, 6, 6) for each in (unchanged, told))
    assert np.allclose(np.delete(before, 2, 1), np.delete(after, 2, 1)), "others read as before"
    if kind == "compiled":
        right = changed_in_page(page, network, {"pins": [{"receiver": 2, "sender": 1}]})
        reached = [np.array(each["logits"]["reach_h"]) > 0 for each in (unchanged, right, told)]
        assert np.array_equal(reached[0][1:], reached[1][1:]), "it would read node 1 anyway"
        assert not reached[2][:, 2].any(), "nobody reaches node 5 from which it reads"


PINS = ((2, 5), (4, 0))
STREETS = LINE * np.minimum.outer(np.arange(1, 7), np.arange(1, 7)) / 8
"""A line as well, with lengths."""


@pytest.fixture
def pinned(monkeypatch):
    """Attention and neighbours in Python's equations, with the pins."""

    def softmax_of(own):
        def attention(*given):
            rows = own(*given)
            for receiver, sender in PINS:
                rows = rows.at[:, receiver].set(0).at[:, receiver, sender].set(1)
            return rows

        return attention

    def neighbours_of(own):
        def neighbours(processor, encoded):
            rows = own(processor, encoded)
            for receiver, sender in PINS:
                rows = rows.at[receiver].set(False).at[receiver, sender].set(True)
            return rows

        return neighbours

    for module in (gat, gatv2):
        monkeypatch.setattr(module, "masked_softmax", softmax_of(module.masked_softmax))
    for kind in (pgn.PGN, pgn.MPNN, pgn.DeepSets):
        monkeypatch.setattr(kind, "neighbours", neighbours_of(kind.neighbours))


@pytest.mark.parametrize("subject", [*sorted(networks.PROCESSORS), "compiled"])
def test_pinned_readings_lead_where_they_do_in_python(page, pinned, subject):
    if subject == "compiled":
        network, task = compile_program(programs.get("bellman_ford")).network, "bellman_ford"
    else:
        network, task = trained(subject)
    batch = on(STREETS, task)
    arrays = networks.to_device(network, batch)
    run = jax.jit(functools.partial(networks.trajectories, path=PLAIN))(network, arrays)
    pins = [{"receiver": receiver, "sender": sender} for receiver, sender in PINS]
    told = changed_in_page(page, network, {"pins": pins}, task, STREETS)["logits"]
    unchanged = changed_in_page(page, network, {}, task, STREETS)["logits"]
    for name, rows in (run.hints | run.outputs).items():
        expected = np.asarray(rows[0])
        tolerance = max(1e-3, 1e-6 * np.abs(expected).max())
        assert np.abs(np.reshape(told[name], expected.shape) - expected).max() < tolerance, name
    moved = np.abs(np.array(told["pi"]) - np.array(unchanged["pi"]))
    assert moved.max() > 0.01, "pins change what is said"
