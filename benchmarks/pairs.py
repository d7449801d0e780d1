"""Can the hints of pairs of nodes be shown by a network whose edges are decoded from their ends?

    python benchmarks/pairs.py benchmarks/pairs.json

Without triplets an edge shows f_i + g_j + c e_ij: something of each end, and a sum over what the
edge was given, its inputs and the hints of the step before. For every step of every problem the
best of these is found by least squares, f and g of each node and c free for that step alone, which
is more than any network has. The root of its mean squared error is a lower bound of the largest
error of all of them: where it is above what verification takes for exact, no network of this kind
shows the step, whatever nodes keep. Hints of pairs that the library's programs do show are the
control.
"""

import argparse
import json
import pathlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from algoscope import files, programs, tasks
from algoscope.programs.precision import SCALAR_TOLERANCE
from algoscope.tasks import Batch, Feature, Kind, Location, Stage

SIZES, COUNT, SEED = (4, 5, 11), 32, 5


class Row(NamedTuple):
    task: str
    hint: str
    has_program: bool
    nodes: int
    steps: int
    beyond: int
    """Steps that no sum of this kind shows."""
    bound: float
    """The median over these of the least largest error; 0 if there are none."""
    problems: int
    problems_beyond: int
    """Problems with such a step."""


def columns(batch: Batch, sample: int, step: int) -> np.ndarray:
    """What a pair can be shown by, one column each: its sender, its receiver, and all numbers of
    the edge, of the one that leads back and of loops. [pair, column]"""
    nodes = np.eye(batch.nodes)
    ones = np.ones(batch.nodes)
    parts = [np.kron(nodes, ones).T, np.kron(ones, nodes).T]
    for feature in batch.task.features:
        if feature.location is Location.EDGE and feature.stage is not Stage.OUTPUT:
            parts += list(_views(_given(batch, feature, sample, step), batch.nodes))
    return np.concatenate(parts, 1)


def _given(batch: Batch, feature: Feature, sample: int, step: int) -> np.ndarray:
    if feature.stage is Stage.INPUT:
        return np.asarray(batch.inputs[feature.name])[sample]
    given = np.asarray(batch.hints[feature.name])[sample, step]
    if feature.kind is Kind.POINTER:
        return given[..., None] == np.arange(batch.nodes)
    return given


def _views(values: np.ndarray, nodes: int) -> Iterator[np.ndarray]:
    values = values.reshape(nodes, nodes, -1).astype(float)
    loops = np.eye(nodes)[..., None] * values
    for view in (values, values.swapaxes(0, 1), loops):
        yield view.reshape(nodes * nodes, -1)


def measure(task: str, hint: str, size: int) -> Row:
    batch = tasks.sample(task, size, COUNT, SEED)
    target = np.asarray(batch.hints[hint], float)
    bounds, broken = [], set()
    steps = 0
    for sample, length in enumerate(batch.lengths):
        for step in range(length - 1):
            given = columns(batch, sample, step)
            wanted = target[sample, step + 1].reshape(batch.nodes**2, -1)
            best = given @ np.linalg.lstsq(given, wanted, rcond=None)[0]
            error = float(np.sqrt(np.mean((best - wanted) ** 2, 0)).max())
            steps += 1
            if error > SCALAR_TOLERANCE:
                bounds.append(error)
                broken.add(sample)
    median = round(float(np.median(bounds)), 4) if bounds else 0.0
    has_program = task in programs.tasks_with_references()
    counts = (batch.nodes, steps, len(bounds), median, len(batch), len(broken))
    return Row(task, hint, has_program, *counts)


def numbers_of_pairs() -> list[tuple[str, str]]:
    """Hints of edges that are numbers, of tasks without programs; and, as a control, what is shown
    of edges as it was given."""
    without = [name for name in tasks.names() if name not in programs.tasks_with_references()]
    numbers = [
        (name, feature.name)
        for name in without
        for feature in tasks.get(name).at(Stage.HINT)
        if feature.location is Location.EDGE and feature.kind is Kind.SCALAR
    ]
    return [*numbers, ("strongly_connected_components", "A_t")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=pathlib.Path)
    path = parser.parse_args().path
    rows = [measure(*pair, size) for pair in numbers_of_pairs() for size in SIZES]
    lines = ",\n".join(f" {json.dumps(row._asdict())}" for row in rows)
    files.write_bytes(path, f"[\n{lines}\n]\n".encode())
    print(path.read_text())


if __name__ == "__main__":
    main()
