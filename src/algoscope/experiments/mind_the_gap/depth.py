"""How long the traces of a task are, and how deep its problem is in parallel."""

from typing import NamedTuple


class Steps(NamedTuple):
    """Of traces, in the mean."""

    at_16: float
    at_64: float
    learnt: float
    """Over the sizes of training."""


STEPS = {
    "activity_selector": Steps(17.0, 65.0, 11.2),
    "articulation_points": Steps(54.6, 340.5, 33.3),
    "bellman_ford": Steps(5.2, 6.2, 3.8),
    "bfs": Steps(4.3, 3.5, 3.6),
    "binary_search": Steps(5.0, 7.0, 4.2),
    "bridges": Steps(54.6, 340.5, 33.3),
    "bubble_sort": Steps(121.0, 2017.0, 57.0),
    "dag_shortest_paths": Steps(25.2, 94.0, 14.9),
    "dfs": Steps(48.0, 192.0, 30.6),
    "dijkstra": Steps(16.8, 65.0, 9.7),
    "find_maximum_subarray_kadane": Steps(16.0, 64.0, 10.2),
    "floyd_warshall": Steps(16.0, 64.0, 10.2),
    "graham_scan": Steps(26.2, 117.2, 16.4),
    "heapsort": Steps(84.0, 459.5, 48.4),
    "insertion_sort": Steps(16.0, 64.0, 10.2),
    "jarvis_march": Steps(133.8, 829.8, 74.3),
    "kmp_matcher": Steps(9.7, 46.8, 5.8),
    "lcs_length": Steps(9.5, 40.8, 5.4),
    "matrix_chain_order": Steps(11.9, 50.5, 7.9),
    "minimum": Steps(16.0, 64.0, 10.2),
    "mst_kruskal": Steps(10.4, 279.2, 5.2),
    "mst_prim": Steps(16.8, 65.0, 9.7),
    "naive_string_matcher": Steps(6.6, 33.5, 4.0),
    "optimal_bst": Steps(17.0, 65.0, 11.2),
    "quickselect": Steps(39.1, 178.2, 24.1),
    "quicksort": Steps(58.8, 391.2, 33.2),
    "segments_intersect": Steps(5.0, 5.0, 5.0),
    "strongly_connected_components": Steps(89.5, 324.0, 57.9),
    "task_scheduling": Steps(17.0, 65.0, 11.2),
    "topological_sort": Steps(36.7, 133.2, 24.3),
    "bfs_sequential": Steps(15.8, 64.0, 8.7),
    "dfs_simplified": Steps(48.0, 192.0, 30.6),
}
"""Of 16 problems of each size, and of 4 of 64, `tasks.sample(task, n, count, seed=3)`."""
