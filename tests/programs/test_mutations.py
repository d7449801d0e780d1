"""Mutants differ in one place, and verification notices them."""

import ast
import collections

import pytest

from algoscope import programs, tasks
from algoscope.programs.mutations import is_noticed, mutants
from algoscope.programs.parser import parse

TEXT = """
found: Bool
far: Float(8)
parent = minimum(other.idx, where=other.found and edge.A)
found = parent.found and not input.s
far = 2 * parent.far + 1
hint.reach_h = 1 if found else 0
hint.pi_h = output.pi = idx
"""


def test_every_place_is_changed_and_nothing_else():
    program = parse("small", "bfs", TEXT)
    made = mutants(program)
    assert collections.Counter(mutant.kind for mutant in made) == {
        "extreme": 1,
        "negated": 4,
        "dropped": 4,
        "number": 4,
    }
    texts = [mutant.program.text for mutant in made]
    assert len(set(texts)) == len(texts)
    for changed in (
        "far = -2 * parent.far + 1",
        "far = 2 * parent.far + 2",
        "2 if found else 0",
        "1 if found else 1",
    ):
        assert changed in "\n".join(texts)
    for mutant in made:
        before, after = (
            ast.unparse(ast.parse(text)).splitlines() for text in (TEXT, mutant.program.text)
        )
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
        assert before[mutant.line - 1] != after[mutant.line - 1]


@pytest.mark.parametrize("name", ["bfs", "task_scheduling"])
def test_a_mutant_is_noticed(name):
    program = programs.get(name)
    batches = [tasks.sample(program.task, size, 16, 1) for size in (4, 8)]
    made = mutants(program)
    unnoticed = [m.program.text.splitlines() for m in made if not is_noticed(m, batches)]
    assert len(unnoticed) <= 0.05 * len(made), unnoticed


def test_a_program_is_no_mutant_of_itself():
    program = programs.get("task_scheduling")
    itself = mutants(program)[0]._replace(program=program)
    assert not is_noticed(itself, [tasks.sample(program.task, 6, 8, 1)])
