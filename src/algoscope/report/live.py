"""Networks in the page: what it needs to run them on a graph that a reader draws.

`static/network.js` has the forward pass, `static/algorithms.js` the reference algorithms of the
tasks whose problems are a graph and perhaps a source. Weights are inlined as float16 where that
changes no prediction on the problems that the page shows, else as float32, which a compiled program
needs; arrays that are mostly zero, as those of a program, as places and values.
"""

import base64
import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from algoscope import networks, programs, tasks
from algoscope.falsify.families import domain
from algoscope.networks import Network
from algoscope.programs.compiler import compile_program
from algoscope.recording import Recording
from algoscope.report.findings import Program
from algoscope.tasks import Batch, Task
from algoscope.tasks.needs import acyclic

SCRIPTS = (
    "layers.js",
    "weights.js",
    "interventions.js",
    "processors.js",
    "decoders.js",
    "network.js",
    "depth_first.js",
    "algorithms.js",
    "layout.js",
    "families.js",
)
"""Each needs those before it."""
LARGEST = 4_000_000
"""Characters of weights in one page, all networks together."""
_SPARSE = 0.25
_CONFIG = (
    "processor", "width", "heads", "rounds", "shared_rounds", "encode_hints", "decode_hints",
    "hint_repred_mode", "memory", "head_combination", "activation", "attention_mask",
    "attention_bias",
)  # fmt: skip
"""The options that the weights do not show by their presence and shapes, and the size of B."""


class Missing(NamedTuple):
    """Stands for a network that the page cannot run."""

    reason: str


def runs_in_page(task: Task) -> bool:
    """Whether the page has the task's algorithm: those of CLRS-30 whose problems are graphs."""
    return task.name in tasks.names(variants=True) and {"A"} <= set(task.problem) <= {"A", "s"}


def task_data(task: Task) -> dict[str, Any]:
    """What the page needs to know of a task: its features, and the graphs that it reads."""
    kind = domain(task)
    return {
        "name": task.name,
        "features": [
            {
                "name": f.name,
                "stage": f.stage,
                "location": f.location,
                "kind": f.kind,
                "classes": f.classes,
            }
            for f in task.features
        ],
        "graphs": {
            "directed": kind.directed,
            "acyclic": acyclic in task.needs,
            "weighted": kind.weighted,
            "source": "s" in task.problem,
            "smallest": task.smallest,
            "least": kind.least,
            "most": kind.most,
        },
    }


def control(program: Program) -> Network | Missing:
    """The compiled program of the findings, if the library still has it."""
    try:
        known = programs.get(program.name)
    except ValueError as error:
        return Missing(str(error))
    if known.text != program.text:
        return Missing(f"the library's {program.name} is no longer the program that was measured")
    return compile_program(known).network


def network_data(
    subjects: Mapping[str, Network | Missing],
    batch: Batch,
    recordings: Mapping[str, Recording],
    room: int = LARGEST,
) -> dict[str, dict[str, Any]]:
    """By name either a `network` or the `reason` why there is none, as many as there is room for;
    `recordings` say what each predicts on the batch."""
    described = {}
    for name, subject in subjects.items():
        reason = _obstacle(subject, batch.task)
        if reason is None and isinstance(subject, Network):
            content = describe(subject, _precision(subject, batch, recordings[name]))
            size = sum(len(text) for a in content["arrays"].values() for text in _texts(a))
            if size <= room:
                room -= size
                described[name] = {"network": content}
                continue
            reason = f"weights of {size:,} characters, for which the page has no room left"
        described[name] = {"reason": reason}
    return described


def _obstacle(subject: Network | Missing, task: Task) -> str | None:
    if isinstance(subject, Missing):
        return subject.reason
    if not runs_in_page(task):
        return f"the page draws no problems of {task.name}"
    if subject.features != task.features:
        return f"the network reads {task.name} in a form that the page does not draw"
    return None


def _precision(network: Network, batch: Batch, recording: Recording) -> str:
    """The smaller one if the predictions stay as recorded."""
    with np.errstate(over="ignore"):
        rounded = {
            name: np.asarray(array).astype(np.float16).astype(np.float32)
            for name, array in networks.arrays(network).items()
        }
    if not all(np.isfinite(array).all() for array in rounded.values()):
        return "float32"
    again = networks.run(networks.with_arrays(network, rounded), batch)
    # Numbers are no decisions: they are compared by what is decided from them.
    decided = [f for f in network.features if f.name in again.logits and f.kind != "scalar"]
    valid = again.valid
    same = all(
        np.array_equal(before[valid], after[valid])
        if f.name in recording.hints
        else np.array_equal(before, after)
        for f in decided
        for before, after in [_pair(f.name, recording, again)]
    )
    return "float16" if same else "float32"


def _pair(name: str, *recordings: Recording) -> list[np.ndarray]:
    return [np.asarray((r.hints | r.outputs)[name]) for r in recordings]


def describe(network: Network, precision: str) -> dict[str, Any]:
    """The network for `static/network.js`; the precision is float16 or float32."""
    config = dataclasses.asdict(network.config)
    return {
        "config": {name: config[name] for name in _CONFIG},
        "precision": precision,
        "arrays": {
            name: _array_data(np.asarray(array), precision)
            for name, array in networks.arrays(network).items()
        },
    }


def _array_data(array: np.ndarray, precision: str) -> dict[str, Any]:
    places = np.flatnonzero(array)
    if len(places) > _SPARSE * array.size:
        return {"shape": array.shape, "values": _base64(array, precision)}
    return {
        "shape": array.shape,
        "values": _base64(array.ravel()[places], precision),
        "places": _base64(places, "uint32"),
    }


def _base64(array: np.ndarray, dtype: str) -> str:
    little = array.astype(np.dtype(dtype).newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode()


def _texts(array: Mapping[str, Any]) -> list[str]:
    return [array["values"], array.get("places", "")]
