"""The form of the task goldens: which samples are stored whole, and how whole splits are digested.

`tasks/NAME.npz` holds all arrays of some small draws, named `DRAW.STAGE.FEATURE`; `splits.json`
holds a digest of every feature of the canonical splits, named `STAGE.FEATURE`. Inputs and outputs
have dm-clrs's own types; its hints are all float64 and are brought to one small type per kind.
"""

import hashlib
import pathlib
from typing import Any, NamedTuple

import numpy as np

from algoscope import tasks

FOLDER = pathlib.Path(__file__).parent / "tasks"
SPLITS = FOLDER / "splits.json"

HINT_DTYPES = {
    "scalar": "<f8",
    "mask": "<i1",
    "mask_one": "<i1",
    "categorical": "<i1",
    "pointer": "<i4",
}

CPU_DEPENDENT = {
    "graham_scan": ("inputs.x", "inputs.y", "hints.atans"),
    "jarvis_march": ("inputs.x", "inputs.y"),
}
"""The last bits of numpy's cos, sin and arctan2 differ between CPUs: not digested."""

_OTHER_THAN_DEFAULT = {
    "p": [0.1, 0.7],
    "low": 0.5,
    "high": 4.0,
    "k": 3,
    "eps": 0.2,
    "length_2": 7,
    "chars": 3,
    "length_needle": -3,
    "max_deadline": 5,
    "origin_x": 1.5,
    "origin_y": -2.0,
    "radius": 0.5,
    "truncate_decimals": 3,
}


class Draw(NamedTuple):
    size: int
    count: int
    seed: int
    options: dict[str, Any]


def draws(name: str) -> list[Draw]:
    """The draws that are stored whole: from the smallest size up, and one with other options."""
    task = tasks.get(name)
    known = {*task.options, "truncate_decimals"}
    return [
        Draw(task.smallest, 6, 0, {}),
        Draw(max(task.smallest, 5), 6, 1, {}),
        Draw(9, 6, 5, {key: v for key, v in _OTHER_THAN_DEFAULT.items() if key in known}),
        Draw(16, 3, 2**31, {}),
        Draw(33, 1, 2**32 - 1, {}),
    ]


def digest(array: np.ndarray) -> str:
    """A digest of type, shape and values; a negative zero counts as zero."""
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    if array.dtype.kind == "f":
        array = array + 0.0
    content = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
    content.update(array.data)
    return content.hexdigest()


def digests(name: str, arrays: dict[str, np.ndarray]) -> dict[str, str]:
    """The digests of a task's arrays, but for those that depend on the CPU."""
    return {
        key: digest(array)
        for key, array in arrays.items()
        if key not in CPU_DEPENDENT.get(name, ())
    }


def arrays_of(batch: tasks.Batch) -> dict[str, np.ndarray]:
    """All arrays of a batch, named as in the goldens."""
    stages = {"inputs": batch.inputs, "hints": batch.hints, "outputs": batch.outputs}
    arrays = {f"{stage}.{key}": a for stage, found in stages.items() for key, a in found.items()}
    return arrays | {"lengths": batch.lengths}
