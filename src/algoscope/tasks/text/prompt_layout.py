"""Which features of a task stand where in its text.

Without a trace, the prompt holds the inputs and asks for the outputs. With one, the prompt ends
with the first step of some hints and asks for their other steps and the answer. Those hints are
the ones that become the outputs (`pi_h` becomes `pi`), but for the exceptions that dm-clrs makes.
"""

import dataclasses
import functools
from typing import NamedTuple

from algoscope.tasks.features import Feature, Kind, Location, Stage
from algoscope.tasks.task import Task

_ANSWERED_BY_HINTS = {
    "binary_search": ("low", "high"),
    "find_maximum_subarray_kadane": ("best_low", "best_high"),
    "quickselect": ("pivot",),
}
"""Hints that are traced, and whose last step is the answer."""

_TRACED_BY_HINT = {"naive_string_matcher": "s", "kmp_matcher": "s"}
"""A hint that is traced and asked for, where the answer is still the output."""

_IN_PARENTHESES = ("binary_search", "find_maximum_subarray_kadane")


class Traced(NamedTuple):
    hint: str
    written_as: Feature
    """The hint itself, or the output that it becomes."""


@dataclasses.dataclass(frozen=True)
class Layout:
    inputs: tuple[Feature, ...]
    asked: tuple[str, ...]
    """The names that the prompt asks for."""
    answer: tuple[Feature, ...]
    """What the answer consists of: outputs, or hints as they are at the last step."""
    trace: tuple[Traced, ...] = ()
    """What every step of the trace consists of; empty without a trace."""
    in_parentheses: bool = False
    """Do parentheses enclose every step, the answer and the names asked for?"""


@functools.cache
def layout_of(task: Task, traces: bool) -> Layout:
    """The layout of a task's text; without a trace too if no hint of the task becomes an output."""
    inputs = tuple(f for f in task.at(Stage.INPUT) if not _is_redundant(f, task))
    outputs = task.at(Stage.OUTPUT)
    plain = Layout(inputs, tuple(f.name for f in outputs), outputs)
    if not traces:
        return plain
    hints = {f.name: f for f in task.at(Stage.HINT)}
    if task.name in _ANSWERED_BY_HINTS:
        asked = _ANSWERED_BY_HINTS[task.name]
        answer = tuple(hints[name] for name in asked)
        trace = tuple(Traced(f.name, f) for f in answer)
        return Layout(inputs, asked, answer, trace, task.name in _IN_PARENTHESES)
    if task.name in _TRACED_BY_HINT:
        name = _TRACED_BY_HINT[task.name]
        return Layout(inputs, (name,), outputs, (Traced(name, hints[name]),))
    become = {f"{f.name}_h": f for f in outputs}
    trace = tuple(Traced(name, become[name]) for name in hints if name in become)
    return dataclasses.replace(plain, trace=trace)


def written_shape(feature: Feature, nodes: int) -> tuple[int, ...]:
    """(): one number; (nodes,): a row in brackets; (nodes, nodes): a row of such rows."""
    if feature.location is Location.GRAPH or feature.kind is Kind.MASK_ONE:
        return ()
    return feature.register_shape(nodes)


def is_real(feature: Feature) -> bool:
    """Is the feature written in numbers that need not be whole?"""
    return feature.kind is Kind.PERMUTATION or (feature.kind is Kind.SCALAR and not feature.whole)


def _is_redundant(feature: Feature, task: Task) -> bool:
    """Positions only repeat the order of the nodes, and `adj` which weights are not 0."""
    return feature.name == "pos" or (
        feature.name == "adj" and any(f.name == "A" for f in task.features)
    )
