"""Sampling: problems with the traces of their reference algorithm, batched and padded."""

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from algoscope.tasks import mersenne, options
from algoscope.tasks.compilation import specialise
from algoscope.tasks.features import Stage
from algoscope.tasks.registers import Registers
from algoscope.tasks.task import Task

_MOST_DECIMALS = 15


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    """Problems of one task and size, with what the reference algorithm did on each."""

    task: Task
    inputs: dict[str, np.ndarray]
    """Each input feature: [batch, …]."""
    hints: dict[str, np.ndarray]
    """Each hint feature: [batch, time, …], zero after a sample's last step."""
    outputs: dict[str, np.ndarray]
    """Each output feature: [batch, …]."""
    lengths: np.ndarray
    """The number of steps of each sample: int64 [batch]."""

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        shapes = ", ".join(
            f"{name} {list(array.shape)}"
            for arrays in (self.inputs, self.hints, self.outputs)
            for name, array in arrays.items()
        )
        return f"Batch({self.task.name}, {len(self)} samples: {shapes})"


def sample_task(task: Task, size: int, count: int, seed: int, given: dict[str, Any]) -> Batch:
    """Draws `count` problems of `size` and runs the reference algorithm on each."""
    size = _whole("size", size, task.smallest, f"for {task.name}")
    count = _whole("count", count, 1)
    seed = _whole("seed", seed, 0)
    if seed >= 2**32:
        raise ValueError(f"seed: got {seed}, needed less than 2**32, as for numpy's RandomState")
    given = dict(given)
    decimals = given.pop("truncate_decimals", None)
    if decimals is not None:
        decimals = _whole("truncate_decimals", decimals, 1)
        if decimals > _MOST_DECIMALS:
            raise ValueError(
                f"truncate_decimals: got {decimals}, needed at most {_MOST_DECIMALS}, "
                "the decimals that a float64 holds"
            )
    resolved = options.resolve(task.name, task.options, given, size)
    stream = mersenne.stream_from(np.random.RandomState(seed))
    return draw_batch(task, task.nodes(size, given), count, stream, resolved, decimals)


def draw_batch(
    task: Task, nodes: int, count: int, stream: np.ndarray, resolved: dict, decimals: int | None
) -> Batch:
    """The batch that comes next in the stream, which moves on."""
    inputs, hints, outputs = (Registers(task.at(stage), nodes) for stage in Stage)
    registers = inputs.views | hints.views | outputs.views
    scale = 0.0 if decimals is None else 10.0**decimals
    available = registers | resolved | {"scale": scale}
    draws = tuple(available[name] for name in task.draw_parameters)
    runs = tuple(registers[name] for name in task.algorithm_parameters)

    loop = _loop_of(task)
    input_rows = np.empty((count, len(inputs.words)), np.int64)
    output_rows = np.empty((count, len(outputs.words)), np.int64)
    starts = np.zeros(count + 1, np.int64)
    hint_rows = np.empty((count * 8, len(hints.words)), np.int64)
    done = 0
    while True:
        trace = (hints.words, hint_rows, starts[done : done + 1].copy())
        done = loop(
            done, stream, draws, inputs.scalars, scale, runs, trace,
            inputs.words, outputs.words, input_rows, output_rows, starts,
        )  # fmt: skip
        if done == count:
            break
        used = starts[done]
        needed = trace[2][0] - used
        estimate = (used + needed) * count // (done + 1)
        grown = np.empty((max(used + needed, estimate * 5 // 4), len(hints.words)), np.int64)
        grown[:used] = hint_rows[:used]
        hint_rows = grown
    lengths = np.diff(starts)
    return Batch(
        task,
        inputs.dense(input_rows),
        hints.dense_traces(hint_rows[: starts[-1]], starts, int(lengths.max())),
        outputs.dense(output_rows),
        lengths,
    )


def draw(stream, *arguments):
    """Stands for the task's sampler in `_batch_loop`, where `specialise` puts the real one."""
    raise TypeError(stream, arguments)


def algorithm(trace, *registers):
    """Stands for the task's algorithm in `_batch_loop`, as `draw` does for its sampler."""
    raise TypeError(trace, registers)


def _batch_loop(
    done, stream, draws, scalars, scale, runs, trace,
    problem, answer, problems, answers, starts,
):  # fmt: skip
    """Draws and runs the samples from number `done` on; returns how many are done in all.

    That is fewer than asked for if the trace had no room for a sample's steps; the stream is then
    where it was before that sample.
    """
    state, rows, recorded = trace
    for sample in range(done, len(problems)):
        before = stream.copy()
        problem[:] = 0
        state[:] = 0
        answer[:] = 0
        draw(stream, *draws)
        if scale > 0:
            for i in range(len(scalars)):
                scalars[i] = np.trunc(scalars[i] * scale) / scale
        algorithm(trace, *runs)
        if recorded[0] > len(rows):
            stream[:] = before
            return sample
        problems[sample] = problem
        answers[sample] = answer
        starts[sample + 1] = recorded[0]
    return len(problems)


@functools.cache
def _loop_of(task: Task) -> Callable:
    return specialise(_batch_loop, task.name, draw=task.draw, algorithm=task.algorithm)


def _whole(name: str, value: Any, least: int, where: str = "") -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}: got {value!r}, needed an integer") from None
    if isinstance(value, bool) or whole < least:
        raise ValueError(
            f"{name}: got {value!r}, needed an integer of at least {least} {where}".rstrip()
        )
    return whole
