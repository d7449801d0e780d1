"""Tracing: the reference algorithm on problem after problem, in one compiled loop per batch.

Registers, loop and room for steps depend on task and size alone. A `Tracer` makes them once and
uses them for every batch: with small problems they take longer to make than a batch to trace.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope.tasks.batch import Batch
from algoscope.tasks.compilation import specialise
from algoscope.tasks.families import draw_structure
from algoscope.tasks.features import Stage
from algoscope.tasks.graphs import adjacency, positions
from algoscope.tasks.memory import Memory
from algoscope.tasks.registers import Registers
from algoscope.tasks.task import Task

_CHUNK = 32
"""How many samples are drawn at a time to be dropped."""
_NOTHING_TO_DRAW = np.zeros(0, np.uint32)
_NO_BYTES = np.zeros(0, np.int8)
_NO_POSITIONS, _NO_GRAPH = np.zeros(0), (np.zeros((0, 0)), np.zeros((0, 0), np.int8))


class _Rows(NamedTuple):
    """What is known of each sample of a batch, beside its steps."""

    problems: np.ndarray
    """The input registers: [count, width]."""
    answers: np.ndarray
    """The output registers: [count, width]."""
    starts: np.ndarray
    """Where in the room for steps each sample's begin, and the last one's end: [count + 1]."""


class Tracer:
    """Traces problems of one task, with `nodes` nodes and the options `chosen`.

    Drawn scalars are truncated to multiples of 1 / scale, unless scale is 0.
    """

    longest: int
    """The most steps that any sample so far took."""

    def __init__(self, task: Task, nodes: int, chosen: dict[str, Any], scale: float = 0.0):
        self._task = task
        self._chosen = chosen
        self._has_family = chosen.get("family") is not None
        self._scale = scale
        self._inputs, self._hints, self._outputs = (
            Registers(task.at(stage), nodes) for stage in Stage
        )
        registers = self._inputs.views | self._hints.views | self._outputs.views
        available = registers | chosen | {"scale": scale}
        if self._has_family:
            available["p"] = np.empty(0)
        self._draws = tuple(available[name] for name in task.draw_parameters)
        self._runs = tuple(registers[name] for name in task.algorithm_parameters)
        pos = _NO_POSITIONS if "pos" in task.draw_parameters else registers["pos"]
        has_graph = registers.keys() >= {"A", "adj"} and "adj" not in task.draw_parameters
        graph = (registers["A"], registers["adj"]) if has_graph else _NO_GRAPH
        self._layout = (pos, *graph)
        left = (f.name for f in task.at(Stage.OUTPUT) if f.name not in task.algorithm_parameters)
        results = ((_bytes(registers[n]), _bytes(self._hints.views[f"{n}_h"])) for n in left)
        self._results = (*results, (_NO_BYTES, _NO_BYTES))
        self._loop = _loop_of(task)
        self._memory = Memory()
        self._steps = self._memory.empty((0, len(self._hints.words)), np.int64)
        self.longest = 0

    def draw(self, count: int, stream: np.ndarray, least_steps: int = 0) -> Batch:
        """The batch that comes next in the stream, which moves on; time padded to `least_steps`."""
        return self._batch(self._draw(count, stream), least_steps)

    def drop(self, count: int, stream: np.ndarray) -> None:
        """Draws samples for `longest` alone."""
        for start in range(0, count, _CHUNK):
            self._draw(min(_CHUNK, count - start), stream)

    def trace(self, problems: Sequence[Mapping[str, np.ndarray]]) -> Batch:
        """The batch of given problems, in registers: each feature of `task.problem` by name."""
        rows = self._new_rows(len(problems))
        for row, problem in zip(rows.problems, problems, strict=True):
            for name, value in problem.items():
                self._inputs.views[name][:] = value
            row[:] = self._inputs.words
        self._run(rows, 0, len(problems), _NOTHING_TO_DRAW, drawing=False)
        return self._batch(rows, 0)

    def _draw(self, count: int, stream: np.ndarray) -> _Rows:
        rows = self._new_rows(count)
        if not self._has_family:
            self._run(rows, 0, count, stream, drawing=True)
            return rows
        for sample, row in enumerate(rows.problems):
            self._inputs.words[:] = 0
            draw_structure(stream, self._chosen, self._inputs.views["A"])
            row[:] = self._inputs.words
            self._run(rows, sample, sample + 1, stream, drawing=True)
        return rows

    def _new_rows(self, count: int) -> _Rows:
        problems = self._memory.empty((count, len(self._inputs.words)), np.int64)
        problems[:] = 0
        answers = self._memory.empty((count, len(self._outputs.words)), np.int64)
        return _Rows(problems, answers, np.zeros(count + 1, np.int64))

    def _run(self, rows: _Rows, done: int, target: int, stream: np.ndarray, drawing: bool) -> None:
        """Traces the samples from number `done` up to `target`."""
        while done < target:
            recorded = rows.starts[done : done + 1].copy()
            done = self._loop(
                done, stream, self._draws, drawing, self._inputs.scalars, self._scale, self._layout,
                self._runs, self._results, (self._hints.words, self._steps, recorded),
                self._inputs.words, self._outputs.words, rows.problems[:target], rows.answers,
                rows.starts,
            )  # fmt: skip
            if done < target:
                outlook = int(recorded[0]) * len(rows.problems) // (done + 1)
                self._make_room(outlook * 5 // 4, keep=int(rows.starts[done]))
        self.longest = max(self.longest, int(np.diff(rows.starts[: target + 1]).max()))

    def _make_room(self, steps: int, keep: int) -> None:
        room = self._memory.empty((steps, len(self._hints.words)), np.int64)
        room[:keep] = self._steps[:keep]
        self._steps = room

    def _batch(self, rows: _Rows, least_steps: int) -> Batch:
        lengths = np.diff(rows.starts)
        steps = max(int(lengths.max()), least_steps)
        recorded = self._steps[: rows.starts[-1]]
        empty = self._memory.empty
        return Batch(
            self._task,
            self._inputs.dense(rows.problems, empty),
            self._hints.dense_traces(recorded, rows.starts, steps, empty),
            self._outputs.dense(rows.answers, empty),
            lengths,
        )


def _bytes(register: np.ndarray) -> np.ndarray:
    """A view of one type whatever the register's is, for loops over several."""
    return register.reshape(-1).view(np.int8)


