"""Networks and algorithms in the page give what they give in Python, in a real browser."""

import base64
from collections import Counter

import jax
import numpy as np
import pytest
from in_page import Told, differences, in_float64, logits_in_python, told_by
from pages import ROOT
from train_briefly import trained

from algoscope import networks, programs, tasks
from algoscope.networks import NetworkConfig
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.report import live
from algoscope.tasks import Kind, Stage

TASKS = [name for name in tasks.names(variants=True) if live.runs_in_page(tasks.get(name))]
TIES = "with ties"
HOSTILE = "<img src=x onerror=window.owned=1>"
_WEIGHTED = ("bellman_ford", "dijkstra", "mst_prim")
_SORTING = ("dijkstra", "mst_prim", "mst_kruskal")


def test_the_page_has_the_algorithms_that_python_says(page):
    assert sorted(page.evaluate("Algorithms.tasks")) == sorted(TASKS)
    assert len(TASKS) == 14


@pytest.mark.parametrize("task", TASKS)
def test_traces_are_those_of_the_reference_algorithms(page, families, task):
    """Every entry of every step, but for the order of equal keys, which is numpy's on this
    processor."""
    drawn = [f for f in families if f != TIES or task not in _SORTING]
    batch, values = told_by(page, task, drawn, 7, 20)
    for sample, named in enumerate(values):
        length = int(batch.lengths[sample])
        for feature in batch.task.features:
            if feature.stage is Stage.INPUT:
                continue
            truth = np.asarray(batch.values(feature.stage)[feature.name][sample])
            truth = truth[:length] if feature.stage is Stage.HINT else truth
            truth = truth.argmax(-1) if feature.one_hot else truth
            shown = named[feature.name].reshape(truth.shape)
            assert np.array_equal(shown, truth.astype(np.float32)), feature.name


@pytest.mark.parametrize("lonely", [1, 3])
def test_a_lonely_node_does_not_push_the_others_into_a_corner(page, lonely):
    """A line is drawn nearly as long as it is alone, and no node on another."""
    draw = "A => Layout.places(A.length, Float64Array.from(A.flat()))"
    line = np.eye(12, k=1)
    alone = np.array(page.evaluate(draw, line.tolist()))
    found = np.array(page.evaluate(draw, np.pad(line, (0, lonely)).tolist()))
    steps = [np.linalg.norm(np.diff(at[:12], axis=0), axis=-1).mean() for at in (alone, found)]
    assert steps[1] > 0.8 * steps[0]
    apart = np.linalg.norm(found[:, None] - found[None], axis=-1) + np.eye(len(found))
    assert apart.min() > 0.05
    assert -1e-9 <= found.min() <= found.max() <= 1 + 1e-9


@pytest.mark.parametrize("task", ["dijkstra", "dag_shortest_paths", "dfs"])
def test_a_graph_as_text_is_the_same_graph(page, task):
    """Who is sent the text sees what the sender saw: to the last bit of each weight."""
    other = page.evaluate(
        """kind => Families.names.flatMap((family, seed) => {
          const graph = Families.draw(family, kind, 9, Families.generator(seed));
          const read = Graph.parse(Graph.text(graph, kind), kind);
          return read.s === graph.s ? [...graph.A].filter((value, pair) => value !== read.A[pair])
            : [family];
        })""",
        live.task_data(tasks.get(task))["graphs"],
    )
    assert other == []


NETWORKS = [
    *(
        ("bfs", NetworkConfig(processor=name, width=16), 200)
        for name in sorted(networks.PROCESSORS)
    ),
    ("bfs", NetworkConfig(processor="pgn", width=16, gated=True, rounds=2), 20),
    (
        "dfs",
        NetworkConfig(
            width=16,
            heads=4,
            rounds=2,
            shared_rounds=False,
            activation="skip",
            edge_information=True,
            head_combination="sum",
            hint_repred_mode="hard",
            edge_views=True,
        ),
        4,
    ),
    (
        "bridges",
        NetworkConfig(
            width=16, memory=False, simple_decoders=True, layer_norm=False, attention_bias=6
        ),
        4,
    ),
    ("floyd_warshall", NetworkConfig(processor="triplet_gmpnn", width=16), 4),
    (
        "mst_prim",
        NetworkConfig(processor="gat", width=16, heads=2, encode_hints=False, decode_hints=False),
        20,
    ),
]


