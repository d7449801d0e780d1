"""Problems by construction are problems of the task, and go where its sampler does not."""

import numpy as np
import pytest

from algoscope import tasks
from algoscope.falsify.families import (
    SAMPLER,
    STRUCTURES,
    WEIGHTS,
    domain,
    families,
    meets_needs,
    size,
    traced,
)
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
    equal = problems["weights equal"][0]["A"]
    assert len(np.unique(equal[equal != 0])) == 1
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
