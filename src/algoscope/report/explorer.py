"""The explorer's data: what everybody did on a few problems, small enough to lie in the page.

Attention is rounded to 255ths and packed; variables are rounded to three digits. Whether one is
wrong is decided here, by the margins of external faithfulness, and not in the page.
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from algoscope.measures.trace_match import MARGINS
from algoscope.recording import Recording
from algoscope.report.findings import Shown
from algoscope.report.graph_layout import places
from algoscope.report.live import SCRIPTS as LIVE_SCRIPTS
from algoscope.report.live import runs_in_page
from algoscope.tasks import Batch, Feature, Kind, Location, Stage

LEVELS = 255
SCRIPTS = (*LIVE_SCRIPTS, "side.js", "variables.js", "explorer.js")
"""Each needs those before it."""


def data(shown: Shown, words: Mapping[str, str]) -> dict[str, Any]:
    """For the page; `words` are the verdicts of those that are no compiled program."""
    batch = shown.batch
    said_by_all = set.intersection(*(set(r.hints) for r in shown.recordings.values()))
    # Variables of pairs of nodes are too many to look at.
    features = [
        feature
        for feature in batch.at(Stage.HINT)
        if feature.name in said_by_all and feature.location is not Location.EDGE
    ]
    return {
        "levels": LEVELS,
        "variables": [
            {"name": f.name, "kind": f.kind, "where": f.location, "classes": f.classes}
            for f in features
        ],
        "samples": [_sample(batch, k, title, features) for k, title in enumerate(shown.titles)],
        "subjects": [
            {
                "name": name,
                "compiled": name not in words,
                "verdict": words.get(name),
                "heads": int(recording.attention.shape[2]),
                "runs": [_run(batch, recording, k, features) for k in range(len(batch))],
            }
            for name, recording in shown.recordings.items()
        ],
    }


def _steps(batch: Batch, sample: int) -> int:
    return max(1, int(batch.lengths[sample]) - 1)


def _truth(batch: Batch, sample: int, feature: Feature) -> np.ndarray:
    """What a trace of a single step begins with is also what it ends with."""
    first = min(1, int(batch.lengths[sample]) - 1)
    return np.asarray(batch.hints[feature.name])[sample, first : first + _steps(batch, sample)]


def _sample(batch: Batch, sample: int, title: str, features: list[Feature]) -> dict[str, Any]:
    nodes, steps, joined = batch.nodes, _steps(batch, sample), _graph(batch, sample)
    return {
        "title": f"{title}: {nodes} nodes, {steps} step{'s' if steps > 1 else ''}",
        "nodes": nodes,
        "steps": steps,
        "edges": np.argwhere(np.triu(joined, 1)).tolist(),
        "places": np.round(places(joined), 3).tolist(),
        "graph": _problem(batch, sample) if runs_in_page(batch.task) else None,
        "inputs": inputs(batch, sample),
        "truth": {f.name: _values(f, _truth(batch, sample, f)) for f in features},
    }


def inputs(batch: Batch, sample: int) -> dict[str, list]:
    """What every node is given, such as the keys that are sorted; positions tell nothing more."""
    return {
        f.name: _values(f, np.asarray(batch.inputs[f.name])[None, sample])[0]
        for f in batch.at(Stage.INPUT)
        if f.location is Location.NODE and f.name != "pos"
    }


def _problem(batch: Batch, sample: int) -> dict[str, Any]:
    """The graph as the page's algorithms read it."""
    source = int(np.argmax(batch.inputs["s"][sample])) if "s" in batch.inputs else 0
    return {"A": np.asarray(batch.inputs["A"][sample]).ravel().tolist(), "s": source}


def _graph(batch: Batch, sample: int) -> np.ndarray:
    """Which nodes are joined; nobody, for a task that has no graph."""
    nodes = batch.nodes
    adjacency = batch.inputs.get("adj", batch.inputs.get("A"))
    if adjacency is None or np.shape(adjacency)[1:] != (nodes, nodes):
        return np.zeros((nodes, nodes), bool)
    joined = np.asarray(adjacency[sample]) != 0
    return joined | joined.T


def _run(
    batch: Batch, recording: Recording, sample: int, features: list[Feature]
) -> dict[str, Any]:
    steps = _steps(batch, sample)
    attention = np.asarray(recording.attention)[sample, :steps]
    octets = np.rint(np.clip(attention, 0, 1) * LEVELS).astype(np.uint8).tobytes()
    said, wrong = {}, {}
    for feature in features:
        predicted = np.asarray(recording.hints[feature.name])[sample, :steps]
        truth = _truth(batch, sample, feature)
        # A trace of one step has nothing that could be predicted.
        compared = predicted if batch.lengths[sample] > 1 else truth
        wrong[feature.name] = _wrong(feature, compared, truth)
        said[feature.name] = _values(feature, predicted)
    return {"attention": base64.b64encode(octets).decode(), "said": said, "wrong": wrong}


def _values(feature: Feature, values: np.ndarray) -> list:
    """[step, node] or [step, 1]; of a one-hot choice of a node, 1 at the node."""
    if feature.kind is Kind.MASK_ONE:
        return np.eye(values.shape[-1], dtype=int)[values.argmax(-1)].tolist()
    if feature.one_hot:
        values = values.argmax(-1)
    values = values.reshape(len(values), -1)
    if feature.kind is Kind.SCALAR:
        return [[float(f"{value:.3g}") for value in row] for row in values.tolist()]
    return np.rint(values).astype(int).tolist()


def _wrong(feature: Feature, predicted: np.ndarray, truth: np.ndarray) -> list:
    """1 where what was said is off by more than the margin, in the form of `_values`."""
    if feature.kind in MARGINS:
        apart = np.abs(predicted.astype(float) - truth) > MARGINS[feature.kind]
        apart = apart.reshape(len(apart), -1)
    else:
        apart = np.array(_values(feature, predicted)) != np.array(_values(feature, truth))
    return apart.astype(int).tolist()
