"""The canonical splits of CLRS-Text (Markeeva et al., 2024)."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from algoscope.errors import unknown_name
from algoscope.tasks.text.examples import stream
from algoscope.tasks.text.writing import Example

_TRAIN_SIZES = (4, 5, 10, 11, 12, 15, 19, 23, 28, 31)
_SMALLEST_VAL_SIZE = 4
_LARGEST = {
    "activity_selector": (31, 40), "articulation_points": (19, 19), "bellman_ford": (31, 32),
    "bfs": (31, 41), "binary_search": (31, 64), "bridges": (5, 7), "bubble_sort": (10, 11),
    "dag_shortest_paths": (19, 19), "dfs": (23, 20), "dijkstra": (28, 25),
    "find_maximum_subarray_kadane": (31, 64), "floyd_warshall": (10, 11), "graham_scan": (31, 31),
    "heapsort": (10, 11), "insertion_sort": (31, 25), "jarvis_march": (12, 13),
    "kmp_matcher": (31, 64), "lcs_length": (10, 12), "matrix_chain_order": (10, 12),
    "minimum": (31, 64), "mst_kruskal": (10, 10), "mst_prim": (28, 26),
    "naive_string_matcher": (31, 64), "optimal_bst": (10, 10), "quickselect": (31, 64),
    "quicksort": (10, 12), "segments_intersect": (31, 64),
    "strongly_connected_components": (15, 16), "task_scheduling": (31, 41),
    "topological_sort": (23, 21),
}  # fmt: skip
"""The largest sizes in train and val at which a task's text fits a language model's context."""


class _Split(NamedTuple):
    seeds: tuple[int, ...]
    count: int
    """Examples for every size and seed."""


_SPLITS = {"train": _Split((0,), 10_000), "val": _Split((3, 14, 35, 81, 94), 125)}


def split_sizes(name: str, part: str) -> tuple[int, ...]:
    """The sizes of a task in a canonical split."""
    if part not in _SPLITS:
        raise ValueError(unknown_name("split", part, _SPLITS))
    if name not in _LARGEST:
        raise ValueError(unknown_name("task of CLRS-Text", name, _LARGEST))
    train, val = _LARGEST[name]
    if part == "train":
        return tuple(size for size in _TRAIN_SIZES if size <= train)
    return tuple(range(_SMALLEST_VAL_SIZE, val + 1))


def split(
    name: str, part: str, traces: bool = False, truncate_decimals: int | None = None
) -> Iterator[Example]:
    """A canonical split of CLRS-Text, size after size: "train" has 10,000 examples of a size, "val"
    125 of a size for each of five seeds."""
    sizes = split_sizes(name, part)
    seeds, count = _SPLITS[part]
    streams = (
        stream(name, size, seed, traces, truncate_decimals=truncate_decimals)
        for size, seed in itertools.product(sizes, seeds)
    )
    return (example for drawn in streams for example in itertools.islice(drawn, count))
