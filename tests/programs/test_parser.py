"""A program is read whole: correct forms are taken, all faults are listed with their places."""

import textwrap

import pytest

from algoscope.programs.faults import Fault
from algoscope.programs.language import OTHER, POSITION, SELF, Atom, Number, Type
from algoscope.programs.parser import ProgramError, parse

LEADING = """
    found: Bool
    pi: Node
    far: Float(8)
    visit = found or input.s
    parent = minimum(other.idx, where=other.visit)
    """
"""Five lines with which every program below starts."""
UPDATES = {
    "found": "found = parent.visit and not input.s",
    "pi": "pi = parent.idx if parent.visit else 0",
    "far": "far = parent.far + 1 if parent.visit else 0",
    "msk": "hint.msk = visit",
    "d": "hint.d = far",
    "pi_h": "hint.pi_h = output.pi = pi if found else idx",
}


def program_text(**instead: str | None) -> str:
    """A correct program, with some of its lines replaced, added or (None) left out."""
    lines = textwrap.dedent(LEADING).strip().splitlines()
    lines += [line for line in (UPDATES | instead).values() if line is not None]
    return "\n".join(lines)


def faults_of(text: str, task: str = "bellman_ford") -> list[Fault]:
    with pytest.raises(ProgramError) as error:
        parse("mine", task, text)
    assert str(error.value).startswith("program mine:")
    assert all(str(fault) in str(error.value) for fault in error.value.faults)
    return error.value.faults


def place_of(text: str, part: str) -> tuple[int, int]:
    """Line and column, from 1, at which the part first stands."""
    before = text[: text.index(part)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def test_a_correct_program_is_read():
    program = parse("mine", "bellman_ford", program_text())
    assert [(v.name, v.type, v.bound) for v in program.variables] == [
        ("found", Type.BOOL, Number(1.0)),
        ("pi", Type.NODE, Number(1.0)),
        ("far", Type.FLOAT, Number(8.0)),
    ]
    (only,) = program.rounds
    (parent,) = only.selections
    assert parent.score.terms == {Atom(OTHER, POSITION): Number(-1.0)}
    assert parent.unmet.terms == {
        Atom(OTHER, "found"): Number(-1.0),
        Atom(OTHER, "input.s"): Number(-1.0),
    }
    assert [update.variable for update in only.updates] == ["found", "pi", "far"]
    assert {emitted.feature for emitted in program.emitted} == {"msk", "d", "pi_h", "pi"}


@pytest.mark.parametrize(
    "line",
    [
        "far = 0.5 * far + -1 * parent.far + 2",
        "far = far - positive(far - parent.far - parent.edge.A)",
        "far = 2 * positive(far - 1) + (parent.hint.d if found else far)",
        "far = (far if found and parent.found else 0) + (1 if not found else 0)",
        "far = far if found else parent.far",
        "far = once(parent.far + 1, when=parent.visit and not visit)",
        "far = self.far",
    ],
)
def test_the_forms_of_an_update_are_read(line):
    parse("mine", "bellman_ford", program_text(far=line))


@pytest.mark.parametrize(
    "line",
    [
        "found = parent.visit",
        "found = not parent.found",
        "found = found or (parent.visit and not found)",
        "found = parent.hint.msk and not hint.msk and not input.s",
        "found = parent.visit if input.s else found",
        "found = idx <= parent.idx",
    ],
)
def test_the_forms_of_a_bool_are_read(line):
    parse("mine", "bellman_ford", program_text(found=line))


@pytest.mark.parametrize(
    "line",
    [
        "best = maximum(other.far)",
        "best = minimum(other.far + edge.A, where=other.visit and edge.A > 0)",
        "best = minimum(other.idx + 2 * positive(pi - other.idx) - positive(other.far - far))",
        "best = maximum(2 * other.hint.d - far, where=not other.found and other.input.s)",
    ],
)
def test_the_forms_of_a_selection_are_read(line):
    parse("mine", "bellman_ford", program_text(best=line))


def test_positions_count_from_the_first_line_of_the_program():
    indented = textwrap.indent(program_text(far="far = fr"), " " * 8)
    assert faults_of("\n\n" + indented) == faults_of(program_text(far="far = fr"))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("found: Bool", "found: Int"),
        ("found: Bool\n", ""),
        ("found or input.s", "found or input.t"),
        ("parent = minimum(", "parent = argmin("),
        ("hint.msk = visit", "hint.msc = visit"),
        ("hint.pi_h = output.pi = pi if", "hint.pi_h = output.pi = p if"),
        ("hint.d = far", "pair.a: Int\npair.a = edge.A\nhint.d = far"),
        ("hint.d = far", "pair.a: Bool\npair.a = edge.B\nhint.d = far"),
    ],
)
def test_what_only_follows_from_a_fault_is_none(right, wrong):
    """One mistake, one fault, whatever the rest of the program reads."""
    text = program_text()
    assert right in text
    faults = faults_of(text.replace(right, wrong))
    assert len({fault.reason for fault in faults}) == 1, faults


