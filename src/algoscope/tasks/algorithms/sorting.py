"""Sorting.

The keys stay where they are; what is sorted is `order`, the nodes from left to right.
"""

import numpy as np

from algoscope.tasks.compilation import compiled, record
from algoscope.tasks.graphs import start_at_self
from algoscope.tasks.options import RANGE
from algoscope.tasks.sequences import chain, chain_in_order, draw_key
from algoscope.tasks.task import Task


@compiled
def _swap(order, a, b):
    order[a], order[b] = order[b], order[a]


@compiled
def insert_each(trace, key, pred_h, i, j):
    """Insertion sort, an insertion a step."""
    chain(pred_h)
    record(trace)
    n = key.shape[0]
    order = np.arange(n)
    for node in range(1, n):
        place = node
        while place > 0 and key[order[place - 1]] > key[node]:
            order[place] = order[place - 1]
            place -= 1
        i[0] = order[place]
        j[0] = node
        order[place] = node
        chain_in_order(order, pred_h)
        record(trace)


@compiled
def bubble_up(trace, key, pred_h, i, j):
    """Bubble sort, a comparison a step."""
    chain(pred_h)
    record(trace)
    n = key.shape[0]
    order = np.arange(n)
    for settled in range(n - 1):
        for place in range(n - 1, settled, -1):
            if key[order[place]] < key[order[place - 1]]:
                _swap(order, place, place - 1)
            i[0] = order[settled]
            j[0] = order[place]
            chain_in_order(order, pred_h)
            record(trace)


@compiled
def _show_heap(order, size, pred_h, parent, heap_size):
    chain_in_order(order, pred_h)
    start_at_self(parent)
    for place in range(1, size):
        parent[order[place]] = order[(place - 1) // 2]
    heap_size[0] = order[size - 1]


@compiled
def _max_heapify(trace, key, order, top, size, outer, pred_h, parent, i, j, largest, heap_size):
    """Lets the node at place `top` sink until no child is larger.

    `outer` is the place at which the calling loop is.
    """
    place = top
    while True:
        winner = place
        for child in (2 * place + 1, 2 * place + 2):
            if child < size and key[order[child]] > key[order[winner]]:
                winner = child
        _swap(order, place, winner)
        _show_heap(order, size, pred_h, parent, heap_size)
        i[0] = order[outer]
        j[0] = order[place]
        largest[0] = order[winner]
        record(trace)
        if winner == place:
            return
        place = winner


@compiled
def sort_by_heap(trace, key, pred_h, parent, i, j, largest, heap_size, phase):
    """Heapsort, an exchange a step (Williams, 1964)."""
    n = key.shape[0]
    order = np.arange(n)
    _show_heap(order, n, pred_h, parent, heap_size)
    i[0] = j[0] = largest[0] = n - 1
    record(trace)
    for top in range(n - 1, -1, -1):
        _max_heapify(trace, key, order, top, n, top, pred_h, parent, i, j, largest, heap_size)
    for last in range(n - 1, 0, -1):
        _swap(order, 0, last)
        _show_heap(order, last, pred_h, parent, heap_size)
        i[0] = order[0]
        j[0] = order[last]
        largest[0] = 0  # this step compares nothing; dm-clrs marks node 0
        phase[0] = 1
        record(trace)
        phase[0] = 2
        _max_heapify(trace, key, order, 0, last, last, pred_h, parent, i, j, largest, heap_size)


@compiled
def _show_partition(order, low, high, border, place, pred_h, p, r, i, j):
    chain_in_order(order, pred_h)
    p[0] = order[low]
    r[0] = order[high]
    i[0] = order[border]
    j[0] = order[place]


@compiled
def partition(trace, key, order, low, high, pred_h, p, r, i, j, i_rank, pivot):
    """Parts the places from low to high at the key of the last one; returns where that key went.

    A comparison is a step, and the last exchange another.
    """
    n = key.shape[0]
    pivot[0] = order[high]
    border = low
    for place in range(low, high):
        if key[order[place]] <= key[pivot[0]]:
            _swap(order, border, place)
            border += 1
        _show_partition(order, low, high, border, place, pred_h, p, r, i, j)
        i_rank[0] = border / n
        record(trace)
    _swap(order, border, high)
    _show_partition(order, low, high, border, high, pred_h, p, r, i, j)
    i_rank[0] = (border - low) / n
    record(trace)
    return border


@compiled
def sort_by_parting(trace, key, pred_h, p, r, i, j):
    """Quicksort, a comparison a step (Hoare, 1962)."""
    n = key.shape[0]
    order = np.arange(n)
    unrecorded_rank = np.empty(1)
    unrecorded_pivot = np.empty(1, np.int32)
    ranges = [(0, n - 1)]
    while ranges:
        low, high = ranges.pop()
        if low < high:
            middle = partition(
                trace, key, order, low, high, pred_h, p, r, i, j, unrecorded_rank, unrecorded_pivot
            )
            ranges.append((middle + 1, high))
            ranges.append((low, middle - 1))


_INSERTION_OR_BUBBLE_SORT = """
    pos     input   node  scalar       # the node's position, which names it
    key     input   node  scalar       # the number of the node
    pred    output  node  permutation  # the node before in sorted order
    pred_h  hint    node  pointer      # the node before, in the order so far
    i       hint    node  mask_one     # where the sorted part ends, or j went
    j       hint    node  mask_one     # the node in work
    """

insertion_sort = Task(
    "insertion_sort", _INSERTION_OR_BUBBLE_SORT, draw_key, insert_each, options=RANGE
)

bubble_sort = Task("bubble_sort", _INSERTION_OR_BUBBLE_SORT, draw_key, bubble_up, options=RANGE)

heapsort = Task(
    "heapsort",
    """
    pos        input   node   scalar          # the node's position, which names it
    key        input   node   scalar          # the number of the node
    pred       output  node   permutation     # the node before in sorted order
    pred_h     hint    node   pointer         # the node before, in the order so far
    parent     hint    node   pointer         # the parent in the heap
    i          hint    node   mask_one        # where the loop is
    j          hint    node   mask_one        # the node that sinks
    largest    hint    node   mask_one        # the largest of it and its children
    heap_size  hint    node   mask_one        # the last node of the heap
    phase      hint    graph  categorical  3  # building, exchange or sinking
    """,
    draw_key,
    sort_by_heap,
    options=RANGE,
)

quicksort = Task(
    "quicksort",
    """
    pos     input   node  scalar       # the node's position, which names it
    key     input   node  scalar       # the number of the node
    pred    output  node  permutation  # the node before in sorted order
    pred_h  hint    node  pointer      # the node before, in the order so far
    p       hint    node  mask_one     # the range begins here
    r       hint    node  mask_one     # and ends here
    i       hint    node  mask_one     # border of the smaller keys
    j       hint    node  mask_one     # the node in work
    """,
    draw_key,
    sort_by_parting,
    options=RANGE,
    smallest=2,
)
