"""The way back from a prompt to its problem, and from the problem to its answer.

    problem = text.parse("bfs:\\ns: 0, A: [[1 1 0], [1 0 1], [0 1 1]]\\npi:\\n")
    batch = problem.solved()                  # inputs, trace and output of the reference algorithm
    text.write(batch).answer                  # '[0 0 1]\\n\\n'

What is wrong with a prompt is said in the words of the prompt.
"""

import re
from typing import NamedTuple

import numpy as np

from algoscope.errors import short
from algoscope.tasks import needs
from algoscope.tasks.batch import Batch
from algoscope.tasks.features import Feature, Kind, Stage
from algoscope.tasks.given_problems import complaints
from algoscope.tasks.registry import get
from algoscope.tasks.sampling import trace_problems
from algoscope.tasks.task import Task
from algoscope.tasks.text.prompt_layout import Layout, is_real, layout_of, written_shape

_EXAMPLE = "bfs:\ns: 0, A: [[1 1], [1 1]]\npi:\n"
_INITIAL_TRACE = "initial_trace"
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_ROW = rf"\[{_NUMBER}(?: {_NUMBER})*\]"
_VALUE = {0: re.compile(_NUMBER), 1: re.compile(_ROW), 2: re.compile(rf"\[{_ROW}(?:, {_ROW})*\]")}
"""By the number of axes."""
_MADE_BY_TRUNCATION = (needs.positive_dimensions, needs.no_three_on_a_line)
"""What CLRS-Text itself does not keep to when it shortens decimals."""


class PromptError(ValueError):
    """What is wrong with a prompt, and what was needed."""


class Problem(NamedTuple):
    task: Task
    nodes: int
    traces: bool
    """Does the prompt ask for the trace?"""
    registers: dict[str, np.ndarray]
    """What defines the problem: the features of `Task.problem`."""

    def solved(self) -> Batch:
        """The batch of this one problem, with what the reference algorithm does on it."""
        return trace_problems(self.task, self.nodes, [self.registers])


def parse(prompt: str) -> Problem:
    """The problem that a prompt states; raises PromptError if it states none."""
    lines = prompt.split("\n")
    if len(lines) != 4 or lines[3]:
        raise PromptError(
            f"prompt: got {len(lines)} lines, needed three that end in a line break: the task, its "
            f"inputs, and what is asked for, such as {_EXAMPLE!r}"
        )
    name = lines[0].removesuffix(":")
    first = f"prompt: the first line is {short(lines[0])}, needed a task and a colon"
    if lines[0] == name:
        raise PromptError(f"{first}, such as bfs:")
    try:
        task = get(name)
    except ValueError as error:
        raise PromptError(f"{first}; {error}") from None
    traces = lines[2].startswith("trace | ")
    layout = layout_of(task, traces)
    asked = ", ".join(layout.asked)
    asked = f"({asked})" if layout.in_parentheses else asked
    needed = f"trace | {asked}:" if traces else f"{asked}:"
    if lines[2] != needed:
        raise PromptError(
            f"prompt: the last line is {short(lines[2])}, needed {needed!r} for {name}"
        )
    arrays = _read_inputs(task, layout, lines[1])
    nodes = _nodes(task, layout, arrays)
    registers = {
        f.name: arrays[f.name].astype(f.register_dtype).reshape(f.register_shape(nodes))
        for f in layout.inputs
        if f.name in task.problem
    }
    labels = range(nodes)
    for complaint in complaints(task, registers | {"labels": labels}, _MADE_BY_TRUNCATION):
        raise PromptError(f"prompt: {complaint}, for {name}")
    return Problem(task, nodes, traces, registers)


def _read_inputs(task: Task, layout: Layout, line: str) -> dict[str, np.ndarray]:
    """The arrays of the line `name: value, name: value, …`."""
    rest, arrays = line, {}
    for number, feature in enumerate(layout.inputs):
        start = f"{', ' if number else ''}{feature.name}: "
        axes = len(written_shape(feature, 2))
        match = _VALUE[axes].match(rest, len(start)) if rest.startswith(start) else None
        if match is None:
            form = ("a number", "a row such as [1 0 2]", "rows such as [[1 0], [0 1]]")[axes]
            raise PromptError(
                f"prompt: got {short(rest)}, needed {start + '…'!r} with {form}, for {task.name}"
            )
        arrays[feature.name] = _numbers(match[0], axes, feature)
        rest = rest[match.end() :]
    if layout.trace and rest.startswith(f", {_INITIAL_TRACE}: "):
        rest = ""
    elif layout.trace:
        raise PromptError(f"prompt: got {short(rest)}, needed ', {_INITIAL_TRACE}: …' as asked for")
    if rest:
        raise PromptError(f"prompt: got {short(rest)} after the inputs of {task.name}, needed none")
    return arrays


def _numbers(text: str, axes: int, feature: Feature) -> np.ndarray:
    rows = text.strip("[]").split("], [")
    values = [[float(number) for number in row.split(" ")] for row in rows]
    if len({len(row) for row in values}) > 1:
        lengths = sorted({len(row) for row in values})
        raise PromptError(
            f"prompt: {feature.name} has rows of lengths {lengths}, needed one length"
        )
    array = np.array(values).reshape((-1, len(values[0]))[2 - axes :] if axes else ())
    if not is_real(feature) and (array != np.round(array)).any():
        raise PromptError(f"prompt: {feature.name} is {short(text)}, needed whole numbers")
    return array


def _nodes(task: Task, layout: Layout, arrays: dict[str, np.ndarray]) -> int:
    """The number of nodes, the same in all arrays; and all values within what the kinds allow."""
    sizes = {f.name: n for f in layout.inputs if written_shape(f, 2) for n in arrays[f.name].shape}
    if len(set(sizes.values())) > 1 or any(len(set(a.shape)) > 1 for a in arrays.values()):
        shapes = ", ".join(f"{name} {list(a.shape)}" for name, a in arrays.items() if a.ndim)
        raise PromptError(f"prompt: got arrays of the shapes {shapes}, needed one number of nodes")
    nodes = next(iter(sizes.values()))
    least = task.nodes(task.smallest, {})
    if nodes < least:
        raise PromptError(f"prompt: got {nodes} nodes, needed at least {least} for {task.name}")
    for feature in task.at(Stage.INPUT):
        if feature.name in arrays and feature.kind is not Kind.SCALAR:
            most = _most(feature, nodes)
            array = arrays[feature.name]
            if array.min() < 0 or array.max() > most:
                raise PromptError(
                    f"prompt: {feature.name} holds {array.min():g} to {array.max():g}, "
                    f"needed numbers from 0 to {most}"
                )
    return nodes


def _most(feature: Feature, nodes: int) -> int:
    if feature.kind is Kind.MASK:
        return 1
    return feature.classes - 1 if feature.kind is Kind.CATEGORICAL else nodes - 1
