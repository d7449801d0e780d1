"""A task of one's own: traced, verified and trained. `verbs/test_own_algorithm.py` goes on."""

import numpy as np
import pytest
from own_algorithm import FEATURES, draw, program, way_out

from algoscope import measures, networks, programs, report, runs, tasks, training
from algoscope.programs.verification import verify


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    config = training.TrainingConfig(
        tasks=(way_out,),
        steps=2,
        scored_on=(),
        recipe=tasks.Recipe(sizes=(4,), count=4),
        network=networks.NetworkConfig(width=4),
    )
    return training.train(config, tmp_path_factory.mktemp("runs") / "way_out")


def test_a_problem_of_ones_own_is_traced_and_shown():
    trace = tasks.run(way_out, [[0, 1, 0], [0, 0, 1], [0, 0, 0]], exits={2})
    assert trace.answer == {"door": {0: 1, 1: 2, 2: 2}}
    assert trace.named("safe_h") == [{2}, {1, 2}, {0, 1, 2}]
    assert str(trace).splitlines() == [
        "way_out: door = 1 2 2",
        "step  safe_h   door_h",
        "0     {2}      0 1 2",
        "1     {1 2}    0 2 2",
        "2     {0 1 2}  1 2 2",
    ]
    assert "<td>{0 1 2}</td>" in trace._repr_html_()


@pytest.mark.parametrize(
    ("exits", "reason"),
    [
        ({3}, "exits: got 3, needed a node from 0 to 1"),
        ([1], "exits: got 1 values, needed 2, one for each node"),
        ([1, 2], "got 2 in the input exits, a mask, needed values from -1 to 1"),
        (None, "exits: got none, needed a list of numbers"),
    ],
)
def test_a_bad_problem_is_refused(exits, reason):
    with pytest.raises(ValueError, match=reason):
        tasks.run(way_out, [[0, 1], [0, 0]], exits=exits)


def test_a_program_for_it_is_verified_against_the_plain_algorithm():
    result = verify(program, tasks.sample(way_out, size=8, count=8, seed=1))
    for exactness in (result.network, result.interpreter, result.compilation):
        assert exactness.exact_traces == exactness.exact_outputs == 1.0


def test_a_program_alone_defines_the_same_task():
    task = programs.define("way_out", FEATURES, draw, program.text, smallest=2).task
    ours = tasks.sample(task, size=7, count=6, seed=2)
    theirs = tasks.sample(way_out, size=7, count=6, seed=2)
    assert ours.lengths.tolist() == theirs.lengths.tolist()
    for stage in tasks.Stage:
        for name, array in theirs.values(stage).items():
            assert np.array_equal(ours.values(stage)[name], array), name


def test_a_program_that_never_rests_defines_no_task():
    restless = programs.define(
        "restless",
        "lamp_h hint node mask\nlamp output node mask",
        lambda random: None,
        "on: Bool\nself_ = minimum(other.idx)\non = not on\nhint.lamp_h = output.lamp = on",
    )
    with pytest.raises(ValueError, match="still changes after 36 steps on 3 nodes"):
        tasks.sample(restless.task, size=3, count=1)


def test_a_run_of_it_needs_its_file(run, monkeypatch):
    monkeypatch.setattr(tasks.registry, "_registered", {})
    opened = runs.open(run.path)
    for use in (
        lambda: report.findings(opened, opened.tasks[0]),
        lambda: measures.judge(opened.ensemble()[0], opened.tasks[0]),
        lambda: training.train(training.config_of(opened), run.path, force=True),
    ):
        with pytest.raises(ValueError, match=r"unknown task: 'way_out'.*--task FILE\.py"):
            use()


def test_there_is_no_judging_without_a_program(run, monkeypatch):
    monkeypatch.setattr(programs.registry, "_registered", {})
    with pytest.raises(
        measures.NoReferenceError, match=r"programs\.register takes one of your own"
    ):
        measures.judge(run.ensemble()[0], way_out)