@pytest.mark.parametrize(
    ("task", "config", "count"), NETWORKS, ids=[f"{t}-{c.processor}" for t, c, _ in NETWORKS]
)
def test_logits_are_those_of_networks_run(page, families, task, config, count):
    network = networks.build(task, config, key=jax.random.key(3))
    told = told_by(page, task, families, 6, count, network)
    assert max(differences(network, told).values()) < 1e-3


def gallery(task: str) -> networks.Network:
    return networks.load(ROOT / "docs" / "gallery" / "networks" / f"{task}.safetensors")[0]


@pytest.mark.parametrize("processor", sorted(networks.PROCESSORS))
def test_logits_of_every_processor_are_those_of_networks_run_once_trained(
    page, families, processor
):
    network, task = trained(processor)
    told = told_by(page, task, families, 6, 200, network)
    assert max(differences(network, told).values()) < 1e-3


@pytest.mark.parametrize(("task", "nodes"), [("bfs", 8), ("dijkstra", 6), ("dfs", 4)])
def test_logits_of_the_gallery_are_those_of_networks_run(page, families, task, nodes):
    told = told_by(page, task, families, nodes, 200, gallery(task))
    assert max(differences(gallery(task), told).values()) < 1e-3


def test_what_float32_loses_over_many_steps_the_page_does_not(page, families):
    """At 16 nodes DFS takes up to 47 steps, each of which reads what was said before: rounding
    grows, in Python alone. The page has float64, and the logits that Python has in float64."""
    network = gallery("dfs")
    told = told_by(page, "dfs", families, 16, 1, network)
    assert told.batch.lengths.max() > 40
    rounded = max(differences(network, told).values())
    with jax.enable_x64(True):
        double = Told(in_float64(told.batch), told.values)
        exact = max(differences(in_float64(network), double).values())
    assert exact < 1e-5, "what is left is that the test packs the page's numbers as float32"
    assert exact < rounded / 10


@pytest.mark.parametrize(
    ("task", "nodes", "count"),
    [("bfs", 8, 200), ("bellman_ford", 8, 200), ("dijkstra", 6, 200), ("mst_prim", 6, 200),
     ("dfs", 4, 200), ("bridges", 4, 200)],
)  # fmt: skip
def test_compiled_programs_decide_the_same(page, families, task, nodes, count):
    """On every graph, but equal lengths: programs that compare lengths have no rule for them, and
    what they read there depends on rounding."""
    compiled = compile_program(programs.of_task(task, Role.REFERENCE)[0])
    network = compiled.network
    batch, values = told_by(page, task, families, nodes, count, network)
    compared = np.ones(len(batch), bool)
    if task in _WEIGHTED:
        compared = compiled.certified(batch)
        for family, graphs in zip(families, np.split(compared, len(families)), strict=True):
            assert graphs.all() or family == TIES
    logits = jax.device_get(networks.run(network, batch).logits)
    kinds = {f.name: f.kind for f in network.features}
    for sample in np.flatnonzero(compared).tolist():
        for name, truth in logits_in_python(network, batch, sample, logits).items():
            shown = values[sample][name]
            if kinds[name] is Kind.SCALAR:
                assert np.abs(shown - truth).max() < 1e-4, name
            elif kinds[name] is Kind.MASK:
                assert np.array_equal(shown > 0, truth > 0), name
            else:
                assert np.array_equal(shown.argmax(-1), truth.argmax(-1)), name


def test_half_precision_is_read_as_numpy_writes_it(page):
    values = np.array([0, -0.0, 1, -1.5, 6e-8, 2**-14, 65504, 1 / 3], np.float16)
    array = {"shape": [len(values)], "values": base64.b64encode(values.tobytes()).decode()}
    read = page.evaluate(
        "array => Array.from(Weights.read({ arrays: { a: array }, precision: 'float16' }, "
        "new Map([['a', array.shape]])).a)",
        array,
    )
    assert read == values.astype(float).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("d.arrays['encoders.pos.weight'].shape = [3, 16]",
         "encoders.pos.weight: got [3, 16], needed [1, 16]"),
        ("d.arrays['encoders.pos.weight'].shape = 3", "pos.weight: got nothing, needed [1, 16]"),
        ("d.arrays['encoders.pos.weight'].values = '%%%'", "pos.weight: got values that are not"),
        ("d.arrays['encoders.pos.weight'].values = ''", "pos.weight: got 0 values, needed 16"),
        ("d.arrays.constructor = d.arrays['encoders.pos.bias']", "constructor: got [16], needed n"),
        ("d.arrays['encoders.pos.bias'] = null", "encoders.pos.bias: got nothing, needed [16]"),
        ("delete d.arrays", "encoders.pos.weight: got nothing, needed [1, 16]"),
        ("d.precision = 'int3'", "precision: got int3"),
        ("d.config.processor = '<b>transformer</b>'", "processor: got <b>transformer</b>"),
        ("d.config.processor = 'constructor'", "processor: got constructor"),
        ("d.config.rounds = 1e9", "rounds: got 1000000000"),
        ("d.config.width = 8", "encoders.pos.weight: got [1, 16], needed [1, 8]"),
        ("delete d.config", "processor: got undefined, needed one of"),
        ("d.arrays['encoders.pos.bias'].values = btoa('\\0\\0\\xc0\\x7f'.repeat(16)); "
         "delete d.arrays['encoders.pos.bias'].places", "not finite"),
    ],
)  # fmt: skip
def test_damaged_weights_are_refused_in_a_sentence(page, change, message):
    network = networks.build("bfs", NetworkConfig(width=16), key=jax.random.key(0))
    data = [live.describe(network, "float32"), live.task_data(tasks.get("bfs"))["features"]]
    said = page.evaluate(
        f"([d, features]) => {{ {change}; try {{ Network.read(d, features); }} "
        "catch (error) { return error.message; } return 'read'; }",
        data,
    )
    assert message in said


