"""A trace as a table of short texts: a row a step, a column a hint."""

from collections.abc import Hashable, Sequence

import numpy as np

from algoscope.table import Table
from algoscope.tasks.batch import Batch
from algoscope.tasks.features import Feature, Kind, Location, Stage


def trace_table(batch: Batch, sample: int = 0, labels: Sequence[Hashable] | None = None) -> Table:
    """What the reference algorithm did on one sample of the batch, and its outputs in the title."""
    hints, outputs = batch.at(Stage.HINT), batch.at(Stage.OUTPUT)
    steps = int(batch.lengths[sample])
    rows = [
        [str(step), *(cell(f, batch.hints[f.name][sample, step], labels) for f in hints)]
        for step in range(steps)
    ]
    answer = ", ".join(
        f"{f.name} = {cell(f, batch.outputs[f.name][sample], labels)}" for f in outputs
    )
    return Table(f"{batch.task.name}: {answer}", ["step", *(f.name for f in hints)], rows)


def cell(feature: Feature, value: np.ndarray, labels: Sequence[Hashable] | None = None) -> str:
    """A value of the feature in few characters: sets of nodes, indices, classes.

    Nodes are written as their labels, or as their numbers.
    """
    if feature.one_hot:
        value = np.argmax(np.abs(value), axis=-1)
    elif feature.kind is Kind.MASK and feature.location is not Location.GRAPH:
        places = np.argwhere(value == 1)
        return "{" + " ".join("-".join(_node(i, labels) for i in p) for p in places) + "}"
    rows = value if np.ndim(value) == 2 else [np.atleast_1d(value)]
    if feature.kind in (Kind.POINTER, Kind.PERMUTATION, Kind.MASK_ONE):
        return "; ".join(" ".join(_node(node, labels) for node in row) for row in rows)
    return "; ".join(" ".join(f"{number:.3g}" for number in row) for row in rows)


def _node(number: float, labels: Sequence[Hashable] | None) -> str:
    return str(int(number) if labels is None else labels[int(number)])
