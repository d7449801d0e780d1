"""A program that is another one but for a few lines."""

import pytest

from algoscope import programs
from algoscope.programs import Role
from algoscope.programs.parser import ProgramError

HEAD = "# Late by one.\n# task: task_scheduling\n# role: wrong\n# like: task_scheduling\n\n"
CHANGE = "- late = above(t + 1, next.input.d)\n+ late = above(t, next.input.d)\n"


@pytest.fixture
def load(tmp_path):
    def load_text(text: str, name: str = "mine"):
        path = tmp_path / f"{name}.program"
        path.write_text(text)
        return programs.load(path)

    return load_text


def test_a_program_is_the_other_one_with_its_changes(load):
    program, base = load(HEAD + CHANGE), programs.get("task_scheduling")
    assert (program.name, program.role) == ("mine", Role.WRONG)
    assert program.task is base.task
    assert program.fully_connected is base.fully_connected
    assert program.text.startswith(HEAD.rstrip() + "\n# fully_connected: true\n\n")
    assert "# instead of: late = above(t + 1, next.input.d)\nlate = above(t, next" in program.text
    assert base.text.partition("\n\n")[2].splitlines() == [
        "late = above(t + 1, next.input.d)" if line == "late = above(t, next.input.d)" else line
        for line in program.text.partition("\n\n")[2].splitlines()
        if not line.startswith("# instead of")
    ]


def test_a_change_may_add_lines_and_take_some_away(load):
    added = "- done: Bool\n+ done: Bool\n+ often: Bool\n\n- hint.t = t\n+ often = 1\n+ hint.t = t\n"
    assert [v.name for v in load(HEAD + added).variables][:3] == ["done", "often", "selected"]
    gone = "- pred: Node = 0\n\n- pred = prev.idx\n\n- hint.pred_h = pred\n+ hint.pred_h = idx\n"
    assert "pred" not in [v.name for v in load(HEAD + gone).variables]


def test_one_beside_it_comes_before_the_library(load):
    load(programs.get("task_scheduling").text.replace("t + 1", "t + 2"), "task_scheduling")
    with pytest.raises(ProgramError, match="stand there once, got 0: late = above"):
        load(HEAD + CHANGE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD + "- taken = off\n+ taken = not off", "line 6, .* once, got 0: taken = off"),
        ("# task: kmp_matcher\n# like: kmp_matcher\n\n- then\n", "line 4, .* once, got 4: then"),
        (HEAD + "taken = off\n", "line 6, .* begins with - or \\+, got 'taken = off'"),
        (HEAD + "+ taken = off\n", "line 6, .* needed a line with - before it"),
        (HEAD.replace("like: task", "like: tusk") + CHANGE, "unknown program: 'tusk_scheduling'"),
        (HEAD.replace("like: ", "like: ../") + CHANGE, "unknown program: '../task_scheduling'"),
        (HEAD.replace("task: task_scheduling", "task: bfs") + CHANGE, "needed one task"),
        (
            HEAD.replace("like: task_scheduling", "like: task_scheduling_thirteen") + CHANGE,
            "task_scheduling_thirteen, which is like another itself",
        ),
    ],
)
def test_changes_that_do_not_fit_are_refused(load, text, reason):
    with pytest.raises(ProgramError, match=reason):
        load(text)
