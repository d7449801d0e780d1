"""Problems whose trace hangs on how equal numbers happen to be sorted.

Where an algorithm sorts, dm-clrs calls `np.argsort`, and the order of equal numbers is that of the
processor's sorting network. No algorithm asks for it, and no subject can know it.
"""

import numpy as np

from algoscope.falsify.families import traced, with_uneven_positions
from algoscope.tasks import Batch, Stage
from algoscope.tasks.compilation import ties_in_order


def hangs_on_sorting(batch: Batch) -> np.ndarray:
    """Where the trace or the answer would be others if ties kept the order of their indices:
    bool [problem]."""
    with ties_in_order():
        in_order = traced(batch.task, with_uneven_positions(batch))
    differs = np.asarray(in_order.lengths) != np.asarray(batch.lengths)
    time = min(batch.time, in_order.time)
    for stage in (Stage.HINT, Stage.OUTPUT):
        for feature in batch.task.at(stage):
            mine, other = (np.asarray(b.values(stage)[feature.name]) for b in (batch, in_order))
            if stage is Stage.HINT:
                mine, other = mine[:, :time], other[:, :time]
            differs |= (mine != other).reshape(len(batch), -1).any(1)
    return differs
