"""Batches in small types, as they lie on the device."""

import numpy as np

from algoscope.tasks import Batch, Kind, Stage

_SMALL = 127


def index_type(nodes: int) -> type[np.signedinteger]:
    """The smallest type for the number of a node."""
    return np.int8 if nodes <= _SMALL else np.int16


def compact(batch: Batch, time: int | None = None) -> Batch:
    """The batch in small types, padded to a length of time."""
    pointer = index_type(batch.nodes)
    types = {Kind.SCALAR: np.float32, Kind.POINTER: pointer, Kind.PERMUTATION: pointer}
    inputs, hints, outputs = (
        {
            f.name: np.asarray(batch.values(stage)[f.name], types.get(f.kind, np.int8))
            for f in batch.at(stage)
        }
        for stage in Stage
    )
    lengths = np.asarray(batch.lengths, np.int32)
    small = Batch(batch.task, inputs, hints, outputs, lengths, batch.features)
    return small if time is None else small.padded(time)