def test_a_text_without_statements_says_what_is_missing():
    faults = faults_of("")
    assert {fault.line for fault in faults} == {1}
    assert len(faults) == 5


NAMES = [
    ("far = parnt.far", "parnt.far", "unknown variable: 'parnt.far'"),
    ("far = fr + 1", "fr + 1", "unknown variable: 'fr'; did you mean far?"),
    ("far = parent.fr", "parent.fr", "unknown variable: 'fr'; did you mean far?"),
    ("far = input.sx", "input.sx", "unknown node input of bellman_ford: 'sx'; did you mean s?"),
    (
        "far = input.A",
        "input.A",
        "input.A: got a feature that is read of edges, needed one of nodes",
    ),
    ("far = input.pi", "input.pi", "unknown node input of bellman_ford: 'pi'"),
    ("far = hint.dd", "hint.dd", "unknown node hint of bellman_ford: 'dd'; did you mean d?"),
    ("far = hint.pi_h", "hint.pi_h", "needed one of nodes; in a selection it is `edge.hint.pi_h`"),
    ("far = parent.edge.B", "parent.edge.B", "unknown edge input of bellman_ford: 'B'"),
    ("far = other.far", "other.far", "cannot be read here; here one can read self.…, parent.…"),
    ("far = edge.A", "edge.A", "cannot be read here; here one can read self.…, parent.…"),
]
FORMS = [
    ("far = far * parent.far", "far * parent", "the nearest thing is a case, `a if b else 0`"),
    ("far = parent.edge.A * (1 + far)", "parent.edge.A *", "a product of two variables"),
    ("far = far / 2", "far / 2", "got a division, needed a factor, such as 0.5 * x for x / 2"),
    ("far = far ** 2", "far ** 2", "not something that one round computes"),
    ("far = max(far, 1)", "max(far", "unknown function: 'max'; did you mean maximum?"),
    ("far = argmin(far)", "argmin(far", "unknown function: 'argmin'; did you mean minimum?"),
    ("far = found & visit", "found &", "needed `and`, `or` and `not` of Bools"),
    ("far = found or pi", "pi\nhint", "pi: needed a Bool, a mask or `not` of one"),
    ("far = 1e999", "far = 1e999", "a number that is too large"),
    ("far = 'one'", "'one'", "not something that one round computes"),
    ("far = True", "True", "needed a number; a Bool counts as 0 or 1"),
    ("far = 1 if pi else 0", "pi else", "pi: needed a Bool, a mask or `not` of one"),
    ("far = 1 if not parent.far else 0", "parent.far else", "parent.far: needed a Bool"),
    ("far = 1 if far < 1 else 0", "far < 1", "needed a comparison of the form `a <= b`"),
    ("far = 1 if found and visit else far", "found and visit", "an `else` needs a condition of"),
    (
        "far = once(1, when=found) if visit else 0",
        "once(",
        "once(value, when=condition) stands alone",
    ),
    ("far = minimum(other.far)", "minimum(other.far)", "a selection has a name of its own"),
]
SELECTIONS = [
    ("best = minimum(other.far, other.idx)", "minimum(other.far", "needed minimum(expression"),
    ("best = minimum(other.far, unless=found)", "minimum(other.far", "needed minimum(expression"),
    ("best = minimum(parent.far)", "parent.far)", "here one can read self.…, other.…, edge.…"),
    ("best = minimum(other.far * edge.A)", "other.far * edge", "a product of two variables"),
    ("best = minimum(edge.B)", "edge.B", "unknown edge input of bellman_ford: 'B'"),
    ("best = minimum(other.far, where=other.pi)", "other.pi", "needed a Bool, a mask"),
    ("best = minimum(other.far, where=edge.A < 1)", "edge.A < 1", "`edge.A > 0`"),
    ("best = minimum(other.far, where=edge.A > 1)", "edge.A > 1", "`edge.A > 0`"),
]
STATEMENTS = [
    (
        "near: Int",
        "Int",
        "near: needed Bool, Node, Float(its largest value) or Miss(",
    ),
    (
        "near: Float",
        "Float\n",
        "near: needed Bool, Node, Float(its largest value) or Miss(",
    ),
    ("near: Bool = 1", "near: Bool = 1", "needed `name: Type`, `name: Type = 0`"),
    ("pi: Bool", "pi: Bool", "pi: declared twice"),
    ("parent = minimum(other.far)", "parent = minimum(other.far)", "parent: defined twice"),
    ("visit = found", "visit = found\n", "visit: defined twice; needed another name"),
    ("far = found", "far = found\n", "far: updated twice in a round; needed one sum of cases"),
    ("other = found", "other = found", "other: a word of the language"),
    ("near = found and visit", "found and visit", "near: a name for something needs a sum"),
    ("near = positive(far)", "positive(far)", "near: a name for something needs a sum"),
    ("hint.e = far", "hint.e", "unknown hint of bellman_ford: 'e'; there is d, msk, pi_h"),
    ("output.pj = pi", "output.pj", "unknown output of bellman_ford: 'pj'; did you mean pi?"),
    ("output.d = far", "output.d", "unknown output of bellman_ford: 'd'"),
    ("input.s = far", "input.s =", "needed one name, or hint.NAME and output.NAME"),
    ("near = far = 1", "near = far", "needed one name, or hint.NAME and output.NAME"),
    ("for x in y: pass", "for x", "got `for x in y:`, needed `name: Type`"),
    ("import os", "import os", "needed `name: Type`"),
    ("far += 1", "far += 1", "needed `name: Type`"),
]


