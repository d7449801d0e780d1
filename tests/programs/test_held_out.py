"""The second set of held-out programs: each is what `benchmarks/truth.json` says it is."""

import json
import pathlib

import numpy as np
import pytest
from pages import ROOT

from algoscope import programs, tasks
from algoscope.programs import Role
from algoscope.programs.interpreter import show
from algoscope.programs.verification import agreement
from algoscope.tasks.sampling import trace_problems

FOLDER = ROOT / "benchmarks" / "programs" / "held_out_2"
TRUTH = json.loads((ROOT / "benchmarks" / "truth.json").read_text())["programs"]


def differs(program: programs.GraphProgram, batch: tasks.Batch) -> np.ndarray:
    run = show(program, batch)
    return ~np.all(list(agreement(run.account, batch).values()), 0) | run.broken


def test_every_program_was_looked_at():
    assert {path.stem for path in FOLDER.glob("*.program")} == set(TRUTH)
    roles = [row["role"] for row in TRUTH.values()]
    assert (len(roles), roles.count("wrong")) == (60, 39)


@pytest.mark.parametrize("name", TRUTH)
def test_programs_are_what_they_are_said_to_be(name):
    program, row = programs.load(pathlib.Path(FOLDER / f"{name}.program")), TRUTH[name]
    assert str(program.role) == row["role"]
    assert row["problems"] >= 400
    if program.role is not Role.WRONG:
        assert row["traces"] == row["answers"] == 0
        batch = tasks.sample(program.task, max(5, program.task.smallest), 4, seed=5)
        assert not differs(program, batch).any()
        return
    smallest = row["smallest"]
    problem = {key: np.asarray(value) for key, value in smallest["problem"].items()}
    assert differs(program, trace_problems(program.task, smallest["nodes"], [problem])).all()
