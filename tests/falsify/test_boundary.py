"""A region is confirmed by a search from the problems next to its boundary, and only if that finds
nothing."""

from collections.abc import Callable

import numpy as np
import pytest

from algoscope import tasks
from algoscope.falsify.boundary import at_boundary, bisected, fitted, search_inside
from algoscope.falsify.cover import Group, cover
from algoscope.falsify.families import SAMPLER, SEARCH, domain
from algoscope.falsify.mutations import mutated
from algoscope.falsify.scope import Region, Rule
from algoscope.falsify.search import Hunt
from algoscope.statistics import proportion
from algoscope.tasks import Batch

LEAST = 0.25
RULE = Rule("smallest weight", False, LEAST)


def wrong_below(weight: float) -> Callable[[Batch], dict]:
    """Shortest paths but where an edge is lighter."""

    def answer(batch: Batch) -> dict:
        A = batch.inputs["A"]
        light = np.where(A != 0, A, 1.0).min((1, 2)) < weight
        return {"pi": np.where(light[:, None], 0, batch.outputs["pi"])}

    return answer


@pytest.fixture
def lines() -> Group:
    """From node 0, so that the right answer is no row of zeros; all edges 0.301 or longer."""
    problems = []
    for longest in np.linspace(0.31, 0.9, 8):
        weights = np.array([0.301, longest, longest, 0.5])
        A = np.diag(weights, 1) + np.diag(weights, -1)
        problems.append(("line", {"A": A, "s": np.array([0])}))
    return Group.of(tasks.get("bellman_ford"), problems)


@pytest.mark.parametrize(("weight", "confirmed"), [(LEAST, True), (0.3, False)])
def test_a_fault_between_the_boundary_and_the_nearest_problem_is_found(lines, weight, confirmed):
    task = tasks.get("bellman_ford")
    hunt = Hunt(wrong_below(weight), task, None, np.random.default_rng(0), tolerance=1e-4)
    assert hunt.examine(lines) == 0
    region = Region([RULE], 8, proportion([True]))
    tried = search_inside(hunt, region, (5,), 3000)
    assert (tried is not None and tried > 100) if confirmed else tried is None
    assert all(group.confirms for group in hunt.examined[1:])


def test_the_search_starts_next_to_the_boundary(lines):
    task = tasks.get("bellman_ford")
    hunt = Hunt(wrong_below(0), task, None, np.random.default_rng(0), tolerance=1e-4)
    hunt.examine(lines)
    rule = Rule("largest weight", True, 0.9)
    parents = at_boundary(hunt.examined, Region([rule], 8, proportion([True])), 5)
    assert parents[-1]["A"].max() < parents[len(lines.problems)]["A"].max() == pytest.approx(0.9)
    assert rule.distance({"largest weight": np.array([0.5])}) == pytest.approx(0.4)


def test_numbers_move_by_any_magnitude_where_close_calls_are_to_stay_close(lines):
    kind, random = domain(tasks.get("bellman_ford")), np.random.default_rng(0)
    problem = lines.problems[0]
    moves = []
    for _ in range(400):
        changed = mutated(kind, problem, random, closely=True)
        moved = np.abs(changed["A"] - problem["A"])[(changed["A"] != 0) & (problem["A"] != 0)]
        moves += moved[moved > 0].tolist()
    assert np.quantile(moves, 0.1) < 1e-3 < np.quantile(moves, 0.9)


def test_the_gap_between_the_last_right_and_the_first_wrong_problem_is_bisected():
    """Wrong from 0.25 on; all that was tried is 0.31 or more, or 0.1 or less."""
    task, problems, random = tasks.get("bellman_ford"), [], np.random.default_rng(0)
    for least in (*np.linspace(0.05, 0.1, 20), *np.linspace(0.31, 0.45, 40)):
        weights = random.permutation([0.9, least, *random.uniform(0.46, 0.85, 2)])
        A = np.diag(weights, 1) + np.diag(weights, -1)
        problems.append((SAMPLER if least > 0.2 else "line", {"A": A, "s": np.array([0])}))
    hunt = Hunt(wrong_below(LEAST), task, None, np.random.default_rng(0), tolerance=1e-4)
    hunt.examine(Group.of(task, problems))
    before, after = fitted(hunt.examined), bisected(hunt, (5,))
    assert before is not None
    assert after is not None
    ((old,), (new,)) = before.rules, after.rules
    assert old.coordinate == new.coordinate == "smallest weight"
    assert old.wrong_from == pytest.approx(0.1)
    assert old.wrong_from is not None
    assert new.wrong_from is not None
    assert 0.1 < new.wrong_from < LEAST <= new.boundary < old.boundary
    assert new.boundary - new.wrong_from < 0.25 * (old.boundary - old.wrong_from)
    assert all(group.confirms for group in hunt.examined[1:])


def test_a_search_without_margins_starts_from_all_families():
    hunt = Hunt(wrong_below(0), tasks.get("bellman_ford"), None, np.random.default_rng(0), 1e-4)
    for group in cover(hunt.task, (8,), 400, 0):
        hunt.examine(group)
    known = {candidate.family for candidate in hunt.near[8]}
    assert len(known) > 20
    assert SAMPLER in known
    hunt.evolve(8, 300)
    assert len({candidate.family for candidate in hunt.near[8]}) > 20
    assert any(candidate.family == SEARCH for candidate in hunt.near[8])