@pytest.mark.parametrize(("line", "part", "reason"), NAMES + FORMS)
def test_a_fault_in_an_update_is_found_where_it_stands(line, part, reason):
    text = program_text(far=line)
    first = faults_of(text)[0]
    assert (first.line, first.column) == place_of(text, part)
    assert reason in first.reason


@pytest.mark.parametrize(("line", "part", "reason"), SELECTIONS + STATEMENTS)
def test_a_fault_in_a_further_line_is_the_only_one(line, part, reason):
    text = program_text(further=line) + "\n"
    (fault,) = faults_of(text)
    assert (fault.line, fault.column) == place_of(text, part)
    assert reason in fault.reason


@pytest.mark.parametrize("name", ["hint.d", "output.pi"])
def test_nothing_is_shown_twice(name):
    (fault,) = faults_of(program_text(further=f"{name} = far"))
    assert fault == Fault(12, 1, f"{name}: shown twice")


def test_a_selection_is_not_shown():
    text = program_text(d="hint.d = parent.far")
    faults = faults_of(text)
    assert (faults[0].line, faults[0].column) == place_of(text, "parent.far\n")
    assert faults[0].reason.startswith("d: got parent, a selection, needed variables")


def test_a_variable_is_updated_once():
    (fault,) = faults_of(program_text(further="far = 0"))
    assert (fault.line, fault.column) == (12, 1)
    assert fault.reason.startswith("far: updated twice in a round")


