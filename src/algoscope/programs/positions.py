"""Random positions: nodes in the same order, at uneven distances, as dm-clrs trains with them."""

import dataclasses

import numpy as np

from algoscope.tasks import Batch


def with_random_positions(batch: Batch, seed: int) -> Batch:
    """The batch with sorted uniform draws as positions, drawn anew for each sample."""
    drawn = np.random.RandomState(seed).uniform(size=batch.inputs["pos"].shape)
    return dataclasses.replace(batch, inputs=batch.inputs | {"pos": np.sort(drawn, axis=1)})
