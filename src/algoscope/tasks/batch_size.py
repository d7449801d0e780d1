"""How much memory a batch takes, estimated before it is drawn.

Arrays follow from the features. How many steps a trace has is known of small problems alone: it is
taken to grow with the number of nodes n as n^k, with k from two small sizes.
"""

import functools
import math
from collections.abc import Callable, Mapping

from algoscope import capacity
from algoscope.tasks.features import Feature, Stage
from algoscope.tasks.task import Task

_SMALL = (16, 32)
_MOST_GROWTH = 3.0
"""No algorithm of CLRS-30 takes more than n^3 steps."""
_SMALL_BATCH = 10**8
"""Bytes: what takes less in the worst case fits."""
_SAFE = 0.01
"""Of the free memory: what takes less than this is not looked at more closely."""


@functools.cache
def batch_octets(task: Task, nodes: int, count: int, steps: float) -> float:
    """Bytes of a batch and of the registers that it is made from."""
    outside = sum(
        _octets(f, nodes) for stage in (Stage.INPUT, Stage.OUTPUT) for f in task.at(stage)
    )
    return count * (outside + steps * sum(_octets(f, nodes) for f in task.at(Stage.HINT)))


def _octets(feature: Feature, nodes: int) -> int:
    register = math.prod(feature.register_shape(nodes)) * feature.register_dtype.itemsize
    return register + math.prod(feature.dense_shape(nodes)) * feature.dense_dtype.itemsize


def check_batches(
    task: Task,
    counts: Mapping[int, int],
    longest: Callable[[int], int],
    advice: str = "take smaller problems, or fewer of them",
    free: float | None = None,
) -> None:
    """Refuses batches that do not fit into so many free bytes, into the main memory if it is not
    said how many; of so many problems by their number of nodes. `longest`
    gives the steps of the longest trace of a few problems with so many nodes; it is asked only
    where that decides."""

    def octets(steps: Callable[[int], float]) -> float:
        return sum(batch_octets(task, n, count, steps(n)) for n, count in counts.items())

    most = octets(lambda nodes: max(nodes, 2) ** _MOST_GROWTH)
    if most < _SMALL_BATCH:
        return
    free, nodes = capacity.available() if free is None else free, max(counts)
    with_nodes = f"{nodes:,} nodes" if len(counts) == 1 else f"up to {nodes:,} nodes"
    what = f"{sum(counts.values()):,} problems of {task.name} with {with_nodes}"
    capacity.check(what, octets(lambda nodes: 1), advice, free)
    if most > _SAFE * free:
        steps = _steps(longest, nodes)
        capacity.check(what, octets(steps), advice, free)


def _steps(longest: Callable[[int], int], most: int) -> Callable[[int], float]:
    """The longest trace by the number of nodes, of which there are so many at most."""
    if most <= _SMALL[-1]:
        return functools.cache(longest)
    first, second = (longest(size) for size in _SMALL)
    growth = math.log(max(1.0, second / first)) / math.log(_SMALL[1] / _SMALL[0])
    return lambda nodes: second * (nodes / _SMALL[1]) ** min(_MOST_GROWTH, growth)
