"""Sampling: problems drawn from a seed, with the traces of their reference algorithm."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from algoscope.tasks import mersenne
from algoscope.tasks.batch import Batch
from algoscope.tasks.options import resolve
from algoscope.tasks.task import Task
from algoscope.tasks.tracing import Tracer

_MOST_DECIMALS = 15


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
    size = _whole("size", size, task.smallest, f"for {task.name}")
    count = _whole("count", count, 1)
    seed = _whole("seed", seed, 0)
    burn_in = _whole("burn_in", burn_in, 0)
    if seed >= 2**32:
        raise ValueError(f"seed: got {seed}, needed less than 2**32, as for numpy's RandomState")
    options = dict(options)
    scale = _scale_of(options.pop("truncate_decimals", None))
    chosen = resolve(task.name, task.options, options, size)
    tracer = Tracer(task, task.nodes(size, options), chosen, scale)
    stream = mersenne.stream_from(np.random.RandomState(seed))
    return _batches(tracer, stream, count, burn_in)


def _batches(tracer: Tracer, stream: np.ndarray, count: int, burn_in: int) -> Iterator[Batch]:
    tracer.drop(burn_in, stream)
    while True:
        yield tracer.draw(count, stream, tracer.longest if burn_in else 0)


def trace_problems(task: Task, nodes: int, problems: Sequence[Mapping[str, np.ndarray]]) -> Batch:
    """The batch of given problems, in registers: each feature of `task.problem` by name."""
    return Tracer(task, nodes, resolve(task.name, task.options, {}, nodes)).trace(problems)


def _scale_of(decimals: Any) -> float:
    """10 to the number of decimals to keep, 0 for all."""
    if decimals is None:
        return 0.0
    decimals = _whole("truncate_decimals", decimals, 1)
    if decimals > _MOST_DECIMALS:
        raise ValueError(
            f"truncate_decimals: got {decimals}, needed at most {_MOST_DECIMALS}, "
            "the decimals that a float64 holds"
        )
    return 10.0**decimals


def _whole(name: str, value: Any, least: int, where: str = "") -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}: got {value!r}, needed an integer") from None
    if isinstance(value, bool) or whole < least:
        raise ValueError(
            f"{name}: got {value!r}, needed an integer of at least {least} {where}".rstrip()
        )
    return whole
