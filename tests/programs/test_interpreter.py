"""The library's programs are the algorithms, step by step, and broken promises are reported."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from programs.comparing import LARGE, LIBRARY, QUICK, from_reference, valid_steps

from algoscope import programs, tasks
from algoscope.programs.interpreter import PromiseError, interpret
from algoscope.programs.parser import parse


@pytest.mark.parametrize("program", QUICK, ids=lambda program: program.name)
@hypothesis.given(data=st.data())
@hypothesis.settings(max_examples=40, deadline=None)
def test_a_program_of_the_library_equals_the_reference_algorithm(program, data):
    equals_the_reference_algorithm(program, data)


@pytest.mark.parametrize("program", LARGE, ids=lambda program: program.name)
@hypothesis.given(data=st.data())
@hypothesis.settings(max_examples=10, deadline=None)
def test_a_large_program_of_the_library_equals_the_reference_algorithm(program, data):
    equals_the_reference_algorithm(program, data)


def equals_the_reference_algorithm(program, data):
    task = program.task
    size = data.draw(st.integers(task.smallest, 12), "size")
    seed = data.draw(st.integers(0, 2**32 - 1), "seed")
    options = {}
    if "p" in task.options:
        options["p"] = data.draw(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), "p")
    batch = tasks.sample(program.task, size, 4, seed, **options)
    assert from_reference(interpret(program, batch), batch) == []


@pytest.mark.parametrize("program", LIBRARY, ids=lambda program: program.name)
def test_every_node_attends_to_one_node(program):
    batch = tasks.sample(program.task, 6, 4)
    recording = interpret(program, batch)
    attention = np.asarray(recording.attention)
    assert np.isin(attention, (0, 1)).all()
    assert (attention.sum(-1) == 1).all()
    nodes = attention.shape[-1]
    assert recording.hidden.shape == (*attention.shape[:2], nodes, len(program.variables))


def test_a_node_attends_to_itself_and_to_neighbours_alone():
    batch = tasks.sample("bfs", 8, 4, p=0.4)
    neighbours = batch.inputs["adj"] + np.swapaxes(batch.inputs["adj"], 1, 2) > 0
    attention = np.asarray(interpret(programs.get("bfs"), batch).attention)[:, :, 0]
    reached = attention.max(1) > 0
    assert not (reached & ~neighbours).any()


def test_the_parent_of_a_reached_node_is_whom_it_attended_to():
    batch = tasks.sample("bfs", 8, 4, p=0.4)
    recording = interpret(programs.get("bfs"), batch)
    attended = np.asarray(recording.attention)[:, :, 0].argmax(-1)
    before = batch.hints["reach_h"][:, :-1]
    newly = (batch.hints["reach_h"][:, 1:] > before) & valid_steps(batch)[..., None]
    assert newly.any()
    assert (attended[newly] == batch.hints["pi_h"][:, 1:][newly]).all()


def bfs_with(found: str, declared: str = "Bool"):
    """BFS, with an update that breaks a promise."""
    return parse(
        "broken",
        "bfs",
        f"""
        found: {declared}
        parent = minimum(other.idx)
        found = {found}
        hint.reach_h = input.s
        hint.pi_h = output.pi = idx
        """,
    )


@pytest.mark.parametrize(
    ("found", "declared", "reason"),
    [
        ("input.s or parent.input.s or 1", "Bool", "two of its cases hold at once"),
        ("2 * idx", "Bool", "found, step 0: got values from 0 to"),
        ("0.5 * input.s", "Bool", "found, step 0: got a value that is neither 0 nor 1"),
        ("3 * input.s", "Node", "needed from 0 to 1"),
        ("found + 1", "Float(2)", r"found, step 2: .* needed from 0 to 2; .* declare it larger"),
        ("positive(idx) - 2 * positive(idx)", "Float(2)", "got values from -"),
        ("parent.idx <= idx", "Bool", "step 0: got a comparison a <= b where a is below b, by up"),
        ("above(1e-8 * input.s, 0)", "Miss(1)", "found, step 0: got a Miss between 0 and 1"),
    ],
)
def test_a_broken_promise_is_reported_with_its_step(found, declared, reason):
    batch = tasks.sample("bfs", 9, 16, p=0.5)
    assert batch.lengths.max() > 3
    with pytest.raises(PromiseError, match=reason):
        interpret(bfs_with(found, declared), batch)


def test_a_program_may_do_anything_after_a_problem_has_ended():
    batch = tasks.sample("bfs", 5, 4, p=1.0)
    assert (batch.lengths <= 3).all()
    interpret(bfs_with("found + 1", "Float(2)"), batch)


@pytest.mark.parametrize("name", ["dijkstra", "dfs"])
def test_a_run_is_the_same_for_every_n_that_tells_positions_apart(name):
    batch = tasks.sample(name, 8, 4)
    coarse, fine = (interpret(programs.get(name), batch, n) for n in (2.0**4, 2.0**30))
    assert from_reference(coarse, batch) == from_reference(fine, batch) == []
    assert np.array_equal(coarse.attention, fine.attention)
    with pytest.raises(PromiseError):
        interpret(programs.get(name), batch, 2.0)
