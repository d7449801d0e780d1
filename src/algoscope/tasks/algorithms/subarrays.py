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
    pos        input   node   scalar    # the node's position, which names it
    key        input   node   scalar    # the number of the node
    start      output  node   mask_one  # the first node of the subarray
    end        output  node   mask_one  # the last
    pred_h     hint    node   pointer   # the node before
    best_low   hint    node   mask_one  # the best one so far begins here
    best_high  hint    node   mask_one  # and ends here
    best_sum   hint    graph  scalar    # its sum
    i          hint    node   mask_one  # the present one begins here
    j          hint    node   mask_one  # and ends here
    sum        hint    graph  scalar    # its sum
    """,
    draw_key,
    kadane,
    options={"low": Option(-1.0, number), "high": Option(1.0, number)},
    evaluation_multiplier=32,
    fixed_predecessors=True,
)
