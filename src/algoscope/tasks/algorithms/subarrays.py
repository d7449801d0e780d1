"""The subarray with the largest sum."""

from algoscope.tasks.compilation import compiled, record
from algoscope.tasks.options import Option, number
from algoscope.tasks.sequences import chain, draw_key
from algoscope.tasks.task import Task


@compiled
def kadane(trace, key, pred_h, best_low, best_high, best_sum, i, j, sum_, start, end):
    """Maximum subarray by Kadane's algorithm, an end a step (Bentley, 1984)."""
    chain(pred_h)
    best_sum[0] = sum_[0] = key[0]
    record(trace)
    for node in range(1, key.shape[0]):
        j[0] = node
        extended = sum_[0] + key[node]
        # Not `sum_[0] >= 0`: dm-clrs compares after rounding.
        if extended >= key[node]:
            sum_[0] = extended
        else:
            i[0] = node
            sum_[0] = key[node]
        if sum_[0] > best_sum[0]:
            best_low[0] = i[0]
            best_high[0] = node
            best_sum[0] = sum_[0]
        record(trace)
    start[0] = best_low[0]
    end[0] = best_high[0]


find_maximum_subarray_kadane = Task(
    "find_maximum_subarray_kadane",
    """
    pos key             input   node   scalar
    start end           output  node   mask_one
    pred_h              hint    node   pointer
    best_low best_high  hint    node   mask_one
    best_sum            hint    graph  scalar
    i j                 hint    node   mask_one
    sum                 hint    graph  scalar
    """,
    draw_key,
    kadane,
    options={"low": Option(-1.0, number), "high": Option(1.0, number)},
    evaluation_multiplier=32,
    fixed_predecessors=True,
)
