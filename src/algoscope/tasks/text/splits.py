"""The canonical splits of CLRS-Text (Markeeva et al., 2024)."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from algoscope.errors import unknown_name
from algoscope.tasks.text.examples import stream
from algoscope.tasks.text.writing import Example

_TRAIN_SIZES = (4, 5, 10, 11, 12, 15, 19, 23, 28, 31)
_SMALLEST_VAL_SIZE = 4


class _Largest(NamedTuple):
    """The largest sizes at which a task's text fits the context of a language model."""

    train: int
    val: int


_LARGEST = {
    "activity_selector": _Largest(31, 40),
    "articulation_points": _Largest(19, 19),
    "bellman_ford": _Largest(31, 32),
    "bfs": _Largest(31, 41),
    "binary_search": _Largest(31, 64),
    "bridges": _Largest(5, 7),
    "bubble_sort": _Largest(10, 11),
    "dag_shortest_paths": _Largest(19, 19),
    "dfs": _Largest(23, 20),
    "dijkstra": _Largest(28, 25),
    "find_maximum_subarray_kadane": _Largest(31, 64),
    "floyd_warshall": _Largest(10, 11),
    "graham_scan": _Largest(31, 31),
    "heapsort": _Largest(10, 11),
    "insertion_sort": _Largest(31, 25),
    "jarvis_march": _Largest(12, 13),
    "kmp_matcher": _Largest(31, 64),
    "lcs_length": _Largest(10, 12),
    "matrix_chain_order": _Largest(10, 12),
    "minimum": _Largest(31, 64),
    "mst_kruskal": _Largest(10, 10),
    "mst_prim": _Largest(28, 26),
    "naive_string_matcher": _Largest(31, 64),
    "optimal_bst": _Largest(10, 10),
    "quickselect": _Largest(31, 64),
    "quicksort": _Largest(10, 12),
    "segments_intersect": _Largest(31, 64),
    "strongly_connected_components": _Largest(15, 16),
    "task_scheduling": _Largest(31, 41),
    "topological_sort": _Largest(23, 21),
}


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
    largest = _LARGEST[name]
    if part == "train":
        return tuple(size for size in _TRAIN_SIZES if size <= largest.train)
    return tuple(range(_SMALLEST_VAL_SIZE, largest.val + 1))


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
