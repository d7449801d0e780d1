"""Problems and answers as text.

    bfs:                                             the task
    s: 0, A: [[1 1 0], [1 0 1], [0 1 1]]             the inputs
    pi:                                              what is asked for
    [0 0 1]                                          the answer, and an empty line

With a trace, the inputs end with `, initial_trace: [0 1 2]`, the prompt asks for `trace | pi:`, and
the answer is `[0 0 2] | [0 0 1]`: the steps between the first and the last, and the output.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from algoscope.tasks.batch import Batch
from algoscope.tasks.features import Feature, Kind, Stage
from algoscope.tasks.options import integer
from algoscope.tasks.text.prompt_layout import layout_of

_BETWEEN = ", "
_MASKED = -1


class Example(NamedTuple):
    task: str
    nodes: int
    traces: bool
    """Was a trace asked for? (`segments_intersect` has none to give.)"""
    prompt: str
    answer: str

    @property
    def text(self) -> str:
        """Prompt and answer, as a language model is trained on them."""
        return self.prompt + self.answer


def write(batch: Batch, sample: int = 0, traces: bool = False) -> Example:
    """One sample of the batch as text: dm-clrs's `format_clrs_example`.

    Floats are written in full; draw the batch with `truncate_decimals` for short ones.
    """
    last = len(batch) - 1
    return _Writer(batch, integer(0, last)("sample", sample, last), traces).example()


class _Writer:
    """Writes one sample."""

    def __init__(self, batch: Batch, sample: int, traces: bool):
        self.batch, self.sample, self.traces = batch, sample, traces
        self.layout = layout_of(batch.task, traces)
        self.steps = int(batch.lengths[sample])

    def example(self) -> Example:
        inputs = [f"{f.name}: {self._written(f, self._given(f))}" for f in self.layout.inputs]
        asked = self._joined(self.layout.asked)
        answer = self._joined(self._written(f, self._given(f)) for f in self.layout.answer)
        if self.layout.trace:
            inputs.append(f"initial_trace: {self._step(0)}")
            asked = f"trace | {asked}"
            answer = f"{_BETWEEN.join(map(self._step, range(1, self.steps - 1)))} | {answer}"
        return Example(
            self.batch.task.name,
            self.batch.nodes,
            self.traces,
            f"{self.batch.task.name}:\n{_BETWEEN.join(inputs)}\n{asked}:\n",
            f"{answer}\n\n",
        )

    def _given(self, feature: Feature) -> np.ndarray:
        """An input, an output, or a hint at the last step."""
        if feature.stage is Stage.HINT:
            return self.batch.hints[feature.name][self.sample, self.steps - 1]
        return self.batch.values(feature.stage)[feature.name][self.sample]

    def _step(self, step: int) -> str:
        return self._joined(
            self._written(written_as, self.batch.hints[hint][self.sample, step])
            for hint, written_as in self.layout.trace
        )

    def _joined(self, texts: Iterable[str]) -> str:
        joined = _BETWEEN.join(texts)
        return f"({joined})" if self.layout.in_parentheses else joined

    def _written(self, feature: Feature, dense: np.ndarray) -> str:
        if feature.kind is Kind.PERMUTATION:
            return _bracketed(self.batch.inputs["key"][self.sample][_order(dense)])
        return _bracketed(_numbers(feature, dense))


def _numbers(feature: Feature, dense: np.ndarray) -> np.ndarray:
    """The numbers that stand for a feature's dense value: an index, classes, or itself."""
    match feature.kind:
        case Kind.MASK_ONE:
            return np.asarray(np.argmax(dense))
        case Kind.CATEGORICAL:
            masked = (dense == _MASKED).any(axis=-1)
            return np.where(masked, _MASKED, np.argmax(dense, axis=-1))
        case Kind.SCALAR:
            return dense
    return dense.astype(np.int64)


def _order(predecessors: np.ndarray) -> list[int]:
    """The nodes in the order that their predecessors say, the first one pointing to itself."""
    following = {int(p): node for node, p in enumerate(predecessors) if p != node}
    order = [next(node for node, p in enumerate(predecessors) if p == node)]
    while order[-1] in following:
        order.append(following[order[-1]])
    return order


def _bracketed(numbers: np.ndarray) -> str:
    if numbers.ndim == 0:
        return str(numbers.item())
    if numbers.ndim == 1:
        return f"[{' '.join(map(str, numbers.tolist()))}]"
    return f"[{_BETWEEN.join(map(_bracketed, numbers))}]"
