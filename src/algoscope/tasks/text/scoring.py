"""How good a text is as an answer: the scores of TransNAR (Bounsi et al., 2024), and of traces."""

from typing import NamedTuple

import numpy as np

from algoscope.tasks.text.parse_answer import first_paragraph, read
from algoscope.tasks.text.writing import Example


class Scores(NamedTuple):
    """Each from 0 to 1."""

    shape: float
    """1 if the answer has the right shape, else 0."""
    parse: float
    """1 if there is no illicit character, so that every element is legible, else 0."""
    clrs: float
    """The share of the right answer's elements that the text has in their place, among all features
    of the answer; 0 if the shape is 0."""
    trace_shape: float
    """1 if every step of the trace has the right shape (so 1 if there is no trace), else 0."""
    trace: float
    """The share of equal elements in the trace, among as many steps as the longer of the two traces
    has; 0 if a step has the wrong shape, 1 if neither trace has a step."""
    exact: float
    """1 if the text is the right one character for character, up to its first empty line and white
    space around it, else 0."""


def score(example: Example, text: str) -> Scores:
    """How good `text` is as an answer to the example's prompt."""
    right = read(example.task, example.answer, example.nodes, example.traces)
    if not right.shape_score or not right.trace_shape_score:
        raise ValueError(
            f"example: got the answer {example.answer!r}, needed one of the shape that "
            f"{example.task} has with {example.nodes} nodes"
        )
    answer = read(example.task, text, example.nodes, example.traces)
    return Scores(
        answer.shape_score,
        answer.parse_score,
        _agreement(_as_step(right.arrays), _as_step(answer.arrays)) if answer.shape_score else 0.0,
        answer.trace_shape_score,
        _agreement(right.trace, answer.trace) if answer.trace_shape_score else 0.0,
        float(first_paragraph(text) == first_paragraph(example.answer)),
    )


def _as_step(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array[None] for name, array in arrays.items()}


def _agreement(right: dict[str, np.ndarray], answer: dict[str, np.ndarray]) -> float:
    """The share of equal elements; both by feature: [steps, …]."""
    equal = total = 0
    for name, array in right.items():
        common = min(len(array), len(answer[name]))
        equal += int(np.sum(array[:common] == answer[name][:common]))
        total += max(array.size, answer[name].size)
    return equal / total if total else 1.0
