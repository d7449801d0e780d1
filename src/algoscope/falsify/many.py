"""The falsifier for many networks of one configuration, such as the seeds of an ensemble.

    results = falsify_all(ensemble.network, "bfs")      # one Falsification for each seed

All networks are tried on the same problems at once: [network, problem] results. First on a cover,
then on the mutants of a search that they share: each generation starts from the problems with the
smallest margins of another network, and is tried on all. A network's region is fitted to all
problems but the last cover's, and counts if that has no disagreement inside. What costs the most, a
counterexample made as small as possible, is searched for a few networks alone; the others have the
smallest wrong problem that was tried.
"""

from collections.abc import Callable, Iterable, Sequence

import jax
import numpy as np

from algoscope import tasks
from algoscope.falsify.boundary import Examined, fitted
from algoscope.falsify.cover import ALL_SIZES, COVERED, Group, cover, shares
from algoscope.falsify.disagreement import LARGEST_TOLERANCE, Disagreement, compare_all
from algoscope.falsify.families import SEARCH
from algoscope.falsify.padding import generations, in_parts
from algoscope.falsify.result import Falsification
from algoscope.falsify.scope import Region
from algoscope.falsify.search import (
    PROBLEMS,
    Hunt,
    sizes_for,
    tolerance_of,
    usual_problems,
)
from algoscope.networks import Network
from algoscope.tasks import Task

COVERS = 3
"""The search starts from the first, the last confirms regions."""
SHRUNK = 3


def covers_of(
    task: Task | str,
    *,
    problems: int = PROBLEMS,
    sizes: Sequence[int] = ALL_SIZES,
    seed: int = 0,
    count: int = COVERS,
) -> list[list[Group]]:
    """The covers that `falsify` would take: its first, and those that confirm regions."""
    task = tasks.get(task)
    sizes = tuple(n for n in sizes if n >= task.smallest)
    return [cover(task, sizes, problems, seed + 1000 * number) for number in range(count)]


def falsify_all(
    stacked: Network,
    task: Task | str,
    *,
    problems: int = PROBLEMS,
    sizes: Sequence[int] = ALL_SIZES,
    seed: int = 0,
    covers: Sequence[Sequence[Group]] = (),
    searched: bool = True,
    shrunk: int = SHRUNK,
    report: Callable[[str], None] = lambda text: None,
) -> list[Falsification]:
    """One result for each of the networks that are stacked along a first axis of every array.

    `covers` are made unless given; `shrunk` is the number of networks whose counterexample is made
    smaller, those that disagree first.
    """
    # A counterexample knows its task by name.
    task = tasks.register(tasks.get(task))
    sizes = sizes_for(stacked, task, sizes)
    covers = covers or covers_of(task, problems=problems, sizes=sizes, seed=seed)
    hunts = _Hunts(stacked, task, seed)
    first, *others = covers
    hunts.examine(first)
    report(f"cover: {hunts.status}")
    if searched:
        for n, share in shares(sizes).items():
            if count := round((1 - COVERED) * problems * share):
                hunts.evolve(n, count)
        report(f"search: {hunts.status}")
    regions = hunts.regions(others)
    report(f"{len(covers)} covers: {hunts.status}")
    return hunts.results(regions, shrunk)


class _Hunts:
    """One hunt for each network, on problems that all are tried on."""

    def __init__(self, stacked: Network, task: Task, seed: int):
        self.stacked, self.task = stacked, task
        count = len(jax.tree.leaves(stacked)[0])
        batch = usual_problems(task, stacked.config.attention_bias)
        widest = np.full(count, LARGEST_TOLERANCE)
        usual, _ = in_parts(batch, lambda part: compare_all(stacked, part, widest))
        self.tolerances = np.array([tolerance_of(errors) for errors in usual.error])
        self.hunts = [
            Hunt(
                jax.tree.map(lambda array, k=k: array[k], stacked),
                task,
                None,
                np.random.default_rng([seed, k]),
                float(tolerance),
            )
            for k, tolerance in enumerate(self.tolerances)
        ]

    @property
    def status(self) -> str:
        disagreeing = sum(bool(hunt.wrong) for hunt in self.hunts)
        return f"{disagreeing} of {len(self.hunts)} networks disagree"

    def examine(self, groups: Iterable[Group]) -> None:
        for group in groups:
            whole, counted = in_parts(
                group.batch, lambda part: compare_all(self.stacked, part, self.tolerances)
            )
            for k, hunt in enumerate(self.hunts):
                result = Disagreement(
                    *(values[k] if values.ndim > 1 else values for values in whole)
                )
                hunt.note(group, result, counted)

    def evolve(self, n: int, count: int) -> None:
        """Mutants of one network's problems after the other's."""
        for generation in range(generations(n, count)):
            with_parents = [hunt for hunt in self.hunts if hunt.near.get(n)]
            if not with_parents:
                return
            mutants = with_parents[generation % len(with_parents)].mutants(n, generation)
            if mutants:
                self.examine([Group.of(self.task, [(SEARCH, mutant) for mutant in mutants])])

    def regions(self, covers: Sequence[Sequence[Group]]) -> list[Region | None]:
        """Of each network the region without a disagreement, if the last cover confirms it."""
        if not covers:
            return [None] * len(self.hunts)
        *more, last = covers
        for groups in more:
            self.examine(groups)
        found = [fitted(hunt.examined) if hunt.wrong else None for hunt in self.hunts]
        before = len(self.hunts[0].examined)
        self.examine(last)
        return [
            region and _confirmed(region, hunt.examined[before:])
            for hunt, region in zip(self.hunts, found, strict=True)
        ]

    def results(self, regions: list[Region | None], shrunk: int) -> list[Falsification]:
        results = []
        for hunt, region in zip(self.hunts, regions, strict=True):
            smallest = hunt.shrunk() if shrunk > 0 else hunt.smallest_tried()
            shrunk -= smallest is not None
            results.append(hunt.result(region, smallest))
        return results


def _confirmed(region: Region, examined: list[Examined]) -> Region | None:
    """The region, with how many of the problems lie in it; None if one of them disagrees."""
    confirmed = 0
    for tried in examined:
        inside = tried.counted & region.holds(tried.group.coordinates)
        if (tried.result.wrong & inside).any():
            return None
        confirmed += int(inside.sum())
    return region._replace(confirmed=confirmed) if confirmed else None
