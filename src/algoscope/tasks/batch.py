"""Batch: problems of one task and size, with what the reference algorithm did on each."""

import dataclasses

import numpy as np

from algoscope.tasks.features import Feature, Stage
from algoscope.tasks.task import Task


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    task: Task
    inputs: dict[str, np.ndarray]
    """Each input feature: [batch, …]."""
    hints: dict[str, np.ndarray]
    """Each hint feature: [batch, time, …], zero after a sample's last step."""
    outputs: dict[str, np.ndarray]
    """Each output feature: [batch, …]."""
    lengths: np.ndarray
    """The number of steps of each sample: int64 [batch]."""
    features: tuple[Feature, ...] = ()
    """What the arrays are: the task's features, unless `transforms` changed them."""

    def __post_init__(self):
        if not self.features:
            object.__setattr__(self, "features", self.task.features)

    def at(self, stage: Stage) -> tuple[Feature, ...]:
        return tuple(f for f in self.features if f.stage is stage)

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        shapes = ", ".join(
            f"{name} {list(array.shape)}"
            for arrays in (self.inputs, self.hints, self.outputs)
            for name, array in arrays.items()
        )
        return f"Batch({self.task.name}, {len(self)} samples: {shapes})"
