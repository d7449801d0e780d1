"""Navigation and CLRS-Text as tasks of inspect_ai, which finds them here by the entry point:

inspect eval algoscope/navigation --model openai/gpt-4o -T count=100
"""

from collections.abc import Sequence
from typing import Any

from inspect_ai import Task, scorer, solver, task
from inspect_ai.dataset import MemoryDataset, Sample

from algoscope.llm import harnesses
from algoscope.llm.clrs_text import clrs_items
from algoscope.llm.prompts import navigation as items_of


@task
def navigation(
    count: int = 200,
    family: str = "random_tree",
    form: str = "rooms",
    question: str = "reach",
    seed: int = 0,
) -> Task:
    """Questions about mazes, half of which have a way to the goal."""
    items = items_of(count, families=(family,), form=form, question=question, seed=seed)
    return _task(harnesses.rows(items), "algoscope_navigation")


@task
def clrs_text(
    algorithm: str = "insertion_sort",
    size: int = 8,
    count: int = 32,
    traces: bool = False,
    seed: int = 7,
) -> Task:
    """Problems of one algorithm, as CLRS-Text writes them."""
    items = clrs_items(algorithm, size, count, seed, traces)
    return _task(harnesses.clrs_rows(items), f"algoscope_{algorithm}")


def _task(rows: Sequence[dict[str, Any]], name: str) -> Task:
    """Generate, then match the answer at the start or the end."""
    samples = [
        Sample(input=row.pop("prompt"), target=row.pop("answer"), metadata=row) for row in rows
    ]
    metrics: list[Any] = [scorer.accuracy(), scorer.stderr()]
    if all("reachable" in row for row in rows):
        metrics.append(scorer.grouped(scorer.accuracy(), "reachable"))
    return Task(
        name=name,
        dataset=MemoryDataset(samples, name=name),
        solver=solver.generate(),
        scorer=scorer.match(location="any"),
        metrics=metrics,
    )
