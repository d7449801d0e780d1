"""Machines: right on every maze, and their predictions about exchanges, against parities of crossed
edges."""

import numpy as np
import plain_searches
import pytest

from algoscope.llm import mazes
from algoscope.llm.candidates import MACHINES
from algoscope.llm.exchange import path_edges
from algoscope.llm.machines import answers, begun, exchanged, maze_of
from algoscope.llm.prompts import Item, asked, crossed, described


def _mazes(count: int, size: int = 7, seed: int = 0) -> list[Item]:
    rng = np.random.default_rng(seed)
    drawn = [described(mazes.family("random_tree", size), "letters", rng) for _ in range(count)]
    return [asked(item, *map(int, rng.integers(0, item.nodes, 2))) for item in drawn]


def _paths(depth: int, count: int = 12, seed: int = 0) -> list[Item]:
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        item = described(mazes.family("random_tree", 9), "letters", rng)
        goals = np.flatnonzero(mazes.distances(item.adjacency(), 0) == depth)
        if len(goals):
            found.append(asked(item, 0, int(rng.choice(goals))))
    return found


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: f"{m.name} {m.keeps}")
def test_algorithms_are_right_and_others_are_not(machine):
    right = [
        answers(machine, begun(machine, maze_of(item)), 2 * item.nodes)[-1] == item.reachable
        for item in _mazes(60)
    ]
    assert all(right) == machine.algorithm


@pytest.mark.parametrize(
    ("name", "keeps", "program"),
    [
        ("doubling from the source", "as far as the text goes", plain_searches.doubling),
        ("doubling from the goal", "as far as the text goes", plain_searches.doubling_backward),
        (
            "doubling from the goal",
            "a pointer, and whom it has passed",
            plain_searches.pointer_doubling_passed,
        ),
    ],
)
def test_strides_are_those_of_plain_programs(name, keeps, program):
    """Step by step, on mazes in which several ways lead to a node: only what stands before an edge
    in the text is known to it."""
    [machine] = [m for m in MACHINES if (m.name, m.keeps) == (name, keeps)]
    rng = np.random.default_rng(2)
    told_apart = 0
    for family in ("random", "line") * 30:
        item = described(mazes.family(family, 9), "letters", rng)
        item = asked(item, *map(int, rng.permutation(item.nodes)[:2]))
        question = plain_searches.Question(item.edges, item.source, item.goal)
        said = answers(machine, begun(machine, maze_of(item)), 6)
        assert list(said[1:]) == [program(question, steps) for steps in range(1, 7)]
        told_apart += len(set(said[1:])) > 1
    assert told_apart >= 5


def test_crossing_changes_the_answer_with_every_edge_and_nothing_else():
    rng = np.random.default_rng(0)
    for item in _paths(4):
        path = path_edges(item)
        chosen = [edge for edge in path if rng.random() < 0.5]
        other = crossed(item, chosen)
        assert other.reachable == (len(chosen) % 2 == 0)
        assert (other.source, other.goal, len(other.prompt)) == (0, item.goal, len(item.prompt))
        assert np.array_equal(other.mention_counts(), item.mention_counts())
        assert crossed(other, chosen) == item
        depths = mazes.distances(other.adjacency() | other.adjacency().T, 0)
        assert (depths >= 0).sum() in (item.nodes // 2, item.nodes)


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("BFS", lambda t, depth: range(t)),
        ("backward search", lambda t, depth: range(depth - t, depth)),
    ],
)
def test_predictions_are_parities_of_the_edges_that_were_passed(name, passed):
    """Independent of any machine: the donor's crossings count where its search has passed, the
    base's everywhere else."""
    machine = next(m for m in MACHINES if m.name == name)
    rng, depth = np.random.default_rng(1), 4
    for item in _paths(depth):
        path = path_edges(item)
        chosen = rng.random((2, depth)) < 0.5
        base, donor = (
            crossed(item, [e for e, c in zip(path, row, strict=True) if c]) for row in chosen
        )
        table = exchanged(machine, maze_of(base), maze_of(donor), depth)
        for t in range(depth):
            done = np.isin(np.arange(depth), list(passed(t, depth)))
            crossings = np.where(done, chosen[1], chosen[0]).sum()
            assert table[t, -1] == (crossings % 2 == 0), (name, t)


def test_steps_that_are_left_bound_the_answer():
    machine = MACHINES[0]
    item = _paths(4)[0]
    table = exchanged(machine, maze_of(item), maze_of(item), 5)
    for t in range(6):
        assert list(table[t]) == [t + r >= 4 for r in range(6)]
