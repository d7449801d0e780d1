"""Whose state is it: programs that keep different things are told apart, and nulls are nobody."""

import jax
import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.measures.exchanges import between, differ, draw_steps, in_margins, valid_exchanges
from algoscope.measures.interchange import partners
from algoscope.measures.nulls import untrained
from algoscope.measures.state_match import go_on, state_match
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import interpret
from algoscope.tasks import Batch, Stage

STORED_PARENTS = {"bfs", "bfs_locked", "bfs_self", "bfs_restless"}


@pytest.fixture(scope="module")
def batch():
    sparse = tasks.sample("bfs", 12, 64, seed=5, family="erdos_renyi", p=(0.2, 0.3))
    return Batch.join([tasks.sample("bfs", 12, 64, seed=5), sparse])


@pytest.fixture(scope="module")
def exchanges(batch):
    return valid_exchanges(batch)


def owners(exchanges, account) -> list[str]:
    return state_match(exchanges, account.hints).owners


def test_base_and_donor_differ_by_one_edge_and_have_the_same_source(exchanges):
    base, donor = exchanges.base.inputs, exchanges.donor.inputs
    np.testing.assert_array_equal(base["s"], donor["s"])
    assert ((base["A"] != donor["A"]).sum((1, 2)) == 2).all(), "both directions"


def test_after_a_valid_exchange_every_exact_program_goes_on_as_on_one_of_the_two(exchanges):
    features = exchanges.base.at(Stage.HINT)
    ways = []
    for problems in (exchanges.base, exchanges.donor):
        lengths = np.full(len(problems), 20)
        whole = Batch(
            problems.task,
            problems.inputs,
            {name: np.repeat(hint[:, :1], 20, 1) for name, hint in problems.hints.items()},
            {},
            lengths,
        )
        hints = {n: np.asarray(h) for n, h in interpret(programs.get("bfs"), whole).hints.items()}
        when = exchanges.steps[:, None] + 1 + np.arange(3)
        ahead = {n: hint[np.arange(len(lengths))[:, None], when] for n, hint in hints.items()}
        ways.append(in_margins(features, ahead))
    for name, account in exchanges.accounts.items():
        said = in_margins(features, account.hints)
        as_one = [~differ(said, way).any((1, 2)) for way in ways]
        assert (as_one[0] | as_one[1]).all(), name


def test_programs_disagree_in_each_exchange(exchanges):
    counted = exchanges.disagreement(exchanges.base.at(Stage.HINT))
    assert counted.any((1, 2)).all()
    assert len(counted) > 20


def test_an_exact_program_is_told_apart_from_those_of_another_state(exchanges):
    whose = {name: set(owners(exchanges, a)) for name, a in exchanges.accounts.items()}
    assert all(name in found for name, found in whose.items())
    assert whose["bfs_levels"] == {"bfs_levels"}
    assert whose["bfs_prefetching"] == {"bfs_prefetching"}
    assert whose["bfs"] >= STORED_PARENTS
    assert not whose["bfs"] & {"bfs_levels", "bfs_prefetching"}


def test_what_is_said_of_stored_parents_and_levels(exchanges):
    match = state_match(exchanges, exchanges.accounts["bfs"].hints)
    assert match.score == (1, 1, 1)
    assert match.by_step == [1, 1, 1]
    assert match.moves == 1
    levels = match.programs["bfs_levels"]
    assert levels.score.value < 0.8
    assert np.isclose(levels.behind.value, 1 - levels.score.value)
    assert levels.behind.low > 0
    assert str(match).startswith("the state of bfs (or ")


@pytest.mark.parametrize("name", ["bfs_drifting", "bfs_leaping", "bfs_late_choice", "bfs_highest"])
def test_the_state_of_a_wrong_program_is_nobodys(exchanges, name):
    match = state_match(exchanges, exchanges.wrong_accounts[name].hints)
    assert match.owners == []
    assert next(iter(match.wrong)) == name
    assert str(match).startswith("nobody's state")


def test_a_program_that_goes_on_from_other_exchanges_is_nobody(exchanges):
    hints = exchanges.accounts["bfs"].hints
    shuffled = {name: np.roll(hint, 1, 0) for name, hint in hints.items()}
    assert state_match(exchanges, shuffled).owners == []


def test_a_subject_as_good_as_an_untrained_one_is_nobody(exchanges):
    hints = exchanges.accounts["bfs_levels"].hints
    assert state_match(exchanges, hints, hints).owners == []


def test_networks_go_on_as_their_programs_do_and_untrained_ones_as_nobody(exchanges):
    network = compile_program(programs.get("bfs_levels")).network
    random = untrained(network, 0)
    hints, null = (
        go_on(n, jax.tree.map(np.asarray, networks.run(n, exchanges.donor)), exchanges)
        for n in (network, random)
    )
    for name, expected in exchanges.accounts["bfs_levels"].hints.items():
        np.testing.assert_array_equal(hints[name], expected)
    assert state_match(exchanges, hints, null).owners == ["bfs_levels"]
    assert state_match(exchanges, null, null).owners == []


def test_states_of_any_run_tell_programs_apart_too(batch):
    donor = partners(batch)
    exchanges = between(batch, donor, draw_steps(donor, np.random.default_rng(0)))
    assert 0 < len(exchanges.steps) <= len(batch)
    assert owners(exchanges, exchanges.accounts["bfs_levels"]) == ["bfs_levels"]


@pytest.mark.parametrize("task", ["bellman_ford", "dijkstra", "mst_prim"])
def test_stored_and_looked_up_parents_of_weighted_graphs(task):
    exchanges = valid_exchanges(tasks.sample(task, 12, 256, seed=1))
    assert exchanges
    looks_up, stores = (
        set(owners(exchanges, exchanges.accounts[name]))
        for name in (task, f"{task.removeprefix('mst_')}_storing")
    )
    assert task in looks_up
    assert not looks_up & stores


def test_a_task_with_one_exact_program_has_no_exchanges_nor_have_too_few_problems(batch):
    assert valid_exchanges(tasks.sample("dfs", 6, 4)) is None
    assert valid_exchanges(batch.take(slice(8))) is None
    assert valid_exchanges(batch.take(slice(1))) is None
    assert valid_exchanges(tasks.sample("minimum", 1, 4)) is None
