"""State of one run in another: a compiled program goes on as its interpreter says."""

import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.measures.interchange import Run, interchange, partners
from algoscope.measures.references import reference
from algoscope.programs.compiler import compile_program
from algoscope.programs.exchange import features_that_show, resume
from algoscope.programs.interpreter import interpret


@pytest.fixture(scope="module")
def batches():
    batch = tasks.sample("bfs", 10, 12, seed=2)
    return batch, partners(batch)


def exchanged(name: str, batches):
    network = compile_program(programs.get(name), 6).network
    runs = [Run(b, networks.run(network, b), reference(programs.get("bfs"), b)) for b in batches]
    return interchange(network, *runs)


def test_a_compiled_program_passes_for_its_whole_state_and_each_variable(batches):
    found = exchanged("bfs", batches)
    assert found.state == 1
    assert found.variables == {"found": 1, "pi": 1}
    assert found.state_entries > 50


def test_another_program_does_not(batches):
    found = exchanged("bfs_drifting", batches)
    assert found.state < 0.8
    assert found.variables["pi"] < 0.8


def test_partners_have_the_same_source_and_another_graph(batches):
    batch, others = batches
    np.testing.assert_array_equal(batch.inputs["s"], others.inputs["s"])
    np.testing.assert_array_equal(np.roll(batch.inputs["A"], -1, 0), others.inputs["A"])


def test_going_on_from_a_programs_own_state_is_the_program(batches):
    batch, program = batches[0], programs.get("bfs_frontier")
    whole = interpret(program, batch)
    state = np.asarray(whole.hidden)[:, 0]
    by_name = {v.name: state[..., k] for k, v in enumerate(program.variables)}
    found = resume(program, batch, by_name, 2)
    assert found.kept.all()
    for name, hint in found.hints.items():
        np.testing.assert_array_equal(found.initial_hints[name], whole.hints[name][:, 0])
        np.testing.assert_array_equal(hint, whole.hints[name][:, 1:3])


def test_broken_promises_are_marked(batches):
    batch, program = batches[0], programs.get("bfs_frontier")
    state = {v.name: np.ones((len(batch), 10)) for v in program.variables}
    state["pi"] = np.full((len(batch), 10), 3.0)
    assert not resume(program, batch, state, 1).kept.any()


def test_which_hints_show_a_variable():
    assert features_that_show(programs.get("bfs"), "found") == ["reach_h", "pi_h", "pi"]
    assert features_that_show(programs.get("bfs"), "pi") == ["pi_h", "pi"]
