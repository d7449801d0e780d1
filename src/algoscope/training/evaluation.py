"""What a finished ensemble can do: scores on the test split, on fresh and on seen problems.

Scored are the weights that were best on validation and the last ones, as lists over seeds: those
that the run keeps first, the others below their name. `test` is the canonical split of CLRS-30
(size 64, even positions), in which hints that never change are inputs if they were in training; at
another size (`test_size`, or that of the network's pre-attention bias, which has but one) the same
recipe and seed; the results say at which. `seen` are problems that were learnt from, `fresh` are
others of the same kind: what lies between the two is memory. Both have the teacher's answers, where
one is named.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import numpy as np

from algoscope import progress, tasks
from algoscope.tasks import Batch, Task
from algoscope.tasks.sampling import check_memory
from algoscope.tasks.transforms import (
    PREDECESSOR,
    with_permutations_as_pointers,
    with_predecessors_as_inputs,
)
from algoscope.training.compact import compact
from algoscope.training.config import TrainingConfig
from algoscope.training.learning import over_seeds, scores_on
from algoscope.training.model import Layout, Vectors
from algoscope.training.plan import Placement, TrainingPlan
from algoscope.training.pool import TaskPlan, memory_problems

_TEST_SEED = 3
_TEST_SAMPLES = 32


def check_test(config: TrainingConfig, free: float | None = None) -> None:
    """Refuses problems for the test that do not fit into memory, before any training."""
    if (size := _test_size(config)) is None or not config.scored_on:
        return
    for task in map(tasks.get, config.tasks):
        check_memory(task, {size: _test_count(task)}, "take a smaller test_size", free)


def _test_size(config: TrainingConfig) -> int | None:
    """None for that of the canonical split."""
    return config.test_size or config.network.attention_bias


def _test_count(task: Task) -> int:
    return _TEST_SAMPLES * task.evaluation_multiplier


def problems_for_test(config: TrainingConfig, plan: TaskPlan) -> Batch:
    size = _test_size(config)
    if size is None:
        batch = tasks.split(plan.task, "test")
    else:
        count = _test_count(tasks.get(plan.task))
        batch = tasks.sample(plan.task, size, count, _TEST_SEED)
    if PREDECESSOR in plan.features:
        batch = with_predecessors_as_inputs(batch)
    if config.recipe.permutations == "pointers":
        batch = with_permutations_as_pointers(batch)
    return batch


def evaluate(
    plan: TrainingPlan, kept: Vectors, others: Mapping[str, Vectors] | None = None
) -> dict[str, Any]:
    """Scores by set, task and output, each a list over seeds, and what the sets are; of other
    weights below their names."""
    config = plan.config
    results: dict[str, Any] = {"test": {}, "fresh": {}, "seen": {}, "test_set": {}}
    scored: list[tuple[dict[str, Any], Vectors]] = [(results, kept)]
    for name, weights in (others or {}).items():
        results[name] = {"test": {}, "fresh": {}, "seen": {}}
        scored.append((results[name], weights))
    for task in progress.over(plan.tasks if config.scored_on else (), "scoring"):
        test = problems_for_test(config, task)
        sets = {"test": compact(test), **memory_problems(config, task.task)}
        for name in config.scored_on:
            for part, weights in scored:
                scores = _scores(plan.layout, task.task, plan.placement, weights, sets[name])
                part[name][task.task] = {k: np.asarray(v).tolist() for k, v in scores.items()}
        split = _split(config)
        described = {"nodes": test.nodes, "samples": len(test), "split": split}
        results["test_set"][task.task] = described
    return results


def _split(config: TrainingConfig) -> str:
    if config.test_size is not None:
        return "the size asked for"
    bias = config.network.attention_bias
    return "canonical" if bias is None else "size of the network's pre-attention bias"


@partial(jax.jit, static_argnums=(0, 1, 2))
def _scores(layout: Layout, task: str, placement: Placement, weights: Vectors, batch: Batch):
    return over_seeds(partial(scores_on, layout, task), weights, batch, *placement)
