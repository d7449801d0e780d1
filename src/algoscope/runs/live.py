"""Live: how far a training is, in a small file of its run folder, for whoever watches.

    live.json      step, steps, steps per second, seconds left, curves of loss and validation

Checkpoints come once a minute and hold everything; this file comes once a second, holds a few
hundred numbers, and is gone when the run is finished. Nothing that is computed depends on it.
"""

import json
import pathlib
import time
from typing import NamedTuple

import numpy as np

from algoscope.files import read_bytes, write_bytes
from algoscope.serialise import from_json, parse_json, to_json

FILE = "live.json"
_EVERY = 1.0
"""Seconds from one writing to the next."""
_POINTS = 240
"""Of a curve at most: more than a screen shows."""


class Point(NamedTuple):
    """Of a curve: over networks and tasks at one step."""

    step: int
    mean: float
    least: float
    most: float


class Curves(NamedTuple):
    loss: list[Point]
    """Means over a few steps, where there are many."""
    validation: list[Point]


class Live(NamedTuple):
    step: int
    steps: int
    steps_per_second: float
    """NaN until the first steps are compiled."""
    seconds_left: float
    curves: Curves


def curves(loss: np.ndarray, validation_steps: np.ndarray, validation: np.ndarray) -> Curves:
    """Of metrics [step, seed, task], [validation] and [validation, seed, task]."""
    window = max(1, -(-len(loss) // _POINTS))
    parts = [loss[start : start + window].mean(0) for start in range(0, len(loss), window)]
    ends = [min(start + window, len(loss)) for start in range(0, len(loss), window)]
    stride = max(1, -(-len(validation) // _POINTS))
    last = (len(validation) - 1) % stride
    chosen = slice(last, None, stride)
    return Curves(
        [_point(end, part) for end, part in zip(ends, parts, strict=True)],
        [
            _point(int(step), scores)
            for step, scores in zip(validation_steps[chosen], validation[chosen], strict=True)
        ],
    )


def _point(step: int, values: np.ndarray) -> Point:
    """Of values [seed, task]."""
    return Point(step, *(float(f"{f(values):.5g}") for f in (np.mean, np.min, np.max)))


class Publisher:
    """Writes how far a training is, as often as somebody could want to know."""

    def __init__(self, folder: pathlib.Path):
        self._path = folder / FILE
        self._next = 0.0

    def is_due(self, step: int, steps: int) -> bool:
        return time.monotonic() >= self._next or step == steps

    def publish(self, live: Live) -> None:
        write_bytes(self._path, json.dumps(to_json(live)).encode())
        self._next = time.monotonic() + _EVERY


def read(folder: pathlib.Path) -> Live | None:
    """None if there is nothing, or nothing that can be read."""
    try:
        return from_json(Live, parse_json(read_bytes(folder / FILE)), where=FILE)
    except (OSError, ValueError):
        return None


def remove(folder: pathlib.Path) -> None:
    (folder / FILE).unlink(missing_ok=True)
