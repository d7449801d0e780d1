"""What a judgement rests on: the code that judges, the task, and its exact programs."""

import dataclasses

import pytest

from algoscope import programs, tasks
from algoscope.measures import basis
from algoscope.programs import Role
from algoscope.verbs.definitions import run_file

OWN = """
import numpy as np
from algoscope import tasks

def draw(random, key):
    key[:] = random.random(key.shape)

def search(record, key, best_h, best):
    best_h[:] = best[:] = key == key.{extreme}()
    record()

task = tasks.define("extreme_of_mine", "key input node scalar\\nbest_h hint node mask\\n"
                    "best output node mask", draw, search)
"""


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A package with nothing but the parts that judge."""
    for part in basis._JUDGING:
        file = tmp_path / part if part.endswith(".py") else tmp_path / part / "inner" / "all.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n")
    monkeypatch.setattr(basis, "_PACKAGE", tmp_path)
    return tmp_path


def test_every_part_that_judges_is_in_it(code):
    seen = {basis._code.__wrapped__()}
    for part in basis._JUDGING:
        file = next(f for f in (code / part, code / part / "inner" / "all.py") if f.is_file())
        file.write_text("x = 2\n")
        seen.add(basis._code.__wrapped__())
    assert len(seen) == len(basis._JUDGING) + 1
    (code / "measures" / "note.txt").write_text("no code")
    assert basis._code.__wrapped__() in seen


def test_it_is_of_a_task(monkeypatch):
    assert basis.basis("bfs") == basis.basis("bfs") != basis.basis("dfs")


def test_a_changed_program_is_another_one(monkeypatch):
    before = basis.basis("bfs")
    others = [
        dataclasses.replace(program, text=f"{program.text}\n# changed")
        for program in programs.of_task("bfs", Role.REFERENCE)
    ]
    monkeypatch.setattr(programs, "of_task", lambda task, role: others)
    assert basis.basis("bfs") != before


def test_a_changed_file_of_ones_own_is_another_one(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks.registry, "_registered", {})
    path, seen = tmp_path / "own.py", []
    for extreme in ("min", "max", "min"):
        path.write_text(OWN.format(extreme=extreme))
        tasks.register(run_file(path)["task"])
        seen.append(basis.basis("extreme_of_mine"))
    assert seen[0] != seen[1]
    assert seen[0] == seen[2]
