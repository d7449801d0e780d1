"""Networks and algorithms in a page and in Python, on the same graphs: used by tests and by
`benchmarks/studio.py`."""

import base64
import dataclasses
import pathlib
from typing import NamedTuple

import jax
import numpy as np

from algoscope import networks, tasks
from algoscope.report import explorer, html, live
from algoscope.report.findings import Shown
from algoscope.tasks import Batch, Stage
from algoscope.tasks.sampling import trace_problems

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


_BOX = '<div class="explorer" data-from="explored" role="group" aria-label="explorer"></div>'


def write(path: pathlib.Path) -> None:
    """A page with the scripts of a report, and nothing else."""
    path.write_text(html.page("networks", [], scripts=live.SCRIPTS))


def explored(task: str, subjects, control: str | None = None, nodes: int = 6) -> dict:
    """The explorer's data of subjects on two problems."""
    batch = tasks.sample(task, nodes, 2, seed=5)
    recordings = {
        name: dataclasses.replace(networks.run(subject, batch), logits={}).take(np.arange(2))
        for name, subject in subjects.items()
    }
    shown = Shown(["a problem", "another"], batch, recordings)
    words = {name: "undecided" for name in subjects if name != control}
    own = live.data(shown, subjects, words, control)
    return explorer.data(shown, words) | {"live": own}


def write_studio(path: pathlib.Path, data: dict) -> None:
    """A page with the explorer alone."""
    content = html.page(
        "studio",
        [html.Section("s", "s", _BOX)],
        styles=("page.css", "studio.css"),
        scripts=("page.js", *explorer.SCRIPTS),
        data={"explored": data},
    )
    path.write_text(content)


class Told(NamedTuple):
    batch: Batch
    """The page's graphs, traced in Python."""
    values: list[dict[str, np.ndarray]]
    """What the page told of each, by feature; of a hint [step, …]."""


def told_by(page, task, families, nodes, count, network=None, precision="float32") -> Told:
    """What the page's algorithm tells of its graphs, or the logits of a network."""
    task = tasks.get(task)
    description = None if network is None else live.describe(network, precision)
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


def differences(network, told: Told) -> dict[str, float]:
    """Between the logits in the page and those of `networks.run`: the largest of each feature."""
    logits, largest = jax.device_get(networks.run(network, told.batch).logits), {}
    for sample, named in enumerate(told.values):
        for name, truth in logits_in_python(network, told.batch, sample, logits).items():
            largest[name] = max(largest.get(name, 0), float(np.abs(named[name] - truth).max()))
    return largest


def in_float64(tree):
    """Networks and batches, for use where JAX has float64."""
    return jax.tree.map(
        lambda array: (
            np.asarray(array, np.float64)
            if np.issubdtype(np.asarray(array).dtype, np.floating)
            else array
        ),
        tree,
    )


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
