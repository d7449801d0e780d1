"""The boundary of the region without a disagreement: fitted, bisected, confirmed.

A region is fitted to all that was tried (`scope`). Between its last right and the first wrong
problem lies a gap, in which fresh problems are tried and the region is fitted again, until no
problem is found in the gap, or it has been divided often enough: the bisection. Then fresh problems
inside, and a search from those next to the boundary, must not disagree.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from algoscope.falsify.cover import COVERED, Group, cover, shares, some_of_each
from algoscope.falsify.disagreement import Disagreement
from algoscope.falsify.families import SAMPLER, SEARCH, Problem, meets_needs
from algoscope.falsify.mutations import mutated
from algoscope.falsify.padding import generations, rows_of
from algoscope.falsify.scope import Region, Rule, find_region

if TYPE_CHECKING:
    from algoscope.falsify.search import Hunt

KEPT = 32
"""Problems that a generation of a search starts from."""
_LEARNT = 16
"""The size at which a scope has to hold most of the sampler's problems."""
_ROUNDS = 4
"""Times that a region is drawn anew after fresh problems contradicted it."""
_HALVINGS = 5
"""Times that the gap at a boundary is divided."""
_LARGEST_BISECTED = 64
"""Nodes up to which problems are tried in a gap."""


class Examined(NamedTuple):
    """A group that was tried."""

    group: Group
    result: Disagreement
    counted: np.ndarray
    """Which problems count: those within the certificate, if there is one."""
    confirms: bool = False
    """Whether the problems were chosen to lie within or next to a region: no rate is counted over
    them."""


def region(hunt: "Hunt", sizes: tuple[int, ...], problems: int, seed: int) -> Region | None:
    """The region without a disagreement, which fresh problems inside it and a search from those
    next to its boundary confirm."""
    for attempt in range(1, _ROUNDS + 1):
        found = bisected(hunt, sizes)
        if found is None:
            return None
        inside = [
            group.take(np.flatnonzero(found.holds(group.coordinates)))
            for group in cover(hunt.task, sizes, problems, seed + 1000 * attempt)
        ]
        fresh = [group for group in inside if len(group.names)]
        if not fresh or sum(hunt.examine(group, confirms=True) for group in fresh):
            continue
        confirmed = sum(len(group.names) for group in fresh)
        searched = search_inside(hunt, found, sizes, problems)
        if searched is not None:
            return found._replace(confirmed=confirmed + searched)
    return None


def fitted(examined: list[Examined]) -> Region | None:
    """The region without a disagreement in all that was tried."""
    tables = [tried.group.coordinates for tried in examined]
    names = [name for name in tables[0] if all(name in table for table in tables)]
    counted = np.concatenate([tried.counted for tried in examined])
    values = {name: np.concatenate([t[name] for t in tables])[counted] for name in names}
    wrong = np.concatenate([tried.result.wrong for tried in examined])[counted]
    sizes = {tried.group.batch.nodes for tried in examined if tried.counted.any()}
    learnt = min(sizes, key=lambda n: abs(n - _LEARNT))
    sampled = [
        (tried.group.names == SAMPLER) & (tried.group.batch.nodes == learnt) & (not tried.confirms)
        for tried in examined
    ]
    return find_region(values, wrong, np.concatenate(sampled)[counted])


def bisected(hunt: "Hunt", sizes: tuple[int, ...]) -> Region | None:
    """The region whose boundary lies as near to the first wrong problem as fresh ones come."""
    found = fitted(hunt.examined)
    for halving in range(_HALVINGS):
        if found is None:
            return None
        groups = [
            group
            for number, rule in enumerate(found.rules)
            for group in _in_gap(hunt, found, rule, sizes, seed=_HALVINGS * number + halving)
        ]
        if not groups:
            return found
        for group in groups:
            hunt.examine(group, confirms=True)
        found = fitted(hunt.examined)
    return found


def _in_gap(
    hunt: "Hunt", found: Region, rule: Rule, sizes: tuple[int, ...], seed: int
) -> list[Group]:
    """Fresh problems between the rule's boundary and the nearest wrong problem, that meet all other
    rules: those nearest to the middle."""
    if rule.wrong_from is None:
        return []
    middle = (rule.boundary + rule.wrong_from) / 2
    if rule.coordinate == "nodes":
        nodes = int(middle)
        apart = nodes not in (rule.boundary, rule.wrong_from)
        if len(sizes) == 1 or not apart or nodes > _LARGEST_BISECTED:
            return []
        batch = some_of_each(hunt.task, nodes, 1, seed)
        drawn = [Group.of_batch(np.full(len(batch), SEARCH), batch)]
    else:
        drawn = []
        for n in shares(sizes):
            parents = at_boundary(hunt.examined, found, n) if n <= _LARGEST_BISECTED else []
            mutants = [
                mutated(hunt.kind, parents[k % len(parents)], hunt.random, closely=k % 2 == 0)
                for k in range(rows_of(n) if parents else 0)
            ]
            named = [(SEARCH, mutant) for mutant in mutants if meets_needs(hunt.task, mutant)]
            drawn += [Group.of(hunt.task, named)] if named else []
    groups = []
    for group in drawn:
        values = group.coordinates[rule.coordinate]
        inside = rule.in_gap(values) & found.without(rule).holds(group.coordinates)
        nearest = np.argsort(np.where(inside, np.abs(values - middle), np.inf), kind="stable")
        chosen = nearest[: min(KEPT, int(inside.sum()))]
        groups += [group.take(chosen)] if len(chosen) else []
    return groups


def search_inside(hunt: "Hunt", found: Region, sizes: tuple[int, ...], problems: int) -> int | None:
    """How many mutants inside the region were tried, none of which disagrees; else None."""
    tried = 0
    for n, share in shares(sizes).items():
        for _ in range(generations(n, round((1 - COVERED) * problems * share))):
            parents = at_boundary(hunt.examined, found, n)
            rows = range(rows_of(n)) if parents else ()
            mutants = [
                mutated(hunt.kind, parents[k % len(parents)], hunt.random, closely=True)
                for k in rows
            ]
            named = [(SEARCH, mutant) for mutant in mutants if meets_needs(hunt.task, mutant)]
            if not named:
                break
            group = Group.of(hunt.task, named)
            group = group.take(np.flatnonzero(found.holds(group.coordinates)))
            if len(group.names) and hunt.examine(group, confirms=True):
                return None
            tried += len(group.names)
    return tried


def at_boundary(examined: list[Examined], found: Region, n: int) -> list[Problem]:
    """Right problems of n nodes inside the region: those with the smallest margins, and those next
    to each of its boundaries."""
    problems: list[Problem] = []
    ways: list[list[float]] = [[] for _ in range(1 + len(found.rules))]
    for tried in examined:
        if tried.group.batch.nodes != n:
            continue
        values = tried.group.coordinates
        right = tried.counted & ~tried.result.wrong & found.holds(values)
        problems += [tried.group.problems[k] for k in np.flatnonzero(right)]
        distances = [rule.distance(values) for rule in found.rules]
        for way, some in zip(ways, (tried.result.margin, *distances), strict=True):
            way += some[right].tolist()
    nearest = [np.argsort(way, kind="stable")[: KEPT // len(ways)] for way in ways]
    return [problems[k] for some in nearest for k in some]
