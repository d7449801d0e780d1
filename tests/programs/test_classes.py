"""Every task has a class of programs: exact ones, and wrong ones that are nearly always right."""

import importlib
import json

import numpy as np
import pytest
import scipy.stats
from pages import ROOT
from programs.comparing import WRONG

from algoscope import programs, tasks
from algoscope.experiments.mind_the_gap import parallel
from algoscope.programs.interpreter import follow

WITHOUT_PROGRAMS = {"floyd_warshall", "lcs_length", "matrix_chain_order", "optimal_bst"}
TRAINED_ON = {arm.task for arm in parallel.ARMS}
"""Networks of every task are trained in the experiments."""


@pytest.fixture(scope="module")
def classes():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return importlib.import_module("classes")


@pytest.fixture(scope="module")
def rows(classes):
    return classes.read(ROOT / "benchmarks/classes.json")


def test_every_program_was_measured(classes, rows):
    measured = {row.program: (row.task, row.role) for row in rows}
    known = {p.name: (p.task.name, str(p.role)) for p in classes.everything()}
    assert measured == known


def test_exact_programs_were_exact_on_all_ordinary_problems(classes, rows):
    for row in rows:
        if row.role != "wrong":
            assert row.answers == row.traces == row.problems >= classes.COUNT, row
            assert row.large == row.large_problems >= classes.LARGE_COUNT, row


def test_every_task_has_two_wrong_programs_that_are_nearly_always_right(classes, rows):
    for task in programs.tasks_with_references():
        near = [
            row
            for row in rows
            if row.task == task and row.role == "wrong" and row.mostly_right and row.wrong_somewhere
        ]
        assert len(near) >= 2, task


def test_tasks_that_networks_are_trained_on_have_two_exact_programs(rows):
    """That differ in what they read or keep: not in their names alone."""
    assert set(tasks.names()) == TRAINED_ON
    for task in TRAINED_ON - WITHOUT_PROGRAMS:
        exact = [
            programs.get(row.program)
            for row in rows
            if row.task == task and row.role != "wrong" and row.program in programs.names()
        ]
        said = [(program.variables, program.rounds) for program in exact]
        assert any(other != said[0] for other in said), task


@pytest.mark.parametrize("program", WRONG, ids=lambda program: program.name)
def test_a_wrong_program_is_wrong_somewhere(classes, rows, program):
    """On the problems on which it was measured to be, a few at a time; or on others."""
    (row,) = [row for row in rows if row.program == program.name]
    measured = tasks.sample(program.task, classes.SIZE, row.problems, classes.SEED)
    parts = (measured.take(np.arange(k, k + 16)) for k in range(0, row.problems, 16))
    others = (tasks.sample(program.task, *draw) for draw in ((5, 32), (40, 32)))
    batches = parts if row.traces < row.problems else others
    assert any(not classes.right(program, batch)[1].all() for batch in batches)


@pytest.mark.parametrize("program", WRONG, ids=lambda program: program.name)
def test_a_wrong_program_answers_as_often_as_was_measured(classes, rows, program):
    """As many of a few problems as the share says, but for one case in a thousand."""
    (row,) = [row for row in rows if row.program == program.name]
    batch = tasks.sample(program.task, classes.SIZE, 24, 5)
    wrong = int((~classes.right(program, batch)[0]).sum())
    share = (row.problems - row.answers + 1) / (row.problems + 1)
    assert wrong <= scipy.stats.binom.ppf(0.999, len(batch), share)


def test_exact_programs_are_right_and_wrong_ones_are_told_apart(classes):
    """A control of the measurement itself."""
    exact, wrong = programs.get("insertion_sort_by_keys"), programs.get("insertion_sort_at_once")
    batch = tasks.sample("insertion_sort", 9, 8)
    assert all(np.all(each) for each in classes.right(exact, batch))
    answers, traces = classes.right(wrong, batch)
    assert answers.all()
    assert not traces.any()
    assert not follow(wrong, batch).broken.any()


def test_no_wrong_program_is_said_to_run_its_algorithm():
    judged = json.loads((ROOT / "benchmarks/judged.json").read_text())
    wrong = [row for row in judged if row["role"] == "wrong"]
    assert not any(row["word"] == "runs" for row in wrong)
    page = " ".join((ROOT / "docs/lab/classes.md").read_text().split())
    assert f"None of the {len(wrong)} wrong ones *runs*" in page
    for row in judged:
        counts = f"{row['tried']} | {row['wrong']} | {row['left_out']}"
        assert f"| {row['program']} | {row['role']} | {row['verdict']} | {counts} |" in page
