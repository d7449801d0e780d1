"""The survey: its problems and traces are the reference's, and what it counts is what is there."""

import jax
import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.falsify import falsify
from algoscope.falsify.disagreement import compare
from algoscope.falsify.families import SURVEY, meets_needs, traced, with_uneven_positions
from algoscope.falsify.parallel import PARALLEL
from algoscope.falsify.survey import drawn, survey
from algoscope.networks import NetworkConfig
from algoscope.programs.compiler import compile_program
from algoscope.tasks import Stage
from algoscope.tasks.transforms import forms

COUNT = 64


@pytest.fixture(scope="module")
def shallow() -> networks.Network:
    """A search that ends after three steps: wrong now and then."""
    return compile_program(programs.get("bfs_three_steps")).network


@pytest.mark.parametrize("name", PARALLEL)
@pytest.mark.parametrize("n", [1, 2, 15])
def test_traces_equal_the_reference_bit_for_bit(name, n):
    task = tasks.get(name)
    if n < task.smallest:
        pytest.skip(f"{name} has at least {task.smallest} nodes")
    batch = drawn(task, n, COUNT, jax.random.key(n))
    reference = traced(task, with_uneven_positions(batch))
    np.testing.assert_array_equal(batch.lengths, reference.lengths)
    for stage in Stage:
        assert batch.values(stage).keys() == reference.values(stage).keys()
        for feature, values in reference.values(stage).items():
            seen = np.asarray(batch.values(stage)[feature])
            if stage is Stage.HINT:
                seen = seen[:, : reference.time]
                assert not np.asarray(batch.values(stage)[feature])[:, reference.time :].any()
            if feature == "pos":
                np.testing.assert_allclose(seen, values, atol=1e-7)
            else:
                np.testing.assert_array_equal(seen, values)


@pytest.mark.parametrize("name", PARALLEL)
def test_problems_differ_and_meet_the_needs_of_the_task(name):
    task = tasks.get(name)
    problems = with_uneven_positions(drawn(task, 9, COUNT, jax.random.key(0)))
    assert all(meets_needs(task, problem) for problem in problems)
    assert len({str(sorted(problem.items())) for problem in problems}) == COUNT
    assert {"pos" in problem for problem in problems} == {True, False}


def test_there_are_deep_and_shallow_searches_ties_and_parts_that_are_not_reached():
    batch = drawn(tasks.get("bfs"), 12, 2000, jax.random.key(0))
    lengths = np.asarray(batch.lengths)
    assert (np.diff(lengths) >= 0).all()
    assert lengths[0] == 1
    assert lengths[-1] == 12
    last = np.asarray(batch.hints["reach_h"])[np.arange(2000), lengths - 1]
    assert 0.05 < (last.min(1) == 0).mean() < 0.5
    A = np.asarray(drawn(tasks.get("bellman_ford"), 12, 2000, jax.random.key(0)).inputs["A"])
    assert len(np.unique(A[A > 0])) > 1000
    assert (np.swapaxes(A, 1, 2) == A).all()
    few = [len(np.unique(a[a > 0])) <= 2 for a in A]
    assert 0.05 < np.mean(few) < 0.3


def test_it_counts_what_differs(shallow):
    task = tasks.get("bfs")
    found = survey(shallow, task, 8, 1500, 0.05)
    assert found.count >= 1500
    assert 0 < found.disagreeing < found.count
    assert 0 < len(found.differing) <= found.disagreeing
    assert compare(shallow, traced(task, found.differing)).wrong.all()
    assert not compare(shallow, traced(task, found.near)).wrong.any()
    batch = drawn(task, 8, 4000, jax.random.key(9))
    deep = np.asarray(batch.lengths) > 4
    assert found.disagreeing / found.count == pytest.approx(deep.mean(), abs=0.05)


def test_the_same_seed_surveys_the_same_problems(shallow):
    task = tasks.get("bfs")
    one, same, other = (survey(shallow, task, 6, 400, 0.05, seed) for seed in (3, 3, 4))
    assert one[:3] == same[:3]
    assert str(one.differing) == str(same.differing)
    assert one[:3] != other[:3]


def test_the_falsifier_tells_it_apart_from_families(shallow):
    result = falsify(shallow, "bfs", problems=100, surveyed=300, sizes=(4, 8))
    assert "and a search and a survey" in result.extent
    surveyed = next(family for family in result.families if family.family == SURVEY)
    assert surveyed.problems >= 300
    assert result.problems == sum(family.problems for family in result.families)
    without = falsify(shallow, "bfs", problems=100, sizes=(4, 8))
    assert result.rate == without.rate
    assert result.family_count == without.family_count


def test_a_compiled_program_is_surveyed_inside_its_certificate():
    compiled = compile_program(programs.get("bfs"))
    result = falsify(
        compiled.network,
        "bfs",
        problems=50,
        surveyed=3000,
        sizes=(4,),
        certified=compiled.certified,
    )
    assert result.wrong == 0
    assert result.problems >= 3000 - result.left_out


def test_predecessors_may_be_an_input():
    features = forms(tasks.get("minimum"))[1]
    network = networks.build(features, NetworkConfig(width=8), key=jax.random.key(0))
    found = survey(network, tasks.get("minimum"), 8, 100)
    assert found.disagreeing == found.count


@pytest.mark.parametrize(
    ("subject", "task", "count", "message"),
    [
        ("network", "dfs", 10, "got the task dfs, needed one of bellman_ford, bfs, floyd_warshall"),
        ("function", "bfs", 10, "got a function, needed a network"),
        ("network", "bfs", -1, "got -1 problems"),
    ],
)
def test_what_cannot_be_surveyed_is_refused_before_work(subject, task, count, message):
    given = {
        "network": networks.build(tasks.get(task), NetworkConfig(width=8), key=jax.random.key(0)),
        "function": lambda batch: batch.outputs,
    }
    with pytest.raises(ValueError, match=message):
        falsify(given[subject], task, surveyed=count)
