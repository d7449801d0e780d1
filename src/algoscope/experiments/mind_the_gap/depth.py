"""How long the traces of a task are, and how deep its problem is in parallel."""

import math
from typing import NamedTuple


class Steps(NamedTuple):
    """How long traces are."""

    at_16: float
    """In the mean over problems."""
    at_64: float
    learnt: float
    """In the mean over the sizes of training, of whole batches, which are padded to their longest
    trace."""


STEPS = {
    "activity_selector": Steps(17.0, 65.0, 11.2),
    "articulation_points": Steps(54.6, 340.5, 72.8),
    "bellman_ford": Steps(5.2, 6.2, 7.5),
    "bfs": Steps(4.3, 3.5, 7.2),
    "binary_search": Steps(5.0, 7.0, 4.4),
    "bridges": Steps(54.6, 340.5, 74.9),
    "bubble_sort": Steps(121.0, 2017.0, 57.0),
    "dag_shortest_paths": Steps(25.2, 94.0, 31.6),
    "dfs": Steps(48.0, 192.0, 30.6),
    "dijkstra": Steps(16.8, 65.0, 11.2),
    "find_maximum_subarray_kadane": Steps(16.0, 64.0, 10.2),
    "floyd_warshall": Steps(16.0, 64.0, 10.2),
    "graham_scan": Steps(26.2, 117.2, 19.2),
    "heapsort": Steps(84.0, 459.5, 54.4),
    "insertion_sort": Steps(16.0, 64.0, 10.2),
    "jarvis_march": Steps(133.8, 829.8, 103.2),
    "kmp_matcher": Steps(9.7, 46.8, 26.0),
    "lcs_length": Steps(9.5, 40.8, 7.3),
    "matrix_chain_order": Steps(11.9, 50.5, 9.2),
    "minimum": Steps(16.0, 64.0, 10.2),
    "mst_kruskal": Steps(10.4, 279.2, 63.5),
    "mst_prim": Steps(16.8, 65.0, 11.2),
    "naive_string_matcher": Steps(6.6, 33.5, 26.0),
    "optimal_bst": Steps(17.0, 65.0, 11.2),
    "quickselect": Steps(39.1, 178.2, 49.5),
    "quicksort": Steps(58.8, 391.2, 50.2),
    "segments_intersect": Steps(5.0, 5.0, 5.0),
    "strongly_connected_components": Steps(89.5, 324.0, 61.2),
    "task_scheduling": Steps(17.0, 65.0, 11.2),
    "topological_sort": Steps(36.7, 133.2, 30.6),
    "bfs_sequential": Steps(15.8, 64.0, 10.2),
    "dfs_simplified": Steps(48.0, 192.0, 30.6),
}
"""Of 16 problems of 16 nodes and 4 of 64, `tasks.sample(task, n, count, seed=3)`; `learnt` of the
lengths that `training.pool.make_plan` chooses."""

PARALLEL, SEQUENTIAL, UNCLEAR = "parallel", "sequential", "unclear"
PROBLEMS = {
    "activity_selector": None,
    "articulation_points": True,
    "bellman_ford": True,
    "bfs": True,
    "binary_search": True,
    "bridges": True,
    "bubble_sort": True,
    "dag_shortest_paths": True,
    "dfs": False,
    "dijkstra": True,
    "find_maximum_subarray_kadane": True,
    "floyd_warshall": True,
    "graham_scan": True,
    "heapsort": True,
    "insertion_sort": True,
    "jarvis_march": True,
    "kmp_matcher": True,
    "lcs_length": True,
    "matrix_chain_order": True,
    "minimum": True,
    "mst_kruskal": True,
    "mst_prim": True,
    "naive_string_matcher": True,
    "optimal_bst": True,
    "quickselect": True,
    "quicksort": True,
    "segments_intersect": True,
    "strongly_connected_components": None,
    "task_scheduling": None,
    "topological_sort": None,
}
"""Whether the problem, answered as the task wants it, is known to be in NC. Depth-first search in
the order of the nodes is P-complete (Reif, 1985). None: what an answer has to be depends on such a
search, or on the order of greedy choices, and we know of no proof."""
_SHORT = 0.5


def growth(task: str) -> float:
    """g, if a trace has about n^g steps."""
    steps = STEPS[task]
    return math.log(steps.at_64 / steps.at_16) / math.log(4)


def class_of(task: str) -> str:
    """Parallel: the trace is as short as the problem allows. Sequential: no short one is to be
    expected. Unclear: the problem has a short one, and the trace that is taught is none, or nobody
    knows."""
    if PROBLEMS[task] is False:
        return SEQUENTIAL
    return PARALLEL if PROBLEMS[task] and growth(task) < _SHORT else UNCLEAR
