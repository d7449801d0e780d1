"""A trace as a table of short texts: a row a step, a column a hint."""

from typing import NamedTuple

import numpy as np

from algoscope.tasks.features import Feature, Kind, Location, Stage
from algoscope.tasks.sampling import Batch


class Table(NamedTuple):
    title: str
    columns: list[str]
    rows: list[list[str]]


def trace_table(batch: Batch, sample: int = 0) -> Table:
    """What the reference algorithm did on one sample of the batch; the last row is the output."""
    hints, outputs = batch.task.at(Stage.HINT), batch.task.at(Stage.OUTPUT)
    steps = int(batch.lengths[sample])
    rows = [
        [str(step), *(cell(f, batch.hints[f.name][sample, step]) for f in hints)]
        for step in range(steps)
    ]
    answer = ", ".join(f"{f.name} = {cell(f, batch.outputs[f.name][sample])}" for f in outputs)
    return Table(f"{batch.task.name}: {answer}", ["step", *(f.name for f in hints)], rows)


def cell(feature: Feature, value: np.ndarray) -> str:
    """A value of the feature in few characters: sets of nodes, indices, classes."""
    if feature.one_hot:
        value = np.argmax(np.abs(value), axis=-1)
    elif feature.kind is Kind.MASK and feature.location is not Location.GRAPH:
        return "{" + " ".join(_place(index) for index in np.argwhere(value == 1)) + "}"
    if np.ndim(value) == 2:
        return "; ".join(_row(row) for row in value)
    return _row(np.atleast_1d(value))


def _place(index: np.ndarray) -> str:
    return "-".join(str(i) for i in index)


def _row(values: np.ndarray) -> str:
    return " ".join(f"{value:.3g}" for value in values)
