"""Tasks and programs on the command line: by name, or by the file that defines them."""

import sys

import pytest

from algoscope import programs, tasks
from algoscope.verbs.definitions import find_program, find_task

TASK = """
import own_algorithm as example
from algoscope import programs, tasks

{name} = tasks.define("{name}", example.FEATURES, example.draw, example.search)
"""
PROGRAM = 'find_{name} = programs.parse("find_{name}", {name}, example.program.text)\n'


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch):
    for registry in (programs.registry, tasks.registry):
        monkeypatch.setattr(registry, "_registered", {})


@pytest.fixture
def file(tmp_path):
    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def test_a_name_is_looked_up_and_a_file_is_run(file):
    assert find_task("bfs") is tasks.get("bfs")
    assert find_program("bfs") is programs.get("bfs")
    path = file("mine.py", (TASK + PROGRAM).format(name="cellar"))
    task, program = find_task(path), find_program(path)
    assert (task.name, program.name) == ("cellar", "find_cellar")
    assert program.task is task, "the file was run once"


def test_a_file_imports_what_lies_beside_it(file, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    file("floor_plan.py", "NAME = 'veranda'\n")
    path = file("mine.py", "from floor_plan import NAME\n" + TASK.format(name="veranda"))
    assert find_task(path).name == "veranda"


def test_what_a_file_defines_is_then_known_by_name(file):
    path = file("mine.py", (TASK + PROGRAM).format(name="attic"))
    with pytest.raises(ValueError, match=r"unknown task: 'attic'.*--task FILE\.py"):
        tasks.get("attic")
    find_task(path)
    assert tasks.get("attic").name == "attic"
    assert programs.of_task("attic", programs.Role.REFERENCE) == [programs.get("find_attic")]


def test_one_of_several_is_chosen_by_name(file):
    path = file("two.py", TASK.format(name="porch") + TASK.format(name="stairs"))
    assert find_task(f"{path}:stairs").name == "stairs"
    with pytest.raises(ValueError, match=r"needed one task: give two\.py:porch or two\.py:stairs"):
        find_task(path)
    with pytest.raises(ValueError, match=r"unknown task: 'stair'; did you mean stairs\?"):
        find_task(f"{path}:stair")


def test_a_file_without_what_is_needed_is_refused(file):
    with pytest.raises(ValueError, match="got a file without a program"):
        find_program(file("mine.py", TASK.format(name="hall")))
    with pytest.raises(ValueError, match=r"nowhere\.py: got no such file, needed one that defines"):
        find_task("nowhere.py")


def test_a_text_file_holds_a_program(file):
    path = file("again.program", "# task: bfs\n" + programs.get("bfs").text)
    assert find_program(path).task is find_task(path) is tasks.get("bfs")
    assert programs.get("again") is find_program(path)


def test_problems_of_a_task_in_a_file_are_sampled(algoscope, file):
    path = file("mine.py", TASK.format(name="garage"))
    printed = algoscope("sample", path, "--size", "5", "--count", "1", "--options", "doors=0.9")
    assert printed.startswith("garage: door = ")
    assert "safe_h" in printed
