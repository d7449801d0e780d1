"""Navigation and CLRS-Text as tasks of inspect_ai, which finds them here by the entry point:

inspect eval algoscope/navigation --model openai/gpt-4o -T count=100
"""

from inspect_ai import Task, task

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
    return harnesses.inspect_task(harnesses.rows(items), "algoscope_navigation")


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
    return harnesses.inspect_task(harnesses.clrs_rows(items), f"algoscope_{algorithm}")
