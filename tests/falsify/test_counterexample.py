"""A counterexample can be read, kept and reproduced."""

import json

import numpy as np
import pytest
from measures.conftest import interpreted

from algoscope import programs, tasks
from algoscope.falsify import Counterexample, falsify
from algoscope.falsify.counterexample import edges
from algoscope.programs.compiler import compile_program
from algoscope.serialise import from_json, to_json
from algoscope.tasks import Batch, Stage
from algoscope.tasks.given_problems import call
from algoscope.tasks.sampling import problems_of


def _same(one: Batch, other: Batch) -> None:
    assert one.lengths.tolist() == other.lengths.tolist()
    for stage in Stage:
        for name, values in one.values(stage).items():
            assert np.array_equal(values, other.values(stage)[name]), name


@pytest.mark.parametrize("name", tasks.names())
def test_problems_of_every_task_are_reproduced_by_a_call(name):
    batch = tasks.sample(name, 6, 1)
    (problem,) = problems_of(batch)
    _same(eval(call(name, problem), {"tasks": tasks}), batch)


@pytest.fixture(scope="module")
def smallest() -> Counterexample:
    found = falsify(interpreted("bfs_highest"), "bfs", problems=300).smallest
    assert found is not None
    return found


def test_it_comes_back_from_json(smallest):
    again = from_json(Counterexample, json.loads(json.dumps(to_json(smallest))))
    assert again == smallest
    _same(again.batch, smallest.batch)


def test_its_python_gives_the_problem(smallest):
    names: dict = {}
    exec(smallest.python, names)
    _same(names["batch"], smallest.batch)


def test_it_says_what_the_subject_said(smallest):
    recording = interpreted("bfs_highest")(smallest.batch)
    step = smallest.first_step
    truth = smallest.batch.hints["pi_h"][0, step + 1]
    said = recording.hints["pi_h"][0, step]
    assert smallest.hints["pi_h"][step] == said.tolist()
    assert smallest.wrong["pi_h"] == np.flatnonzero(said != truth).tolist()
    assert smallest.wrong_nodes
    rows = {row[0]: row[1:] for row in smallest.comparison.rows}
    algorithm, subject, where = rows[f"pi_h, step {step + 1}"]
    assert algorithm.split() == [str(int(node)) for node in truth]
    assert subject.split() == [str(int(node)) for node in said]
    assert where.split() == [str(node) for node in smallest.wrong["pi_h"]]
    assert smallest.inputs.startswith(f"{smallest.batch.nodes} nodes; ")
    assert "source " in smallest.inputs
    assert "edges 0-" in smallest.inputs
    assert smallest.python.splitlines()[1] in smallest._repr_html_().replace("&#x27;", "'")


def test_edges_have_directions_and_weights():
    A = np.array([[0.5, 1, 0], [1, 0, 0.25], [0, 0, 0]])
    assert [str(edge) for edge in edges(A)] == ["0→0 (0.5)", "0-1", "1→2 (0.25)"]


def test_a_network_with_uneven_positions_is_reproduced():
    network = compile_program(programs.get("minimum_tilted")).network
    found = falsify(network, "minimum", problems=200, sizes=(4,)).smallest
    assert found is not None
    names: dict = {}
    exec(found.python, names)
    _same(names["batch"], found.batch)


def test_answers_that_are_no_nodes_can_be_shown():
    """What a function gives for its first two problems has to fit; later answers are shown."""

    def answer(batch: Batch) -> dict:
        pi = batch.outputs["pi"]
        return {"pi": np.full(pi.shape, 99.0 if pi.shape[1] < 16 else 0.0)}

    found = falsify(answer, "bfs", problems=60, sizes=(4,)).smallest
    assert found is not None
    (row,) = found.comparison.rows
    assert row[0] == "pi, answer"
    assert set(row[2].split()) == {"99"}
