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
    return trace_problems(like.task, like.nodes, problems)
