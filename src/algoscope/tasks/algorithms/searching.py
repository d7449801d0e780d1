"""Searching: the minimum, a place in a sorted sequence, the median."""

import numpy as np

from algoscope.tasks import mersenne, needs
from algoscope.tasks.algorithms.sorting import partition
from algoscope.tasks.compilation import compiled, record
from algoscope.tasks.options import RANGE
from algoscope.tasks.sequences import chain, draw_key
from algoscope.tasks.task import Task


@compiled
def find_minimum(trace, key, pred_h, min_h, i):
    """Minimum, a comparison a step."""
    chain(pred_h)
    record(trace)
    for node in range(1, key.shape[0]):
        i[0] = node
        if key[node] < key[min_h[0]]:
            min_h[0] = node
        record(trace)


@compiled
def halve_range(trace, key, target, pred_h, low, high, mid, return_):
    """Binary search, a halving a step: the first key not below the target, or else the last key."""
    chain(pred_h)
    high[0] = key.shape[0] - 1
    mid[0] = high[0] // 2
    record(trace)
    while low[0] < high[0]:
        if target[0] <= key[mid[0]]:
            high[0] = mid[0]
        else:
            low[0] = mid[0] + 1
        mid[0] = (low[0] + high[0]) // 2
        record(trace)
    return_[0] = high[0]


@compiled
def select_median(trace, key, pred_h, p, r, i, j, i_rank, target, pivot, median):
    """Quickselect, a comparison a step (Hoare, 1961)."""
    n = key.shape[0]
    order = np.arange(n)
    low, high, rank = 0, n - 1, n // 2
    while True:
        target[0] = rank / n
        middle = partition(trace, key, order, low, high, pred_h, p, r, i, j, i_rank, pivot)
        if rank < middle - low:
            high = middle - 1
        elif rank > middle - low:
            rank -= middle - low + 1
            low = middle + 1
        else:
            median[0] = order[middle]
            return


@compiled
def draw_sorted_keys_and_target(stream, low, high, key, target):
    mersenne.uniform(stream, low, high, key)
    key.sort()
    mersenne.uniform(stream, low, high, target)


minimum = Task(
    "minimum",
    """
    pos     input   node  scalar    # the node's position, which names it
    key     input   node  scalar    # the number of the node
    min     output  node  mask_one  # the node with the smallest key
    pred_h  hint    node  pointer   # the node before
    min_h   hint    node  mask_one  # the smallest so far
    i       hint    node  mask_one  # the node in work
    """,
    draw_key,
    find_minimum,
    options=RANGE,
    evaluation_multiplier=64,
    fixed_predecessors=True,
)

binary_search = Task(
    "binary_search",
    """
    pos     input   node   scalar    # the node's position, which names it
    key     input   node   scalar    # the numbers, in rising order
    target  input   graph  scalar    # the number looked for
    return  output  node   mask_one  # the first key not below the target
    pred_h  hint    node   pointer   # the node before
    low     hint    node   mask_one  # the range begins here
    high    hint    node   mask_one  # and ends here
    mid     hint    node   mask_one  # its middle
    """,
    draw_sorted_keys_and_target,
    halve_range,
    options=RANGE,
    evaluation_multiplier=64,
    needs=(needs.sorted_keys,),
    fixed_predecessors=True,
)

quickselect = Task(
    "quickselect",
    """
    pos     input   node   scalar    # the node's position, which names it
    key     input   node   scalar    # the number of the node
    median  output  node   mask_one  # the node with the median key
    pred_h  hint    node   pointer   # the node before
    p       hint    node   mask_one  # the range begins here
    r       hint    node   mask_one  # and ends here
    i       hint    node   mask_one  # border of the smaller keys
    j       hint    node   mask_one  # the node in work
    i_rank  hint    graph  scalar    # rank of the border, over n
    target  hint    graph  scalar    # rank looked for, over n
    pivot   hint    node   mask_one  # what keys are compared with
    """,
    draw_key,
    select_median,
    options=RANGE,
    evaluation_multiplier=64,
)
