"""Networks and algorithms in the page give what they give in Python, in a real browser."""

import base64
from typing import NamedTuple

import jax
import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.networks import NetworkConfig
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.report import html, live
from algoscope.tasks import Batch, Kind, Stage
from algoscope.tasks.sampling import trace_problems

TASKS = [name for name in tasks.names(variants=True) if live.runs_in_page(tasks.get(name))]
TIES = "with ties"
_WEIGHTED = ("bellman_ford", "dijkstra", "mst_prim")
_SORTING = ("dijkstra", "mst_prim", "mst_kruskal")
_RUN = """([task, description, families, n, count]) => {
  const network = description && Network.read(description, task.features);
  const octets = [], pack = (values) => octets.push(Float32Array.from(values));
  const graphs = [], steps = [];
  for (const family of families) {
    for (let seed = 0; seed < count; seed++) {
      const graph = Families.draw(family, task.graphs, n, Families.generator(seed));
      const problem = Algorithms.trace(task.name, task.features, graph);
      graphs.push([Array.from(graph.A), graph.s]);
      steps.push(Object.values(problem.hints)[0].length);
      const told = network ? Network.run(network, problem).logits
        : { ...problem.hints, ...problem.outputs };
      for (const { name, stage } of task.features) {
        if (stage === "hint" && told[name]) told[name].forEach(pack);
        if (stage === "output") pack(told[name]);
      }
    }
  }
  const all = new Float32Array(octets.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of octets) all.set(part, at), at += part.length;
  let text = "";
  const bytes = new Uint8Array(all.buffer);
  for (let k = 0; k < bytes.length; k += 8192) {
    text += String.fromCharCode(...bytes.subarray(k, k + 8192));
  }
  return { graphs, steps, values: btoa(text) };
}"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A page with the scripts of a report, and nothing else."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(html.page("networks", [], scripts=live.SCRIPTS))
    context = browser.new_context(offline=True)
    shown = context.new_page()
    shown.goto(path.as_uri())
    yield shown
    context.close()


@pytest.fixture(scope="module")
def families(page) -> list[str]:
    return page.evaluate("Families.names")


class Told(NamedTuple):
    batch: Batch
    """The page's graphs, traced in Python."""
    values: list[dict[str, np.ndarray]]
    """What the page told of each, by feature; of a hint [step, …]."""


def told_by(page, task, families, nodes, count, network=None) -> Told:
    """What the page's algorithm tells of its graphs, or the logits of a network."""
    task = tasks.get(task)
    description = None if network is None else live.describe(network, "float32")
    answer = page.evaluate(_RUN, [live.task_data(task), description, families, nodes, count])
    problems = [
        {"A": np.reshape(A, (nodes, nodes))} | ({"s": np.array([s])} if "s" in task.problem else {})
        for A, s in answer["graphs"]
    ]
    batch = trace_problems(task, nodes, problems)
    assert batch.lengths.tolist() == answer["steps"]
    numbers = Parts(np.frombuffer(base64.b64decode(answer["values"]), "<f4"))
    values = []
    for length in batch.lengths:
        steps = int(length) if network is None else max(1, int(length) - 1)
        named = {}
        for feature in task.features:
            if feature.stage is Stage.INPUT or (
                network is not None and feature.name not in network.decoders
            ):
                continue
            shape = (
                feature.register_shape(nodes) if network is None else logit_shape(feature, nodes)
            )
            if feature.stage is Stage.HINT:
                shape = (steps, *shape)
            named[feature.name] = numbers(shape)
        values.append(named)
    assert not numbers.left()
    return Told(batch, values)


def logit_shape(feature, nodes) -> tuple[int, ...]:
    if feature.is_pointer:
        return (*feature.dense_shape(nodes), nodes)
    return feature.dense_shape(nodes)


class Parts:
    """Takes arrays of a shape off the front of a flat one."""

    def __init__(self, flat: np.ndarray):
        self.flat, self.at = flat, 0

    def __call__(self, shape: tuple[int, ...]) -> np.ndarray:
        size = int(np.prod(shape))
        self.at += size
        return self.flat[self.at - size : self.at].reshape(shape)

    def left(self) -> int:
        return len(self.flat) - self.at


def logits_in_python(network, batch: Batch, sample: int, logits) -> dict[str, np.ndarray]:
    steps = max(1, int(batch.lengths[sample]) - 1)
    hints = {f.name for f in network.at(Stage.HINT)}
    return {n: v[sample][:steps] if n in hints else v[sample] for n, v in logits.items()}


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
    batch, values = told_by(page, task, families, 6, count, network)
    logits = jax.device_get(networks.run(network, batch).logits)
    for sample, named in enumerate(values):
        for name, truth in logits_in_python(network, batch, sample, logits).items():
            assert np.abs(named[name] - truth).max() < 1e-3, name


@pytest.mark.parametrize(
    ("task", "nodes", "count"),
    [("bfs", 8, 200), ("bellman_ford", 8, 200), ("dijkstra", 6, 200), ("mst_prim", 6, 200),
     ("dfs", 4, 200), ("bridges", 5, 10)],
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
        "array => Array.from(Weights.read({ arrays: { a: array }, precision: 'float16' }).a)", array
    )
    assert read == values.astype(float).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("d.arrays['encoders.pos.weight'].shape = [3, 16]", "encoders.pos.weight: got"),
        ("d.precision = 'int3'", "precision: got int3"),
        ("d.config.processor = '<b>transformer</b>'", "processor: got <b>transformer</b>"),
        ("d.config.processor = 'constructor'", "processor: got constructor"),
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
