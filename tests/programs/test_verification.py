"""Verification: what is exact is said to be, and what is not is found."""

import dataclasses

import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.falsify.families import traced
from algoscope.networks import showing
from algoscope.programs import verification
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import PromiseError, interpret, show
from algoscope.programs.parser import parse
from algoscope.programs.precision import FLOAT64
from algoscope.programs.verification import agreement, verify
from algoscope.tasks.transforms import with_random_positions

HIGHEST_PARENT = """
    found: Bool
    pi: Node

    visit = found or input.s
    parent = maximum(other.idx, where=other.visit)

    found = parent.visit and not input.s
    pi = once(parent.idx, when=parent.visit and not visit)

    hint.reach_h = visit
    hint.pi_h = output.pi = pi if found else idx
    """


@pytest.fixture(scope="module")
def bfs():
    return tasks.sample("bfs", 6, 5, 3)


def changed(batch, stage, name, place, value):
    """The batch with one number of its reference trace changed."""
    arrays = getattr(batch, stage)
    array = arrays[name].copy()
    array[place] = value
    return dataclasses.replace(batch, **{stage: arrays | {name: array}})


@pytest.mark.parametrize("name", ["bfs", "bellman_ford"])
def test_an_exact_program_is_exact_in_everything(name):
    result = verify(programs.get(name), tasks.sample(name, 6, 5, 3))
    for account in (result.network, result.interpreter, result.compilation):
        assert account.exact_traces == account.exact_outputs == 1.0
        assert set(account.hints.values()) == set(account.outputs.values()) == {1.0}
        assert list(account.hints) == [f.name for f in tasks.get(name).at(tasks.Stage.HINT)]
    assert (result.samples, result.nodes) == (5, 6)


def test_another_algorithm_is_compiled_faithfully_and_differs_from_the_reference():
    program = parse("bfs_highest", "bfs", HIGHEST_PARENT)
    result = verify(program, tasks.sample("bfs", 8, 8, 3))
    assert result.compilation.exact_traces == result.compilation.exact_outputs == 1.0
    assert result.network == result.interpreter
    assert result.network.hints["reach_h"] == 1.0
    assert result.network.exact_traces == result.network.hints["pi_h"] < 1.0
    assert result.network.exact_outputs == result.network.outputs["pi"] < 1.0


def test_one_wrong_number_at_one_step_costs_its_sample(bfs):
    wrong = changed(bfs, "hints", "reach_h", (2, 1, 0), 1 - bfs.hints["reach_h"][2, 1, 0])
    result = verify(programs.get("bfs"), wrong)
    assert result.network.hints == {"reach_h": 0.8, "pi_h": 1.0}
    assert result.network.exact_traces == 0.8
    assert result.network.exact_outputs == result.compilation.exact_traces == 1.0


def test_padding_is_not_compared(bfs):
    short = int(np.argmin(bfs.lengths))
    assert bfs.lengths[short] < bfs.lengths.max()
    padded = changed(bfs, "hints", "reach_h", (short, slice(bfs.lengths[short], None)), -1)
    assert verify(programs.get("bfs"), padded).network.exact_traces == 1.0


@pytest.mark.parametrize(("shift", "share"), [(5e-6, 1.0), (5e-5, 0.0)])
def test_scalars_may_differ_by_a_hundred_thousandth(shift, share):
    batch = tasks.sample("bellman_ford", 6, 3, 3, p=0.9)
    shifted = changed(batch, "hints", "d", ..., batch.hints["d"] + shift)
    assert verify(programs.get("bellman_ford"), shifted).interpreter.hints["d"] == share


def test_a_batch_in_parts_gives_what_the_whole_gives(bfs, monkeypatch):
    wrong = changed(bfs, "outputs", "pi", (4, slice(None)), -1)
    whole = verify(programs.get("bfs"), wrong)
    monkeypatch.setattr(showing, "_NUMBERS_AT_ONCE", 2 * bfs.steps * 6**2)
    assert len(networks.Showing.of(compile_program(programs.get("bfs")).network, bfs).parts) == 3
    assert verify(programs.get("bfs"), wrong) == whole
    assert whole.network.exact_outputs == 0.8


