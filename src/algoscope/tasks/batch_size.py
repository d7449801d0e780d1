"""How much memory a batch takes, estimated before it is drawn.

Arrays follow from the features. How many steps a trace has is known of small problems alone: it is
taken to grow with the number of nodes n as n^k, with k from two small sizes.
"""

import math
from collections.abc import Callable

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


def batch_octets(task: Task, nodes: int, count: int, steps: float) -> float:
    """Bytes of a batch and of the registers that it is made from."""
    outside = sum(
        _octets(f, nodes) for stage in (Stage.INPUT, Stage.OUTPUT) for f in task.at(stage)
    )
    return count * (outside + steps * sum(_octets(f, nodes) for f in task.at(Stage.HINT)))


def _octets(feature: Feature, nodes: int) -> int:
    register = math.prod(feature.register_shape(nodes)) * feature.register_dtype.itemsize
    return register + math.prod(feature.dense_shape(nodes)) * feature.dense_dtype.itemsize


def check_batch(task: Task, nodes: int, count: int, longest: Callable[[int], int]) -> None:
    """Refuses a batch that does not fit. `longest` gives the steps of the longest trace of a few
    problems with so many nodes; it is asked only where that decides."""
    most = batch_octets(task, nodes, count, max(nodes, 2) ** _MOST_GROWTH)
    if most < _SMALL_BATCH:
        return
    free = capacity.available()
    what = f"{count:,} problems of {task.name} with {nodes:,} nodes"
    advice = "take smaller problems, or fewer of them"
    capacity.check(what, batch_octets(task, nodes, count, 1), advice, free)
    if nodes > _SMALL[-1] and most > _SAFE * free:
        first, second = (longest(size) for size in _SMALL)
        growth = math.log(max(1.0, second / first)) / math.log(_SMALL[1] / _SMALL[0])
        steps = second * (nodes / _SMALL[1]) ** min(_MOST_GROWTH, growth)
        capacity.check(what, batch_octets(task, nodes, count, steps), advice, free)
