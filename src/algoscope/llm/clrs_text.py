"""CLRS-Text as tasks for language models, with the traces of rival algorithms for each problem.

Where several of the thirty algorithms solve the same problems (sorting, shortest paths, spanning
trees, …) each item carries the trace of each, so that a written trace can be told from the others.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope import progress, statistics, tasks
from algoscope.tasks import text
from algoscope.tasks.text import Example

RIVALS = (
    ("insertion_sort", "bubble_sort", "heapsort", "quicksort"),
    ("dijkstra", "bellman_ford"),
    ("mst_kruskal", "mst_prim"),
    ("naive_string_matcher", "kmp_matcher"),
    ("graham_scan", "jarvis_march"),
)


class ClrsItem(NamedTuple):
    example: Example
    """The prompt and its answer, with or without the trace."""
    candidates: dict[str, Example]
    """The example of each algorithm that solves the same problem, with its trace."""


def clrs_items(
    name: str, size: int = 8, count: int = 32, seed: int = 7, traces: bool = False
) -> list[ClrsItem]:
    """Problems of one of the thirty tasks as text; equal to dm-clrs's for the same seed."""
    task = tasks.get(name)
    problems = tasks.sample(name, size, count, seed)
    traced = {name: _examples(problems, True)}
    for rival in next((group for group in RIVALS if name in group), ()):
        batch = tasks.sample(rival, size, count, seed)
        if rival != name and _same_problems(task.problem, problems, batch):
            traced[rival] = _examples(batch, True)
    return [
        ClrsItem(example, {rival: examples[number] for rival, examples in traced.items()})
        for number, example in enumerate(_examples(problems, traces))
    ]


def _examples(batch: tasks.Batch, traces: bool) -> list[Example]:
    return [text.write(batch, number, traces) for number in range(len(batch))]


def _same_problems(names: tuple[str, ...], a: tasks.Batch, b: tasks.Batch) -> bool:
    return all(
        name in b.inputs and np.array_equal(a.inputs[name], b.inputs[name]) for name in names
    )


class ClrsScores(NamedTuple):
    clrs: statistics.Estimate
    """The share of the answer that is right: TransNAR's CLRS score."""
    shape: statistics.Estimate
    parse: statistics.Estimate
    exact: statistics.Estimate
    traces: dict[str, statistics.Estimate]
    """How much of each candidate's trace is written; empty if no trace was asked for."""
    texts: list[str]


def study_clrs_text(subject: Any, items: Sequence[ClrsItem], tokens: int = 256) -> ClrsScores:
    """What the subject (`subjects.Subject`) writes on each item, scored."""
    texts = [
        subject.generate(item.example.prompt, tokens) for item in progress.over(items, "writing")
    ]
    scores = [text.score(i.example, t) for i, t in zip(items, texts, strict=True)]
    written = [trace_scores(i, t) for i, t in zip(items, texts, strict=True) if i.example.traces]

    def mean(values: Iterable[float]) -> statistics.Estimate:
        return statistics.bootstrap(np.array(list(values), float))

    clrs, shape, parse, exact = (
        mean(getattr(s, name) for s in scores) for name in ("clrs", "shape", "parse", "exact")
    )
    traces = {name: mean(w[name] for w in written) for name in (written[0] if written else ())}
    return ClrsScores(clrs, shape, parse, exact, traces, texts)


def trace_scores(item: ClrsItem, written: str) -> dict[str, float]:
    """How much of each candidate's trace a text has in its place, from 0 to 1."""
    return {name: text.score(trace, written).trace for name, trace in item.candidates.items()}