def draw(stream, *arguments):
    """Stands for the task's sampler in `_batch_loop`, where `specialise` puts the real one."""
    raise TypeError(stream, arguments)


def algorithm(trace, *registers):
    """Stands for the task's algorithm in `_batch_loop`, as `draw` does for its sampler."""
    raise TypeError(trace, registers)


def _batch_loop(
    done, stream, draws, drawing, scalars, scale, layout, runs, results, trace,
    problem, answer, problems, answers, starts,
):  # fmt: skip
    """Draws and runs the samples from number `done` on; returns how many are done in all.

    `problems` holds what is known of each before it is drawn: nothing, the edges of a graph, or,
    where there is no `drawing`, all of it. Positions and adjacency follow from it (`layout`). Fewer
    are done than asked for if the trace had no room for a sample's steps; the stream is then where
    it was before that sample.
    """
    state, rows, recorded = trace
    pos, A, adj = layout
    before = np.empty_like(stream)
    for sample in range(done, len(problems)):
        before[:] = stream
        problem[:] = problems[sample]
        state[:] = 0
        answer[:] = 0
        if drawing:
            draw(stream, *draws)
            if scale > 0:
                for i in range(len(scalars)):
                    scalars[i] = np.trunc(scalars[i] * scale) / scale
        positions(pos)
        adjacency(A, adj)
        algorithm(trace, *runs)
        for output, hint in results:
            output[:] = hint
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
