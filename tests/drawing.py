"""Problems for property tests: random sizes from a task's smallest on, random seeds and options."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from algoscope import tasks
from algoscope.tasks.sampling import trace_problems

PROBABILITIES = st.one_of(
    st.sampled_from([0.0, 0.1, 0.3, 1.0]), st.lists(st.floats(0, 1), min_size=1, max_size=3)
)
DECIMALS = st.integers(1, 3)
"""For `truncate_decimals`: few decimals make equal values likely."""


class Sample(NamedTuple):
    """One sample of a batch; hints [steps, …] without padding."""

    inputs: dict[str, np.ndarray]
    hints: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]

    def last(self, hint: str) -> np.ndarray:
        return self.hints[hint][-1]


def samples_of(batch: tasks.Batch) -> list[Sample]:
    return [
        Sample(
            {name: array[b] for name, array in batch.inputs.items()},
            {name: array[b, :steps] for name, array in batch.hints.items()},
            {name: array[b] for name, array in batch.outputs.items()},
        )
        for b, steps in enumerate(batch.lengths)
    ]


@dataclasses.dataclass(frozen=True)
class Draw:
    """Arguments of `tasks.sample`, for hypothesis to print when a test fails."""

    task: str
    size: int
    seed: int
    options: dict[str, Any]

    def samples(self) -> list[Sample]:
        return samples_of(tasks.sample(self.task, self.size, 3, self.seed, **self.options))


def draws(task: str, largest: int = 12, **options: st.SearchStrategy) -> st.SearchStrategy[Draw]:
    """Draws of the task with any of the options given or left at their defaults."""
    return st.builds(
        Draw,
        st.just(task),
        st.integers(tasks.get(task).smallest, largest),
        st.integers(0, 2**32 - 1),
        st.fixed_dictionaries({}, optional=options),
    )


def trace(task: str, **problems: np.ndarray) -> list[Sample]:
    """The task's algorithm on given problems: each register that defines one, [count, …]."""
    count, nodes = next(iter(problems.values())).shape[:2]
    given = [{name: values[b] for name, values in problems.items()} for b in range(count)]
    return samples_of(trace_problems(tasks.get(task), nodes, given))
