"""The way back from text to numbers.

A text is read up to its first empty line. Spaces, commas and line ends separate its *elements*; its
*shape* is how many there are and how the brackets of the format (and parentheses, where the format
has them) enclose them. A *legible* element is a number as the format writes it: whole for all tasks
but those that sort. No text is an error: one that nobody would call an answer has the wrong shape.
"""

import math
import re
from typing import NamedTuple

import numpy as np

from algoscope.tasks import registry
from algoscope.tasks.options import integer
from algoscope.tasks.task import Task
from algoscope.tasks.text.prompt_layout import is_real, layout_of, written_shape

_WHOLE = re.compile(r"-?[0-9]+")
_REAL = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
_BAR = "|"
"""Between the trace and the answer."""


class Reading(NamedTuple):
    """What a text says. All numbers are float64, NaN where an element is illegible."""

    arrays: dict[str, np.ndarray]
    """The answer, by feature: [], [nodes] or [nodes, nodes]; empty if its shape is wrong.

    The numbers are those written: an index for a mask_one feature, classes for a categorical one
    (-1 if masked), and for a permutation the keys in its order.
    """
    trace: dict[str, np.ndarray]
    """The steps between the first and the last, by hint: [steps, …]; empty if a shape is wrong."""
    shape_score: float
    """1 if the answer has the right shape, else 0."""
    trace_shape_score: float
    """1 if every step of the trace has the right shape (so 1 if there is no trace), else 0."""
    parse_score: float
    """1 if there is no illicit character, so that every element is legible, else 0."""


def read(task: Task | str, text: str, nodes: int, traces: bool = False) -> Reading:
    """Reads an answer to a problem of `nodes` nodes, with its trace if one was asked for."""
    layout = layout_of(registry.get(task), traces)
    nodes = integer(1)("nodes", nodes, nodes)
    number = _REAL if any(is_real(f) for f in layout.answer) else _WHOLE
    answer_form = {f.name: written_shape(f, nodes) for f in layout.answer}
    step_form = {hint: written_shape(f, nodes) for hint, f in layout.trace}

    before, bar, last = "", _BAR, first_paragraph(text)
    if layout.trace:
        before, bar, last = last.rpartition(_BAR)
    answer = _scan(last, answer_form, layout.in_parentheses, number)
    trace = _scan(before, step_form, layout.in_parentheses, number)
    fits = answer.steps == 1
    trace_fits = trace.steps is not None and bar == _BAR
    return Reading(
        {name: array[0] for name, array in answer.arrays.items()} if fits else {},
        trace.arrays if trace_fits else {},
        float(fits),
        float(trace_fits),
        float(answer.legible and trace.legible),
    )


def first_paragraph(text: str) -> str:
    """The text up to its first empty line, which ends an answer, without white space around it."""
    return text.lstrip(" \n").partition("\n\n")[0].rstrip(" \n")


_Form = dict[str, tuple[int, ...]]
"""What a step, or the answer, consists of: features and the shapes in which they are written."""


class _Scan(NamedTuple):
    """A text read as steps; the answer is one step."""

    steps: int | None
    """None if the shape is wrong."""
    arrays: dict[str, np.ndarray]
    """Each feature: [steps, …]; empty if the shape is wrong."""
    legible: bool


def _scan(text: str, form: _Form, in_parentheses: bool, number: re.Pattern) -> _Scan:
    step_shape = "".join(map(_shape_in_text, form.values()))
    if in_parentheses:
        step_shape = f"({step_shape})"
    brackets = set(step_shape) - {_ELEMENT}
    for bracket in brackets:
        text = text.replace(bracket, f" {bracket} ")
    tokens = [token for token in re.split("[ ,\n]", text) if token]
    elements = [token for token in tokens if token not in brackets]
    numbers = np.array([float(e) if number.fullmatch(e) else np.nan for e in elements])
    legible = not np.isnan(numbers).any()

    width = step_shape.count(_ELEMENT)
    steps = len(elements) // max(1, width)
    shape = "".join(token if token in brackets else _ELEMENT for token in tokens)
    if shape != step_shape * steps:
        return _Scan(None, {}, legible)
    return _Scan(steps, _split(numbers.reshape(steps, width), form), legible)


_ELEMENT = "."
"""Stands for an element in a shape: `[...]` is a row of three."""


def _shape_in_text(shape: tuple[int, ...]) -> str:
    return f"[{_shape_in_text(shape[1:]) * shape[0]}]" if shape else _ELEMENT


def _split(numbers: np.ndarray, form: _Form) -> dict[str, np.ndarray]:
    """numbers [steps, elements of a step] -> each feature: [steps, …]"""
    arrays = {}
    start = 0
    for name, shape in form.items():
        end = start + math.prod(shape)
        arrays[name] = numbers[:, start:end].reshape(len(numbers), *shape)
        start = end
    return arrays
