"""Sampling: problems drawn from a seed, with the traces of their reference algorithm."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from algoscope.tasks import mersenne
from algoscope.tasks.batch import Batch
from algoscope.tasks.batch_size import check_batches
from algoscope.tasks.options import integer, resolve
from algoscope.tasks.task import Task
from algoscope.tasks.tracing import Tracer

_LARGEST_SEED = 2**32 - 1
_TRIED = 8
"""Small problems that say how long traces get."""
_MOST_DECIMALS = 15
"""Those that a float64 holds."""


def sample_task(task: Task, size: int, count: int, seed: int, options: Mapping[str, Any]) -> Batch:
    """Draws `count` problems of `size` and runs the reference algorithm on each."""
    return next(batches(task, size, count, seed, options))


def batches(
    task: Task, size: int, count: int, seed: int, options: Mapping[str, Any], burn_in: int = 0
) -> Iterator[Batch]:
    """Batches without end, each of the next `count` problems that the seed's stream draws.

    With a `burn_in`, that many samples are drawn and dropped first, to know how long traces get;
    time is then padded to the longest so far. Without, it is padded to the longest of the batch.
    """
    size = integer(task.smallest, purpose=f" for {task.name}")("size", size, size)
    count = integer(1)("count", count, size)
    burn_in = integer(0)("burn_in", burn_in, size)
    random_state = np.random.RandomState(integer(0, _LARGEST_SEED)("seed", seed, size))
    options = dict(options)
    decimals = options.pop("truncate_decimals", None)
    if decimals is not None:
        decimals = integer(1, _MOST_DECIMALS)("truncate_decimals", decimals, size)
    scale = 0.0 if decimals is None else 10.0**decimals
    chosen = resolve(task.name, task.options, options, size)
    nodes = task.nodes(size, options)
    check_batches(task, {nodes: count}, functools.partial(_longest, task))
    tracer = Tracer(task, nodes, chosen, scale)
    return _batches(tracer, mersenne.stream_from(random_state), count, burn_in)


def check_memory(
    task: Task, counts: Mapping[int, int], advice: str, free: float | None = None
) -> None:
    """Refuses problems that would not fit into memory together, so many by their size; before any
    of them is drawn."""
    by_nodes = {task.nodes(size, {}): count for size, count in counts.items()}
    check_batches(task, by_nodes, functools.partial(_longest, task), advice, free)


@functools.cache
def _longest(task: Task, nodes: int) -> int:
    """The most steps that a few problems of that size take."""
    tracer = Tracer(task, nodes, resolve(task.name, task.options, {}, nodes))
    tracer.drop(_TRIED, mersenne.stream_from(np.random.RandomState(0)))
    return tracer.longest


def _batches(tracer: Tracer, stream: np.ndarray, count: int, burn_in: int) -> Iterator[Batch]:
    tracer.drop(burn_in, stream)
    while True:
        yield tracer.draw(count, stream, tracer.longest if burn_in else 0)


def trace_problems(task: Task, nodes: int, problems: Sequence[Mapping[str, np.ndarray]]) -> Batch:
    """The batch of given problems, in registers: each feature of `task.problem` by name."""
    check_batches(task, {nodes: len(problems)}, functools.partial(_longest, task))
    return Tracer(task, nodes, resolve(task.name, task.options, {}, nodes)).trace(problems)


def problems_of(batch: Batch) -> list[dict[str, np.ndarray]]:
    """What defines each problem of a batch, in registers: what `trace_problems` takes. Positions
    that are no part of a problem are even there."""
    columns = {}
    for feature in batch.features:
        if feature.name in batch.task.problem:
            values = np.asarray(batch.inputs[feature.name])
            if feature.one_hot:
                values = values.argmax(-1).reshape(len(batch), *feature.register_shape(batch.nodes))
            columns[feature.name] = values
    return [
        {name: np.array(values[sample]) for name, values in columns.items()}
        for sample in range(len(batch))
    ]
