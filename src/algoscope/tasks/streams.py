"""Streams: batches without end, drawn as dm-clrs's `examples/run.py` draws them for training.

    stream = tasks.stream("bfs", tasks.Recipe(sizes=(8, 16)), seed=1)
    for batch in itertools.islice(stream, 1000):
        ...

Given the RandomState that dm-clrs is given, a stream is what `build_sampler(num_samples=-1)` and
the steps after it (`process_random_pos`, `process_pred_as_input`, `process_permutations`) give.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args

import numpy as np

from algoscope.errors import unknown_name
from algoscope.tasks.batch import Batch
from algoscope.tasks.features import Feature
from algoscope.tasks.graph_kinds import CLRS, graph_options
from algoscope.tasks.options import integer, probability
from algoscope.tasks.registry import get
from algoscope.tasks.sampling import batches
from algoscope.tasks.task import Task
from algoscope.tasks.transforms import (
    permutations_as_pointers,
    predecessors_as_inputs,
    with_cycles,
    with_permutations_as_pointers,
    with_positions,
    with_predecessors_as_inputs,
)

Permutations = Literal["line", "cycle", "pointers"]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What to draw for training; the defaults are dm-clrs's, but for `burn_in`."""

    sizes: tuple[int, ...] = (4, 7, 11, 13, 16)
    """Sizes of the problems, the same throughout a batch, one after the other; for string matching
    there is only one, 5/4 of the largest."""
    count: int = 32
    """Problems in a batch."""
    p: tuple[float, ...] = tuple(0.1 + 0.1 * i for i in range(9))
    """Probabilities of an edge, one chosen for each graph; halved where traces are very long."""
    graphs: tuple[str, ...] = (CLRS,)
    """Kinds of graphs (`graph_kinds.GRAPHS`), one after the other, all sizes of each; one that is
    named twice is drawn twice as often. `p` is of the kind clrs."""
    length_needle: int | None = -8
    """Length of the needle in string matching: -k is a random one from 1 to k, None 1/5 of all."""
    random_positions: bool = True
    """Whether `pos` is random instead of uniform."""
    predecessors_as_inputs: bool = True
    """Whether a hint `pred_h` that never changes is an input instead."""
    permutations: Permutations = "line"
    """The form of permutations: a "line" of pointers, as `algoscope.networks` takes them and closes
    them to a cycle itself; a "cycle", closed as dm-clrs does it; or "pointers", not enforced."""
    burn_in: int = 0
    """Samples of each size drawn and dropped first, to pad time to the longest trace so far; 0 pads
    to the longest of the batch. dm-clrs's default is 1,000."""


_DEFAULT = Recipe()


def stream(
    task: Task | str,
    recipe: Recipe = _DEFAULT,
    seed: int | np.random.RandomState = 42,
    **options: Any,
) -> Iterator[Batch]:
    """Batches of the task without end; `options` of its sampler override the recipe's.

    A RandomState that is given as seed moves on with the stream: it seeds each size's own draws at
    once, and draws the positions of each batch.
    """
    task = get(task)
    random = _random_state(seed)
    transforms = _transforms(task, recipe, random)
    kinds = [graph_options(task, kind) | options for kind in recipe.graphs]
    sources = [
        batches(task, size, recipe.count, int(random.randint(2**32)), chosen, recipe.burn_in)
        for chosen in (_defaults(task, recipe, kind) | kind for kind in kinds)
        for size in training_sizes(task, recipe)
    ]
    return (_apply(transforms, next(source)) for source in itertools.cycle(sources))


def recipe_faults(recipe: Recipe, tasks: Iterable[Task]) -> list[str]:
    """The fields for which a stream of these tasks would be refused, whatever its kinds of graphs
    and whether problems of its sizes exist and fit."""
    faults = [] if recipe.p else ["p: got none, needed at least one probability of an edge"]
    asked = [(probability, "p", p, 0) for p in recipe.p]
    asked += [(integer(1), "count", recipe.count, 0), (integer(0), "burn_in", recipe.burn_in, 0)]
    asked += [
        (task.options["length_needle"].check, "length_needle", recipe.length_needle, size)
        for task in tasks
        if "length_needle" in task.options
        for size in training_sizes(task, recipe)
    ]
    for check, name, value, size in asked:
        try:
            check(name, value, size)
        except ValueError as error:
            faults.append(str(error))
    return list(dict.fromkeys(faults))


def features_in_training(task: Task, recipe: Recipe) -> tuple[Feature, ...]:
    """Those of the batches of a stream whose permutations are no cycles."""
    features = task.features
    if recipe.predecessors_as_inputs and task.fixed_predecessors:
        features = predecessors_as_inputs(features)
    return permutations_as_pointers(features) if recipe.permutations == "pointers" else features


def as_in_training(batch: Batch, recipe: Recipe = _DEFAULT, seed: int = 42) -> Batch:
    """A batch in the form in which a stream gives it: its features and positions."""
    return _apply(_transforms(batch.task, recipe, _random_state(seed)), batch)


def _apply(transforms: list[Callable[[Batch], Batch]], batch: Batch) -> Batch:
    for transform in transforms:
        batch = transform(batch)
    return batch


def _random_state(seed: int | np.random.RandomState) -> np.random.RandomState:
    if isinstance(seed, np.random.RandomState):
        return seed
    return np.random.RandomState(integer(0, 2**32 - 1)("seed", seed, 0))


def training_sizes(task: Task, recipe: Recipe) -> tuple[int, ...]:
    """The sizes through which a stream of the task goes."""
    if not recipe.sizes:
        raise ValueError(f"sizes: got {recipe.sizes!r}, needed at least one")
    sizes = tuple(integer(1)("sizes", size, 0) for size in recipe.sizes)
    return (max(sizes) * 5 // 4,) if "length_needle" in task.options else sizes


def _defaults(task: Task, recipe: Recipe, options: Mapping[str, Any]) -> dict[str, Any]:
    defaults: dict[str, Any] = {}
    if "family" in task.options and "family" not in options:
        defaults["p"] = tuple(p / 2 for p in recipe.p) if task.long_traces else recipe.p
    if "length_needle" in task.options:
        defaults["length_needle"] = recipe.length_needle
    return defaults


def _transforms(
    task: Task, recipe: Recipe, random: np.random.RandomState
) -> list[Callable[[Batch], Batch]]:
    if recipe.permutations not in get_args(Permutations):
        raise ValueError(unknown_name("permutations", recipe.permutations, get_args(Permutations)))
    transforms = []
    if recipe.random_positions:
        transforms.append(
            lambda batch: with_positions(batch, random.random_sample(batch.inputs["pos"].shape))
        )
    if recipe.predecessors_as_inputs and task.fixed_predecessors:
        transforms.append(with_predecessors_as_inputs)
    if recipe.permutations == "cycle":
        transforms.append(with_cycles)
    if recipe.permutations == "pointers":
        transforms.append(with_permutations_as_pointers)
    return transforms
