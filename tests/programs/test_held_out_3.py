"""The third set of held-out programs: each is what `benchmarks/truth_3.json` says it is."""

import json

import numpy as np
import pytest
from pages import ROOT, one_line

from algoscope import programs, tasks
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import show
from algoscope.programs.verification import agreement
from algoscope.tasks.sampling import trace_problems

FOLDER = ROOT / "benchmarks" / "programs" / "held_out_3"
TRUTH = json.loads((ROOT / "benchmarks" / "truth_3.json").read_text())["programs"]
README = (FOLDER / "README.md").read_text()


def differs(program: programs.GraphProgram, batch: tasks.Batch) -> np.ndarray:
    run = show(program, batch)
    return ~np.all(list(agreement(run.account, batch).values()), 0) & ~run.broken


def test_every_program_was_looked_at():
    assert {path.stem for path in FOLDER.glob("*.program")} == set(TRUTH)
    wrong = [name for name, row in TRUTH.items() if row["role"] == "wrong"]
    covered = {row["task"] for row in TRUTH.values()}
    counted = f"{len(TRUTH)} programs over {len(covered)} tasks, {len(TRUTH) - len(wrong)} exact"
    assert f"{counted} and {len(wrong)} wrong" in one_line(README)


def test_no_two_sets_have_a_program_of_the_same_name():
    names = [path.stem for path in FOLDER.parent.glob("*/*.program")]
    assert len(names) == len(set(names)) > len(TRUTH)


@pytest.mark.parametrize("name", TRUTH)
def test_the_table_says_what_was_found(name):
    row = TRUTH[name]
    line = next(line for line in README.splitlines() if line.startswith(f"| `{name}` |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1] == row["task"]
    share = row["sampled"]["wrong"] / row["sampled"]["problems"]
    assert cells[-2:] == [f"{row['wrong']} of {row['problems']}", f"{share:.1%}"]


@pytest.mark.parametrize("name", TRUTH)
def test_programs_are_what_they_are_said_to_be(name):
    program, row = programs.load(FOLDER / f"{name}.program"), TRUTH[name]
    assert str(program.role) == row["role"]
    assert row["problems"] >= 200
    compile_program(program)
    if program.role is not Role.WRONG:
        assert row["wrong"] == row["sampled"]["wrong"] == 0
        batch = tasks.sample(program.task, max(5, program.task.smallest), 4, seed=5)
        assert not differs(program, batch).any()
        return
    problem = {key: np.asarray(value) for key, value in row["smallest"]["problem"].items()}
    assert differs(program, trace_problems(program.task, row["smallest"]["nodes"], [problem])).all()
