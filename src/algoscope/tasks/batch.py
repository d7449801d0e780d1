"""Batch: problems of one task and size, with what the reference algorithm did on each."""

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from algoscope import markup
from algoscope.errors import unknown_name
from algoscope.table import Table
from algoscope.tasks import display
from algoscope.tasks.features import Feature, Stage
from algoscope.tasks.task import Task

Array = Any
"""numpy's on the host, JAX's where a network reads it."""


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    """The one container of problems: sampled, compact in a pool, and as a network reads it
    (`networks.to_device`). A pool has further axes in front of the batch's, one sample has none."""

    task: Task
    inputs: dict[str, Array]
    """Each input feature: [batch, …]."""
    hints: dict[str, Array]
    """Each hint feature: [batch, time, …], zero after a sample's last step."""
    outputs: dict[str, Array]
    """Each output feature: [batch, …]."""
    lengths: Array
    """The number of steps of each sample: int64 [batch]."""
    features: tuple[Feature, ...] = ()
    """What the arrays are: the task's features, unless `transforms` changed them."""
    labels: Sequence[Hashable] = ()
    """The user's name of each node, in every sample; the numbers 0, 1, … where there are none."""

    def __post_init__(self):
        if not self.features:
            object.__setattr__(self, "features", self.task.features)

    def at(self, stage: Stage) -> tuple[Feature, ...]:
        return tuple(f for f in self.features if f.stage is stage)

    def values(self, stage: Stage) -> dict[str, Array]:
        """The arrays of a stage by feature name."""
        return {Stage.INPUT: self.inputs, Stage.HINT: self.hints, Stage.OUTPUT: self.outputs}[stage]

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def nodes(self) -> int:
        return self.inputs["pos"].shape[-1]

    @property
    def time(self) -> int:
        """How many steps the hints have room for; 1 without hints."""
        first = next(iter(self.hints.values()), None)
        return 1 if first is None else first.shape[np.ndim(self.lengths)]

    @property
    def steps(self) -> int:
        """How many steps a network takes: step t reads hint t and predicts hint t + 1."""
        return max(1, self.time - 1)

    @property
    def valid(self) -> Array:
        """Which of a network's steps are no padding: bool [batch, step]."""
        return valid_steps(self.lengths, self.steps)

    def take(self, samples: Any) -> "Batch":
        """The samples of a slice, of indices or of a mask; time stays as it is."""
        taken = self._with_stages(
            lambda stage: {name: array[samples] for name, array in self.values(stage).items()},
            self.lengths[samples],
        )
        return dataclasses.replace(taken, labels=self.labels)

    def padded(self, time: int) -> "Batch":
        """The same with room for so many steps of time."""
        more = time - self.time

        def pad(hint: np.ndarray) -> np.ndarray:
            return np.pad(hint, [(0, 0), (0, more)] + [(0, 0)] * (hint.ndim - 2))

        return dataclasses.replace(self, hints={n: pad(hint) for n, hint in self.hints.items()})

    @staticmethod
    def join(batches: Sequence["Batch"]) -> "Batch":
        """Batches of one task and size as one, time padded to the longest."""
        time = max(batch.time for batch in batches)
        return Batch._merge(np.concatenate, [batch.padded(time) for batch in batches])

    @staticmethod
    def stack(batches: Sequence["Batch"]) -> "Batch":
        """Batches of one shape along a new first axis."""
        return Batch._merge(np.stack, batches)

    @staticmethod
    def _merge(merge: Any, batches: Sequence["Batch"]) -> "Batch":
        return batches[0]._with_stages(
            lambda stage: {
                name: merge([batch.values(stage)[name] for batch in batches])
                for name in batches[0].values(stage)
            },
            merge([batch.lengths for batch in batches]),
        )

    def _with_stages(self, arrays: Any, lengths: Array) -> "Batch":
        inputs, hints, outputs = (arrays(stage) for stage in Stage)
        return Batch(self.task, inputs, hints, outputs, lengths, self.features)

    def named(self, name: str, sample: int = 0) -> Any:
        """A feature of one sample by the labels of its nodes, see `display.named`; a hint's values
        are a list, one a step."""
        features = {feature.name: feature for feature in self.features}
        if name not in features:
            raise ValueError(unknown_name(f"feature of {self.task.name}", name, features))
        value = np.asarray(self.values(features[name].stage)[name][sample])
        if features[name].stage is not Stage.HINT:
            return display.named(features[name], value, self._labels)
        steps = value[: self.lengths[sample]]
        return [display.named(features[name], step, self._labels) for step in steps]

    @property
    def answer(self) -> dict[str, Any]:
        """Each output of the first sample, by the labels of its nodes."""
        return {feature.name: self.named(feature.name) for feature in self.at(Stage.OUTPUT)}

    def table(self, sample: int = 0) -> Table:
        """The trace of one sample, a row a step and a column a hint; its outputs in the title."""
        hints = self.at(Stage.HINT)
        rows = [
            [str(step), *(self._cell(f, self.hints[f.name][sample, step]) for f in hints)]
            for step in range(int(self.lengths[sample]))
        ]
        answer = ", ".join(
            f"{f.name} = {self._cell(f, self.outputs[f.name][sample])}"
            for f in self.at(Stage.OUTPUT)
        )
        more = f" (sample {sample} of {len(self)})" if len(self) > 1 else ""
        title = f"{self.task.name}: {answer}{more}"
        return Table(title, ["step", *(feature.name for feature in hints)], rows)

    @property
    def _labels(self) -> Sequence[Hashable]:
        return self.labels or range(self.nodes)

    def _cell(self, feature: Feature, value: Array) -> str:
        return display.cell(feature, np.asarray(value), self._labels)

    def __str__(self) -> str:
        """The trace of the first sample, step by step."""
        return str(self.table())

    def _repr_html_(self) -> str:
        """For notebooks: the same."""
        return markup.table(self.table())

    def __repr__(self) -> str:
        shapes = ", ".join(
            f"{name} {list(array.shape)}"
            for stage in Stage
            for name, array in self.values(stage).items()
        )
        return f"Batch({self.task.name}, {len(self)} samples: {shapes})"


def valid_steps(lengths: Array, steps: int) -> Array:
    """Which of so many steps of a network come before the end of each sample's trace: step 0 always
    does. bool [batch, step]"""
    step = np.arange(steps)[None]
    return (step == 0) | (step + 1 < lengths[:, None])
