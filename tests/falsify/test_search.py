"""The falsifier finds what is wrong, is silent about what is right, and says how hard it tried."""

import dataclasses

import jax
import numpy as np
import pytest
from measures.conftest import interpreted

from algoscope import networks, programs, tasks
from algoscope.falsify import falsify
from algoscope.falsify.families import SAMPLER, SEARCH, domain, traced
from algoscope.falsify.mutations import simpler
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.recording import Recording
from algoscope.tasks import Batch
from algoscope.tasks.sampling import problems_of

FEW = 700


def bfs_up_to(levels: int):
    """Breadth-first search that ends after so many levels."""
    exact = interpreted("bfs")

    def record(batch: Batch) -> Recording:
        recording = exact(batch)
        last = np.minimum(np.arange(batch.steps), levels - 1)
        hints = {name: hint[:, last] for name, hint in recording.hints.items()}
        end = np.minimum(np.maximum(batch.lengths - 2, 0), levels - 1)
        outputs = {"pi": recording.hints["pi_h"][np.arange(len(batch)), end]}
        return dataclasses.replace(recording, hints=hints, outputs=outputs)

    return record


@pytest.mark.parametrize("name", ["bfs", "bfs_frontier", "bfs_two_heads", "minimum"])
def test_exact_programs_do_not_disagree(name):
    result = falsify(interpreted(name), programs.get(name).task, problems=FEW)
    assert result.wrong == 0
    assert result.smallest is None
    assert result.region is None
    assert str(result).startswith(f"no disagreement in {result.problems:,} problems of ")


@pytest.mark.parametrize(
    "name",
    [program.name for task in ("bfs", "minimum") for program in programs.of_task(task, Role.WRONG)],
)
def test_wrong_programs_are_found_with_a_counterexample_that_shows_it(name):
    subject = interpreted(name)
    result = falsify(subject, programs.get(name).task, problems=FEW)
    assert result.smallest is not None
    assert result.smallest.batch.nodes <= 6
    batch = result.smallest.batch
    recording = subject(batch)
    wrong_answer = any(
        not np.array_equal(np.asarray(recording.outputs[key]), batch.outputs[key])
        for key in batch.outputs
    )
    assert wrong_answer == result.smallest.wrong_answer
    assert wrong_answer or result.smallest.first_step >= 0


def test_a_search_that_ends_gets_its_boundary_and_the_smallest_graph_beyond():
    result = falsify(bfs_up_to(9), "bfs", problems=3000)
    assert str(result.region) == "steps ≤ 9"
    assert result.region is not None
    assert result.region.beyond.low > 0.9
    assert result.smallest is not None
    # A line of eleven nodes from one end has ten levels; the ladder of sizes ends at twelve.
    assert result.smallest.batch.nodes <= 12
    assert int(result.smallest.batch.lengths[0]) == 11


def test_a_counterexample_cannot_be_made_simpler():
    subject = interpreted("bfs_highest")
    result = falsify(subject, "bfs", problems=FEW)
    assert result.smallest is not None
    problem = problems_of(result.smallest.batch)[0]
    kind = domain(tasks.get("bfs"))
    for option in simpler(kind, problem):
        batch = traced(kind.task, [option])
        recording = subject(batch)
        assert np.array_equal(np.asarray(recording.outputs["pi"]), batch.outputs["pi"])
        counted = slice(0, int(batch.lengths[0]) - 1)
        for name, hint in recording.hints.items():
            assert np.array_equal(np.asarray(hint)[0, counted], batch.hints[name][0, 1:][counted])


def test_rare_disagreements_have_a_rate_and_no_region():
    """Wrong where the sum of the edges says so, about once in twenty problems."""
    exact = interpreted("bfs")

    def record(batch: Batch) -> Recording:
        recording = exact(batch)
        digest = (batch.inputs["A"] * np.arange(batch.nodes**2).reshape(batch.nodes, -1)).sum(
            (1, 2)
        )
        wrong = (digest % 19 == 3)[:, None]
        outputs = {"pi": np.where(wrong, 0, recording.outputs["pi"])}
        return dataclasses.replace(recording, outputs=outputs)

    result = falsify(record, "bfs", problems=FEW)
    assert result.region is None
    assert 0.005 < result.rate.value < 0.2
    assert result.rate.low <= result.rate.value <= result.rate.high
    assert sum(f.wrong for f in result.families) == result.wrong


def test_answers_alone_can_be_falsified():
    exact, wrong = (interpreted(name) for name in ("bfs", "bfs_highest"))
    assert falsify(lambda batch: exact(batch).outputs, "bfs", problems=300).wrong == 0
    result = falsify(lambda batch: wrong(batch).outputs, "bfs", problems=300)
    assert result.smallest is not None
    assert result.smallest.wrong_answer
    assert result.smallest.first_step == -1


def test_disagreements_beyond_a_certificate_are_left_out():
    compiled = compile_program(programs.get("bellman_ford"))
    free = falsify(compiled.network, "bellman_ford", problems=300, sizes=(4, 8))
    inside = falsify(
        compiled.network, "bellman_ford", problems=300, sizes=(4, 8), certified=compiled.certified
    )
    assert free.wrong > 0
    assert inside.wrong == 0
    assert inside.left_out > 0
    assert str(inside).endswith(f"{inside.left_out} beyond the certificate left out")


def test_problems_that_confirm_a_region_count_in_no_rate():
    result = falsify(bfs_up_to(9), "bfs", problems=1500)
    assert result.region is not None
    assert result.region.confirmed > 500
    alone = falsify(bfs_up_to(9), "bfs", problems=1500, seed=5)
    for one, other in ((result, alone), (alone, result)):
        assert one.rate.low <= other.rate.high
    assert result.problems < 1500 + result.region.confirmed


def test_few_problems_and_impossible_sizes():
    assert falsify(interpreted("bfs"), "bfs", problems=1).problems > 0
    with pytest.raises(ValueError, match=r"sizes: got \(0,\), needed one of at least"):
        falsify(interpreted("bfs"), "bfs", sizes=(0,))


def test_the_search_finds_more_than_the_sampler():
    """Keys are compared up to a tilt, which two random keys rarely show."""
    network = compile_program(programs.get("minimum_tilted")).network
    result = falsify(network, "minimum", problems=1500, sizes=(8,))
    rates = {family.family: family.rate for family in result.families}
    assert rates[SEARCH].value > 2 * rates[SAMPLER].value


def test_it_is_the_same_for_the_same_seed():
    one, two = (falsify(interpreted("bfs_leaping"), "bfs", problems=300, seed=3) for _ in range(2))
    assert one.families == two.families
    assert one.smallest is not None
    assert two.smallest is not None
    assert np.array_equal(one.smallest.batch.inputs["A"], two.smallest.batch.inputs["A"])


def test_an_untrained_network_is_wrong_nearly_everywhere():
    config = networks.NetworkConfig(width=8)
    network = networks.build(tasks.get("bfs"), config, key=jax.random.key(0))
    result = falsify(network, "bfs", problems=200, sizes=(4, 8))
    assert result.rate.value > 0.9
    assert result.region is None


@pytest.mark.parametrize("odd", [True, False])
def test_a_fault_of_odd_or_of_even_sizes_alone_is_found(odd):
    def answer(batch: Batch) -> dict:
        wrong = batch.nodes % 2 == odd
        return {"min": np.zeros_like(batch.outputs["min"]) if wrong else batch.outputs["min"]}

    result = falsify(answer, "minimum", problems=FEW)
    assert 0 < result.wrong < result.problems
    assert result.smallest is not None
    assert result.smallest.batch.nodes % 2 == odd
