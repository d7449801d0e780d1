"""Problems by construction are problems of the task, and go where its sampler does not."""

import numpy as np
import pytest

from algoscope import tasks
from algoscope.falsify.cover import ALL_SIZES, cover
from algoscope.falsify.families import (
    SAMPLER,
    WEIGHTS,
    domain,
    families,
    meets_needs,
    size,
    traced,
)
from algoscope.falsify.structures import STRUCTURES
from algoscope.tasks.sampling import problems_of


def drawn(task: str, n: int, count: int = 4) -> dict[str, list]:
    random = np.random.default_rng(0)
    return {
        family.name: family.draw(n, count, random) for family in families(domain(tasks.get(task)))
    }


@pytest.mark.parametrize("name", [task for task in tasks.names() if tasks.get(task).smallest <= 8])
def test_every_task_has_problems_that_meet_its_needs(name):
    task = tasks.get(name)
    problems = drawn(name, 8, 2)
    assert problems[SAMPLER]
    for family, members in problems.items():
        assert all(meets_needs(task, problem) for problem in members), family
        for problem in members:
            assert len(traced(task, [problem])) == 1


def test_graphs_are_as_deep_as_they_have_nodes():
    for n in (4, 16, 64):
        problems = drawn("bfs", n, 8)
        assert int(traced(tasks.get("bfs"), problems["line"]).lengths.max()) == n


def test_brooms_have_every_depth_and_sources_every_position():
    problems = drawn("bfs", 8, 200)
    lengths = traced(tasks.get("bfs"), problems["broom"]).lengths
    assert set(range(2, 8)) <= set(lengths.tolist())
    for family in ("line", "star", "half"):
        assert {int(problem["s"][0]) for problem in problems[family]} == set(range(8))


def test_directed_graphs_are_as_deep_as_they_have_nodes():
    """A line whose edges were thinned falls into pieces."""
    lines = drawn("dag_shortest_paths", 12, 24)["line"]
    steps = [(problem["A"] != 0).astype(int) for problem in lines]
    walks = [sum(np.linalg.matrix_power(A, k).any() for k in range(1, 12)) for A in steps]
    assert max(walks) == 11


@pytest.mark.parametrize("name", ["bfs", "bellman_ford", "minimum", "naive_string_matcher"])
def test_a_cover_has_the_smallest_sizes_odd_ones_and_every_place_of_the_critical_node(name):
    """The source, or the answer."""
    task = tasks.get(name)
    groups = cover(task, ALL_SIZES[:-2], 4000, 0)
    sizes = {group.batch.nodes for group in groups}
    assert set(range(task.smallest, 9)) | {13, 33} <= sizes
    places: dict[int, set[int]] = {}
    for group in groups:
        batch = group.batch
        marked = batch.inputs["s"] if "s" in task.problem and "A" in task.problem else None
        marked = marked if marked is not None else next(iter(batch.outputs.values()))
        places.setdefault(batch.nodes, set()).update(np.asarray(marked).argmax(-1).tolist())
    for n in {4, 8, 16} & sizes:
        # A needle of one letter begins at any place but its own.
        assert places[n] >= set(range(n - 1 if "string" in task.problem else n))


def test_keys_are_searched_for_at_every_place_and_next_to_it():
    problems = [p for some in drawn("binary_search", 8, 16).values() for p in some]
    away = [p["target"] - p["key"] for p in problems]
    assert {int(np.abs(gaps).argmin()) for gaps in away} == set(range(8))
    least = np.array([gaps[np.abs(gaps).argmin()] for gaps in away])
    assert (least == 0).any()
    for sign in (-1, 1):
        assert ((sign * least > 0) & (sign * least < 1e-3)).any()


def test_numbers_reach_as_far_as_the_sampler_draws():
    kind = domain(tasks.get("find_maximum_subarray_kadane"))
    assert (kind.least, kind.most) == (-1, 1)
    keys = [p["key"] for some in drawn("find_maximum_subarray_kadane", 8).values() for p in some]
    assert np.min(keys) < -0.5


def test_only_weighted_tasks_have_rules_for_weights():
    for name, weighted in (("bfs", False), ("bellman_ford", True), ("mst_prim", True)):
        names = {family.name for family in families(domain(tasks.get(name)))}
        assert set(STRUCTURES) <= names
        assert ({f"weights {rule}" for rule in WEIGHTS} <= names) == weighted


def test_weights_are_ties_and_many_magnitudes_within_what_the_sampler_draws():
    problems = drawn("bellman_ford", 8, 16)
    kind = domain(tasks.get("bellman_ford"))
    weights = np.concatenate([p["A"][p["A"] != 0] for some in problems.values() for p in some])
    assert kind.least <= weights.min() < 0.04
    assert 0.99 < weights.max() <= kind.most < 1.01
    equal = [np.unique(p["A"][p["A"] != 0]) for p in problems["weights equal"]]
    assert {len(weights) for weights in equal} <= {0, 1}
    assert max(map(len, equal)) == 1
    magnitudes = np.concatenate([p["A"][p["A"] != 0] for p in problems["weights magnitudes"]])
    assert magnitudes.min() < 0.05 < 0.5 < magnitudes.max()


def test_undirected_tasks_have_undirected_graphs():
    for family, members in drawn("mst_prim", 8).items():
        for problem in members:
            assert np.array_equal(problem["A"], problem["A"].T), family


def test_positions_are_drawn_too():
    problems = drawn("bfs", 8)["random positions"]
    batch = traced(tasks.get("bfs"), problems)
    assert np.array_equal(batch.inputs["pos"][0], problems[0]["pos"])
    assert len(np.unique(np.diff(batch.inputs["pos"][0]).round(6))) > 1


def test_problems_of_a_batch_are_traced_to_the_same_batch():
    batch = tasks.sample("dijkstra", 6, 3, seed=1)
    again = traced(batch.task, problems_of(batch))
    assert size(problems_of(batch)[0]) == 6
    for name, values in batch.outputs.items():
        assert np.array_equal(values, again.outputs[name])
