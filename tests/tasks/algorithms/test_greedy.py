"""Against exhaustive search, and against what each greedy choice promises."""

import itertools

import numpy as np
from drawing import DECIMALS, draws
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment


@given(draws("activity_selector", largest=8, low=st.floats(-5, 0), high=st.floats(1, 5)))
def test_activities_are_compatible_and_no_larger_set_is(draw):
    for sample in draw.samples():
        start, finish = sample.inputs["s"], sample.inputs["f"]
        apart = (finish[:, None] <= start) | (finish <= start[:, None])

        def compatible(nodes, apart=apart):
            return all(apart[a, b] for a, b in itertools.combinations(nodes, 2))

        selected = np.flatnonzero(sample.outputs["selected"])
        assert compatible(selected)
        larger = itertools.combinations(range(draw.size), len(selected) + 1)
        assert not any(map(compatible, larger))


@given(
    draws(
        "task_scheduling",
        low=st.floats(0, 1),
        high=st.floats(2, 5),
        max_deadline=st.integers(1, 20),
        truncate_decimals=DECIMALS,
    )
)
def test_a_task_is_scheduled_if_fewer_better_ones_are_than_its_deadline_allows(draw):
    for sample in draw.samples():
        deadline, value = sample.inputs["d"], sample.inputs["w"]
        selected = sample.outputs["selected"] == 1
        considered = np.argmax(sample.hints["i"][1:], axis=-1)
        assert sorted(considered) == list(range(draw.size))
        assert (np.diff(value[considered]) <= 0).all()
        for rank, node in enumerate(considered):
            assert selected[node] == (selected[considered[:rank]].sum() < deadline[node])
        assert deadline.min() >= 1
        assert deadline.max() <= draw.options.get("max_deadline", draw.size)


@given(draws("task_scheduling", largest=8))
def test_the_schedule_is_feasible_and_not_better_than_the_best(draw):
    for sample in draw.samples():
        deadline, value = sample.inputs["d"], sample.inputs["w"]
        selected = sample.outputs["selected"] == 1
        for time in range(1, draw.size + 1):
            assert (selected & (deadline <= time)).sum() <= time
        in_time = value[:, None] * (np.arange(draw.size) < deadline[:, None])
        best = in_time[linear_sum_assignment(in_time, maximize=True)].sum()
        assert value[selected].sum() <= best + 1e-12
