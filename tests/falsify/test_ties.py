"""Nobody is blamed for not knowing how a processor happens to sort equal numbers."""

import numpy as np
import pytest
from measures.conftest import interpreted

from algoscope import tasks
from algoscope.falsify import falsify
from algoscope.falsify.disagreement import compare
from algoscope.falsify.families import SAMPLER, traced
from algoscope.falsify.padding import in_parts
from algoscope.falsify.ties import hangs_on_sorting

TASK = tasks.get("activity_selector")


def activities(f: list[float]) -> dict[str, np.ndarray]:
    """All start before any ends, so that the first in order is the one that is selected."""
    return {"s": np.zeros(len(f)), "f": np.array(f)}


@pytest.mark.parametrize("nodes", [2, 4, 33, 64])
def test_a_trace_hangs_on_sorting_where_numpy_does_not_keep_ties_in_order(nodes):
    """Whether it does depends on the processor and the size."""
    ties, distinct = [0.5] * nodes, list(np.linspace(0.9, 0.1, nodes))
    batch = traced(TASK, [activities(ties), activities(distinct)])
    kept = np.array_equal(np.argsort(np.array(ties)), np.arange(nodes))
    assert hangs_on_sorting(batch).tolist() == [not kept, False]


def test_no_problem_of_a_task_that_sorts_nothing_hangs_on_it():
    assert not hangs_on_sorting(tasks.sample("bfs", 8, 16, seed=0)).any()


def test_disagreements_on_such_problems_count_neither_for_nor_against(monkeypatch):
    """As if the processor sorted ties otherwise: every other problem is one that it decides."""
    batch = tasks.sample(TASK, 8, 8, seed=0)

    def wrong(batch):
        return {"selected": 1 - batch.outputs["selected"]}

    def every_other(some):
        assert len(some) == len(batch)
        return np.arange(len(some)) % 2 == 0

    _, counted = in_parts(batch, lambda part: compare(wrong, part))
    assert counted.all()
    monkeypatch.setattr("algoscope.falsify.padding.hangs_on_sorting", every_other)
    _, counted = in_parts(batch, lambda part: compare(wrong, part))
    assert counted.tolist() == [False, True] * 4


@pytest.mark.parametrize("name", ["activity_selector", "task_scheduling"])
def test_exact_programs_that_keep_ties_in_order_do_not_disagree(name):
    result = falsify(interpreted(name), name, problems=300, sizes=(2, 4, 8))
    assert result.wrong == 0
    assert any(family.family != SAMPLER for family in result.families)