_AFTER_EACH = """([description, task, changes]) => changes.map(([path, value]) => {
  const changed = structuredClone(description), last = path.at(-1);
  const place = path.slice(0, -1).reduce((part, key) => part[key], changed);
  if (value === "gone") delete place[last];
  else place[last] = value;
  const graph = Families.draw("line", task.graphs, 5, Families.generator(0));
  const problem = Algorithms.trace(task.name, task.features, graph);
  try {
    Network.run(Network.read(changed, task.features), problem);
  } catch (error) {
    return [error.constructor.name, error.message];
  }
  return ["", ""];
})"""


def places(tree, before=()):
    """The paths to everything in a description."""
    for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield [*before, key]
        if isinstance(part, dict | list | tuple):
            yield from places(part, (*before, key))


def test_whatever_is_changed_in_a_description_is_run_or_refused_in_a_sentence(page):
    network = networks.build("bfs", NetworkConfig(width=8), key=jax.random.key(0))
    described, task = live.describe(network, "float32"), live.task_data(tasks.get("bfs"))
    values = (
        None,
        -1,
        0,
        2,
        1e9,
        0.5,
        True,
        "",
        "%",
        "AAAA",
        HOSTILE,
        "__proto__",
        [],
        [[]],
        {},
        "gone",
    )
    changes = [[path, value] for path in places(described) for value in values]
    assert len(changes) > 2000
    told = page.evaluate(_AFTER_EACH, [described, task, changes])
    kinds = Counter(kind for kind, _ in told)
    assert kinds[""] > 100
    assert kinds["WeightsError"] > 1000
    for change, (kind, message) in zip(changes, told, strict=True):
        assert kind in ("", "WeightsError", "Unsupported"), (change, kind, message)
        assert not kind or ("got" in message or "needs" in message), (change, message)


_WITHOUT_EACH = """([description, features]) => Object.keys(description.arrays).filter((name) => {
  const { [name]: _, ...arrays } = description.arrays;
  try {
    Network.read({ ...description, arrays }, features);
  } catch (error) {
    return !error.message.startsWith(`${name}: got nothing, needed [`);
  }
  return true;
})"""


@pytest.mark.parametrize(
    ("task", "config"),
    [n[:2] for n in NETWORKS],
    ids=[f"{t}-{c.processor}" for t, c, _ in NETWORKS],
)
def test_a_network_without_one_of_its_parts_is_refused(page, task, config):
    """Whichever array is left out: a part that is found missing in a run would stop the page."""
    network = networks.build(task, config, key=jax.random.key(0))
    data = [live.describe(network, "float32"), live.task_data(tasks.get(task))["features"]]
    assert page.evaluate(_WITHOUT_EACH, data) == []


def test_networks_in_half_precision_are_the_rounded_ones(page, families):
    """What the page shows of weights in float16 is what Python computes with the same weights."""
    network = networks.build("bfs", NetworkConfig(width=16), key=jax.random.key(3))
    rounded = {
        name: np.asarray(array).astype(np.float16).astype(np.float32)
        for name, array in networks.arrays(network).items()
    }
    rounded = networks.with_arrays(network, rounded)
    told = told_by(page, "bfs", families, 6, 200, network, "float16")
    assert max(differences(rounded, told).values()) < 1e-3
