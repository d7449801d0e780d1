"""Examples of CLRS-Text, drawn as dm-clrs draws them: of one task and size, or a mixture."""

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from algoscope.tasks import registry
from algoscope.tasks.options import integer
from algoscope.tasks.sampling import batches, sample_task
from algoscope.tasks.task import Task
from algoscope.tasks.text.writing import Example, write

_CHUNK = 16
"""How many problems a stream draws at a time."""


def sample(
    task: Task | str,
    size: int = 16,
    count: int = 32,
    seed: int = 7,
    traces: bool = False,
    **options: Any,
) -> list[Example]:
    """The problems that `tasks.sample` draws, as text; for short floats give `truncate_decimals`.

    Equal to what dm-clrs's `generate_clrs_text.py` generates for one task, length and seed.
    """
    batch = sample_task(registry.get(task), size, count, seed, options)
    return [write(batch, number, traces) for number in range(len(batch))]


def stream(
    task: Task | str, size: int = 16, seed: int = 7, traces: bool = False, **options: Any
) -> Iterator[Example]:
    """The examples of `sample`, without end."""
    drawn = batches(registry.get(task), size, _CHUNK, seed, options)
    return (write(batch, number, traces) for batch in drawn for number in range(_CHUNK))


def rows(
    sizes: Mapping[str, Iterable[int]],
    count: int | None = None,
    traces: bool = False,
    seed: int = 0,
    truncate_decimals: int | None = 3,
) -> Iterator[dict[str, Any]]:
    """A random mixture of tasks and sizes, in rows for `datasets.Dataset.from_generator`.

    Equal to dm-clrs's `clrs_generator`. `sizes` names the tasks, each with its sizes; `count` is
    the number of rows, or None for rows without end.
    """
    for name, lengths in sizes.items():
        if not isinstance(lengths, Iterable):
            raise ValueError(f"sizes: got {lengths!r} for {name}, needed a list of sizes")
    sources = [
        (name, size, stream(name, size, seed, traces, truncate_decimals=truncate_decimals))
        for name, lengths in sizes.items()
        for size in lengths
    ]
    if not sources:
        raise ValueError(f"sizes: got {sizes!r}, needed at least one task with at least one size")
    choose = random.Random(int(seed)).choice
    numbers = itertools.count() if count is None else range(integer(0)("count", count, 0))
    return (_row(*choose(sources), traces) for _ in numbers)


def _row(name: str, size: int, examples: Iterator[Example], traces: bool) -> dict[str, Any]:
    example = next(examples)
    return {
        "text": example.text,
        "question": example.prompt,
        "answer": example.answer,
        "algo_name": name,
        "length": size,
        "use_hints": traces,
    }
