"""The problems on which a subject is examined: one batch of small and one of large problems.

Small problems come in parts: plain ones as CLRS-30 draws them, the same changed (`counterfactual`),
their partners (`interchange`), *deep* ones, long narrow grids, on which a search takes many more
steps than on the dense graphs of training, *sparse* ones, whose graphs fall apart, and *donors* of
states (`exchanges`), of all these kinds. All parts are one batch, so that a subject runs twice.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable

import numpy as np

from algoscope import programs, tasks
from algoscope.measures import counterfactual
from algoscope.measures.counterfactual import Changed
from algoscope.measures.exchanges import Exchanges, exact_rivals, valid_exchanges
from algoscope.measures.explanation import wrong_runs
from algoscope.measures.interchange import partners
from algoscope.measures.references import Reference, exact_programs, reference_class
from algoscope.programs import Role
from algoscope.programs.interpreter import Run
from algoscope.tasks import Batch, Task
from algoscope.tasks.graph_kinds import graph_options

SMALL, LARGE = 16, 64
OTHER_GRAPHS = ("deep", "sparse")
"""Parts that are drawn otherwise than CLRS-30 does: kinds of graphs."""


@dataclasses.dataclass(frozen=True, eq=False)
class Examination:
    small: Batch
    large: Batch
    parts: dict[str, slice]
    """Which samples of the small batch are what: plain, partners, used, unused, near,
    far, deep, sparse, donors."""
    changed: dict[str, Changed]
    """The counterfactuals used, unused and flips, those of which there is any problem."""
    exchanges: Exchanges | None
    """Those of states; none if the task has no exact programs that they tell apart."""

    def within(self, certified: Callable[[Batch], np.ndarray]) -> "Examination":
        """Of the problems, those that a certificate holds for, bool [batch]; pairs where it holds
        for both. The same if it holds for too few."""
        small: np.ndarray = np.asarray(certified(self.small), bool)
        large: np.ndarray = np.asarray(certified(self.large), bool)
        if small.all() and large.all():
            return self
        plain = small[self.parts["plain"]]
        if not (plain.any() and large.any()):
            return self
        kept = {name: np.asarray(small[part]) for name, part in self.parts.items()}
        if "partners" in kept:
            kept["partners"] = plain
        if "donors" in kept:  # Exchanges of states decide no word.
            kept["donors"] = np.ones(len(kept["donors"]), bool)
        changed = {}
        for name, change in self.changed.items():
            parts = ("near", "far") if name == "flips" else (name,)
            both = np.all([plain[change.samples], *(kept[part] for part in parts)], axis=0)
            for part in parts:
                kept[part] = both
            if both.any():
                before, after = change.before.take(both), change.after.take(both)
                samples = (np.cumsum(plain) - 1)[change.samples[both]]
                changed[name] = Changed(before, after, samples)
        kept = {name: rows for name, rows in kept.items() if rows.any()}
        chosen = [np.arange(*self.parts[name].indices(len(small)))[kept[name]] for name in kept]
        return Examination(
            self.small.take(np.concatenate(chosen)),
            self.large.take(large),
            _slices({name: int(mask.sum()) for name, mask in kept.items()}),
            changed,
            self.exchanges,
        )

    @functools.cached_property
    def references(self) -> list[Reference]:
        """The class on the small batch."""
        return reference_class(self.small)

    @functools.cached_property
    def wrong_runs(self) -> dict[str, Run]:
        """What the task's wrong programs do on the small batch, by name."""
        return wrong_runs(self.small)

    @functools.cached_property
    def large_references(self) -> list[Reference]:
        return reference_class(self.large)


def examination(
    task: Task | str, seed: int = 0, small_count: int = 32, large_count: int = 16
) -> Examination:
    """Problems of the task, always the same for the same numbers."""
    task = tasks.get(task)
    exact_programs(task)
    known = [*exact_rivals(task), *programs.of_task(task, Role.WRONG)]
    texts = tuple(program.text for program in known)
    return _examination(task, texts, seed, small_count, large_count)


@functools.cache
def _examination(
    task: Task, texts: tuple[str, ...], seed: int, small_count: int, large_count: int
) -> Examination:
    """Kept for each set of programs: users register some of their own."""
    del texts
    kinds = {"plain": {}}
    if "family" in task.options:
        kinds |= {name: graph_options(task, name) for name in OTHER_GRAPHS}

    def draw(kind: str, count: int) -> Batch:
        return tasks.sample(task, SMALL, count, seed, **kinds[kind])

    plain = draw("plain", small_count)
    batches = {"plain": plain, "partners": partners(plain)}
    changed = {}
    if counterfactual.changeable(plain):
        changed["used"], changed["unused"] = counterfactual.changes(plain, seed)
        batches |= {name: change.after for name, change in changed.items()}
    if counterfactual.has_flips(plain):
        changed["flips"] = counterfactual.flips(plain, seed)
        batches |= {"near": changed["flips"].before, "far": changed["flips"].after}
    batches |= {kind: draw(kind, small_count) for kind in kinds if kind != "plain"}
    exchanges = valid_exchanges(Batch.join([draw(kind, 3 * small_count) for kind in kinds]), seed)
    if exchanges:
        batches["donors"] = exchanges.donor
    batches = {name: batch for name, batch in batches.items() if len(batch)}
    return Examination(
        Batch.join(list(batches.values())),
        tasks.sample(task, LARGE, large_count, seed),
        _slices({name: len(batch) for name, batch in batches.items()}),
        {name: change for name, change in changed.items() if len(change.samples)},
        exchanges,
    )


def _slices(lengths: dict[str, int]) -> dict[str, slice]:
    """Parts of these lengths, one after another."""
    ends = itertools.accumulate(lengths.values())
    return {
        name: slice(end - length, end)
        for (name, length), end in zip(lengths.items(), ends, strict=True)
    }