def test_what_differs_is_followed(bfs, monkeypatch):
    """Of long runs a few samples, and all on which network and interpreter differ."""
    monkeypatch.setattr(verification, "_FEWEST_FOLLOWED", 1)
    monkeypatch.setattr(verification, "_PAIRS_FOLLOWED", 1)
    assert verify(programs.get("bfs"), bfs).followed == 1
    close = bfs.inputs["pos"].copy()
    close[3] = 0.5 + 1e-9 * np.arange(6)
    near = verify(programs.get("bfs"), changed(bfs, "inputs", "pos", ..., close))
    assert near.compilation.exact_traces == 0.8
    assert (near.followed, near.below_margin, near.exact_above_margin) == (2, 1, 1.0)


def close_keys():
    """Lists of numbers; two of the second are closer than float32 tells apart."""
    apart, close = [0.7, 0.2, 0.9, 0.4, 0.1], [0.7, 0.2, 0.9, 0.4, 0.4 - 1e-8]
    return traced(tasks.get("insertion_sort"), [{"key": np.array(keys)} for keys in (apart, close)])


def test_numbers_drawn_too_close_are_counted_and_never_certified():
    """One problem among many does not end a verification."""
    program, batch = programs.get("insertion_sort"), close_keys()
    result = verify(program, batch)
    assert (result.broken, result.below_margin, result.exact_above_margin) == (1, 1, 1.0)
    assert "needed numbers that are equal, or at least 1 / (64 N) apart" in result.reason
    assert result.interpreter.exact_traces == 0.5
    assert compile_program(program).certified(batch).tolist() == [True, False]
    finer = show(program, batch, FLOAT64.resolution)
    assert all(same.all() for same in agreement(finer.account, batch).values())


def test_a_promise_that_no_number_is_to_blame_for_is_an_error(bfs):
    text = HIGHEST_PARENT.replace("found = parent.visit", "found = input.s or 1 or parent.visit")
    with pytest.raises(PromiseError, match="two of its cases hold at once"):
        verify(parse("broken", "bfs", text), bfs)


def test_a_trace_of_a_single_step_is_exact():
    alone = tasks.sample("bfs", 1, 2, 3)
    assert verify(programs.get("bfs"), alone).network.exact_traces == 1.0


def test_a_wider_network_is_as_exact(bfs):
    assert verify(programs.get("bfs"), bfs, width=16).network.exact_traces == 1.0


def test_random_positions_are_sorted_draws_of_the_seed(bfs):
    moved = with_random_positions(bfs, 4)
    drawn = np.random.RandomState(4).uniform(size=(5, 6))
    assert np.array_equal(moved.inputs["pos"], np.sort(drawn, 1))
    assert moved.inputs["A"] is bfs.inputs["A"]
    assert verify(programs.get("bfs"), moved).network.exact_traces == 1.0


@pytest.mark.parametrize("value", [0.7, 0.3, 1.4])
def test_a_number_that_is_shown_as_a_mask_is_cut_at_a_half(bfs, value):
    program = parse(
        "half", "bfs", HIGHEST_PARENT.replace("h = visit", f"h = visit - {1 - value} * input.s")
    )
    result = verify(program, bfs)
    assert result.compilation.exact_traces == result.compilation.exact_outputs == 1.0
    assert (result.below_margin, result.followed) == (0, 5)
    sources = interpret(program, bfs).hints["reach_h"][:, 0][bfs.inputs["s"] == 1]
    assert (np.asarray(sources) == (value > 0.5)).all()


def test_a_mask_of_exactly_a_half_is_not_certain(bfs):
    text = HIGHEST_PARENT.replace("h = visit", "h = visit - 0.5 * input.s")
    assert not compile_program(parse("half", "bfs", text)).certified(bfs).any()


FEW = HIGHEST_PARENT + "# most_nodes: 5\n"


def test_more_nodes_than_a_program_is_for_are_refused_and_never_certified(bfs):
    program = parse("few", "bfs", FEW)
    compiled, fewer = compile_program(program), tasks.sample("bfs", 5, 4, 3)
    assert verify(program, fewer).below_margin == 0
    assert compiled.certified(fewer).all()
    assert not compiled.certified(bfs).any()
    assert compiled.certificate.largest_uniform_size == 5
    assert compiled.certificate.largest_random_size == 5
    with pytest.raises(ValueError, match="got problems of 6 nodes, needed at most 5"):
        verify(program, bfs)
