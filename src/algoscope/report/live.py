"""Networks in the page: what it needs to run them on a graph that a reader draws.

`static/network.js` has the forward pass, `static/algorithms.js` the reference algorithms of the
tasks whose problems are a graph and perhaps a source. Weights are inlined as float16 where that was
seen to change no decision (`rounding`), else as float32, which a compiled program needs; arrays
that are mostly zero, as those of a program, as places and values.
"""

import base64
import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from algoscope import networks, programs, tasks
from algoscope.falsify import Subject
from algoscope.falsify.disagreement import LARGEST_TOLERANCE
from algoscope.falsify.families import domain
from algoscope.networks import Network
from algoscope.programs.compiler import compile_program
from algoscope.report.findings import Program, Shown
from algoscope.tasks import Task
from algoscope.tasks.needs import acyclic

SCRIPTS = (
    "dom.js",
    "layers.js",
    "shapes.js",
    "weights.js",
    "interventions.js",
    "processors.js",
    "decoders.js",
    "network.js",
    "depth_first.js",
    "algorithms.js",
    "layout.js",
    "families.js",
    "graph.js",
    "accounts.js",
    "search.js",
    "slices.js",
    "editor.js",
    "by_hand.js",
    "studio.js",
)
"""Each needs those before it."""
LARGEST = 8_000_000
"""Characters of weights in one page, all networks together."""
_SPARSE = 0.25
_CONFIG = (
    "processor", "width", "heads", "layer_norm", "rounds", "shared_rounds", "encode_hints",
    "decode_hints", "hint_repred_mode", "memory", "gated", "triplet_width", "attention_width",
    "head_combination", "activation", "edge_information", "edge_views", "attention_bias",
    "attention_mask", "simple_decoders",
)  # fmt: skip
"""The options that say what a run computes, and which weights it takes."""


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


def compiled(program: Program) -> Network | Missing:
    """The program of the findings, compiled, if the library still has it."""
    try:
        known = programs.get(program.name)
    except ValueError as error:
        return Missing(str(error))
    if known.text != program.text:
        return Missing(f"the library's {program.name} is no longer the program that was measured")
    return compile_program(known).network


def data(
    shown: Shown,
    subjects: Mapping[str, Subject | Missing],
    words: Mapping[str, str],
    control: str | None,
    rounded: Collection[str] = (),
    room: int = LARGEST,
) -> dict[str, Any]:
    """What the explorer needs to run the subjects: all by name, with a `network` or the `reason`
    why there is none, those that are shown first; or the `reason` alone, for a task that the page
    cannot run. `control` is the name of the compiled program, `words` are verdicts, and `rounded`
    the names of networks whose weights are in float16."""
    task = shown.batch.task
    if not runs_in_page(task):
        return {"reason": f"the page has no algorithm for {task.name}"}
    order = [*shown.recordings, *(name for name in subjects if name not in shown.recordings)]
    described = {}
    for name in order:
        subject = subjects.get(name, Missing("its weights are not there"))
        reason = _obstacle(subject, task)
        if reason is None and isinstance(subject, Network):
            content = describe(subject, "float16" if name in rounded else "float32")
            size = characters(content)
            if size <= room:
                room -= size
                described[name] = {"network": content}
                continue
            reason = f"it has {size:,} characters of weights, for which the page has no room left"
        described[name] = {"reason": reason}
    return {
        "task": task_data(task),
        "tolerance": LARGEST_TOLERANCE,
        "compiled": control,
        "verdicts": dict(words),
        "networks": described,
    }


def account(content: Mapping[str, Any]) -> str:
    """What of `data` is in the page, in sentences; not escaped."""
    if "reason" in content:
        return f"Own graphs cannot be drawn here: {content['reason']}. What is shown was recorded."
    inlined = {n: c["network"] for n, c in content["networks"].items() if "network" in c}
    left_out = {n: c["reason"] for n, c in content["networks"].items() if "reason" in c}
    size = sum(characters(network) for network in inlined.values())
    halves = sum(network["precision"] == "float16" for network in inlined.values())
    rounded = (
        f"{halves} in float16, with which all decisions on fresh problems of every family were the "
        "same, the others "
    )
    text = (
        f"{len(inlined)} network{'s' if len(inlined) != 1 else ''} and the algorithm run in this "
        f"page, with {size / 1e6:.1f} MB of weights{': ' + rounded if halves else ' '}in float32. "
        f"A number counts as different if it is off by more than {content['tolerance']:g}; of "
        "equal keys the algorithm takes the first."
    )
    return text + "".join(
        f" {name} is shown as recorded only: {reason}." for name, reason in left_out.items()
    )


def _obstacle(subject: Subject | Missing, task: Task) -> str | None:
    if isinstance(subject, Missing):
        return subject.reason
    if not isinstance(subject, Network):
        return "it is a function of Python's"
    if subject.features != task.features:
        return f"the network reads {task.name} in a form that the page does not draw"
    return None


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


def characters(described: Mapping[str, Any]) -> int:
    """Of a network's weights in the page."""
    return sum(len(a["values"]) + len(a.get("places", "")) for a in described["arrays"].values())
