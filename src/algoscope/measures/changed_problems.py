"""Problems made from problems: taken apart, changed, traced anew by the reference algorithm."""

from collections.abc import Sequence

import numpy as np

from algoscope.tasks import Batch
from algoscope.tasks.sampling import trace_problems

Problem = dict[str, np.ndarray]
"""The features of `Task.problem` by name, as registers."""


def problems_of(batch: Batch) -> list[Problem]:
    """What defines each problem of the batch."""
    features = {f.name: f for f in batch.features}
    columns = {}
    for name in batch.task.problem:
        values = np.asarray(batch.inputs[name])
        columns[name] = values.argmax(-1)[..., None] if features[name].one_hot else values
    return [
        {name: np.array(values[sample]) for name, values in columns.items()}
        for sample in range(len(batch))
    ]


def traced(like: Batch, problems: Sequence[Problem]) -> Batch:
    """The batch of these problems of the same task and size."""
    return trace_problems(like.task, like.inputs["pos"].shape[1], problems)


def joined(batches: Sequence[Batch]) -> Batch:
    """Batches of one task and size as one, time padded to the longest with zeros."""
    times = max(_times(batch) for batch in batches)

    def padded(hint: np.ndarray) -> np.ndarray:
        return np.pad(hint, [(0, 0), (0, times - hint.shape[1])] + [(0, 0)] * (hint.ndim - 2))

    first = batches[0]
    return Batch(
        first.task,
        {name: np.concatenate([b.inputs[name] for b in batches]) for name in first.inputs},
        {name: np.concatenate([padded(b.hints[name]) for b in batches]) for name in first.hints},
        {name: np.concatenate([b.outputs[name] for b in batches]) for name in first.outputs},
        np.concatenate([b.lengths for b in batches]),
        first.features,
    )


def part(batch: Batch, samples: np.ndarray | slice) -> Batch:
    """Some samples of a batch; time stays as it is."""
    return Batch(
        batch.task,
        {name: array[samples] for name, array in batch.inputs.items()},
        {name: array[samples] for name, array in batch.hints.items()},
        {name: array[samples] for name, array in batch.outputs.items()},
        batch.lengths[samples],
        batch.features,
    )


def _times(batch: Batch) -> int:
    return next(iter(batch.hints.values())).shape[1]