def test_what_is_missing_is_listed_at_the_end():
    text = program_text(found=None, far=None, d=None, pi_h=None)
    assert faults_of(text) == [
        Fault(7, 1, "far: declared and never updated"),
        Fault(7, 1, "found: declared and never updated"),
        Fault(7, 1, "hint.d: never shown, and bellman_ford has it"),
        Fault(7, 1, "hint.pi_h: never shown, and bellman_ford has it"),
        Fault(7, 1, "output.pi: never shown, and bellman_ford has it"),
    ]


def test_a_program_without_a_selection_is_no_graph_program():
    (fault,) = faults_of("hint.reach_h = input.s\nhint.pi_h = output.pi = idx", task="bfs")
    assert fault.line == 2
    assert "no node reads another" in fault.reason


def test_a_categorical_hint_has_a_value_for_every_class():
    faults = faults_of("first = minimum(other.idx)\nhint.color = idx, 1", task="dfs")
    assert Fault(2, 14, "color: got 2 values, needed 3") in faults


@pytest.mark.parametrize(("line", "column"), [("far = far +", 12), ("far = (far", 7)])
def test_a_syntax_error_is_found_where_python_finds_it(line, column):
    (fault,) = faults_of(program_text(far=line))
    assert (fault.line, fault.column) == (8, column)
    assert fault.reason


def test_all_faults_of_a_program_are_listed_in_the_order_of_the_text():
    text = program_text(found="found = fund", pi="pi = pi * far", d="hint.q = far", msk=None)
    faults = faults_of(text)
    assert [(fault.line, fault.column) for fault in faults[:3]] == [
        place_of(text, part) for part in ("fund", "pi * far", "hint.q")
    ]
    assert Fault(10, 1, "hint.msk: never shown, and bellman_ford has it") in faults[3:]


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match="did you mean bellman_ford"):
        parse("mine", "belman_ford", program_text())


def test_a_number_may_contain_n_which_stays_a_symbol():
    program = parse(
        "mine", "bellman_ford", program_text(far="far = 2 * N * (idx - parent.idx) + N + 1")
    )
    (only,) = program.rounds
    value = only.updates[-1].terms[0].value
    assert value.terms == {
        Atom(SELF, POSITION): Number(0.0, 2.0),
        Atom("parent", POSITION): Number(0.0, -2.0),
    }
    assert value.constant == Number(1.0, 1.0)
    assert value.at(8.0).terms == {Atom(SELF, POSITION): 16.0, Atom("parent", POSITION): -16.0}
    assert value.at(8.0).constant == 9.0


@pytest.mark.parametrize(
    "line",
    [
        "far = N * (N * idx)",
        "far = N * N",
        "far = N * (N * positive(idx))",
        "far = same(N * idx, 1)",
    ],
)
def test_n_squared_is_a_fault(line):
    (fault,) = faults_of(program_text(far=line))
    assert fault == Fault(8, 1, "N * N: needed numbers of the form a + b * N")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dist: Float(6)\nbest = minimum(other.dist + edge)", "unknown edge input"),
        (f"x = {'-' * 3_000}1", "nested too deeply"),
        (f"x = {'1 + ' * 3_000}1", "nested too deeply"),
        (f"x = '{'a' * 200_000}'", "needed at most 100,000"),
        ("x = 1\0", "null"),
        (f"dist: Float(6)\nbest = minimum(other.dist * 1{'0' * 400})", "too large"),
    ],
)
def test_what_no_program_holds_is_refused(line, message):
    """Found by fuzzing."""
    with pytest.raises(ProgramError, match=message):
        parse("own", "bfs", line)
