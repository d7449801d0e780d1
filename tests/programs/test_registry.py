"""Programs by name, by task and from files."""

import pytest
from own_algorithm import program, way_out

from algoscope import programs, tasks
from algoscope.programs import Role, registry
from algoscope.programs.faults import Fault
from algoscope.programs.parser import ProgramError, parse

HIGHEST = """
parent = maximum(other.idx)
hint.reach_h = input.s
hint.pi_h = output.pi = idx
"""


@pytest.fixture
def file(tmp_path):
    def write(name: str, text: str):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_names_are_sorted_and_an_unknown_one_is_refused_with_a_suggestion():
    assert programs.names() == sorted(programs.names())
    assert all(programs.get(name).name == name for name in programs.names())
    with pytest.raises(ValueError, match="unknown program: 'bsf'; did you mean bfs"):
        programs.get("bsf")


def test_a_program_is_itself():
    program = parse("mine", "bfs", HIGHEST)
    assert programs.get(program) is program


def test_every_program_of_the_library_says_its_task_and_its_role():
    in_roles = [
        program.name
        for name in tasks.names()
        for role in Role
        for program in programs.of_task(name, role)
        if program.role is role and program.task is tasks.get(name)
    ]
    # Other tests may have registered programs of their own in this process.
    assert [name for name in sorted(in_roles) if name in programs.names()] == programs.names()
    references = [program.name for program in programs.of_task("bfs", Role.REFERENCE)]
    assert references == ["bfs", "bfs_locked", "bfs_self"]
    assert programs.of_task(tasks.get("bfs"), Role.REFERENCE) == programs.of_task(
        "bfs", Role.REFERENCE
    )


def test_a_text_file_says_what_its_program_is(file):
    head = "# Reads the highest neighbour: nothing else.\n# task: bfs\n# role: wrong\n"
    program = programs.load(file("highest.program", head + HIGHEST))
    assert (program.name, program.task, program.role) == ("highest", tasks.get("bfs"), Role.WRONG)
    assert not program.fully_connected
    connected = programs.load(file("all.txt", "# task: bfs\n# fully_connected: true\n" + HIGHEST))
    assert connected.fully_connected
    assert connected.role is Role.REFERENCE
    assert connected.rounds == program.rounds


def test_faults_are_found_where_they_stand_in_the_file(file):
    head = "# task: bfs\n# roles: wrong\n# fully_connected: yes\n"
    with pytest.raises(ProgramError) as error:
        programs.load(file("mine.program", head + HIGHEST))
    assert error.value.faults == [
        Fault(2, 3, "unknown property of a program: 'roles'; did you mean role?"),
        Fault(3, 20, "unknown fully_connected: 'yes'; there is false, true"),
    ]
    with pytest.raises(ProgramError, match="column 15: most_nodes: got many, needed a number of"):
        programs.load(file("mine.program", "# task: bfs\n# most_nodes: many\n" + HIGHEST))
    with pytest.raises(ProgramError, match="line 1, column 1: no comment `# task: NAME`"):
        programs.load(file("mine.program", HIGHEST))
    with pytest.raises(ProgramError, match="line 3, column 18: unknown variable: 'idxx'"):
        programs.load(file("mine.program", "# task: bfs\n" + HIGHEST.replace("idx)", "idxx)")))


def test_a_name_is_never_a_file_to_be_run(file):
    path = file("mine.py", "raise SystemExit('the file was run')")
    with pytest.raises(ValueError, match="unknown program"):
        programs.get(str(path))


def test_a_registered_program_is_known_by_name_and_by_task(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    programs.register(program)
    assert programs.get("way_out") is program
    assert programs.of_task(way_out, Role.REFERENCE) == [program]
    assert programs.of_task(way_out, Role.WRONG) == []
    programs.register(programs.get("bfs"))
    assert list(registry._registered) == ["way_out"], "the library's own stay where they are"
    with pytest.raises(ValueError, match="'bfs', which is a program of the library"):
        programs.register(parse("bfs", "bfs", HIGHEST))
