"""The references of a task are a class: every exact program reads what one of them reads."""

import numpy as np
import pytest

from algoscope import programs, tasks
from algoscope.falsify.families import traced
from algoscope.measures import nulls
from algoscope.measures.references import reference_class
from algoscope.measures.thresholds import CRITERIA
from algoscope.programs import Role
from algoscope.programs.interpreter import PromiseError, interpret
from algoscope.programs.verification import agreement

OTHERS = [
    program
    for program in map(programs.get, programs.names())
    if program.role in (Role.VARIANT, Role.STATE)
]


@pytest.mark.parametrize("program", OTHERS, ids=lambda program: program.name)
def test_an_exact_program_reads_what_a_reference_reads(program):
    """One that reads otherwise would be undecided for ever; it has to be a reference itself."""
    batch = tasks.sample(program.task, max(8, program.task.smallest), 6, 3)
    attention = np.asarray(interpret(program, batch).attention)
    adjacent = nulls.neighbours(batch)
    shares = [
        nulls.any_head_agreement(attention, reference, adjacent)[0][reference.decisive].mean()
        for reference in reference_class(batch)
    ]
    assert max(shares) >= CRITERIA["reads_small"].runs_from


def test_programs_that_keep_other_things_may_read_other_nodes():
    """The control: without `activity_selector_until` in the class, nobody reads as it does."""
    batch = tasks.sample("activity_selector", 8, 6, 3)
    first, until = reference_class(batch)
    assert until.name == "activity_selector_until"
    attention, adjacent = np.asarray(until.recording.attention), nulls.neighbours(batch)
    for reference, reads_alike in ((first, False), (until, True)):
        agrees, _ = nulls.any_head_agreement(attention, reference, adjacent)
        share = agrees[reference.decisive].mean()
        assert bool(share >= CRITERIA["reads_small"].runs_from) is reads_alike


def test_numbers_drawn_too_close_for_float32_have_references_all_the_same():
    """A judgement of a sort does not end at them."""
    keys = np.array([0.7, 0.2, 0.9, 0.4, 0.4 - 1e-8])
    batch = traced(tasks.get("insertion_sort"), [{"key": keys}])
    with pytest.raises(PromiseError):
        interpret(programs.get("insertion_sort"), batch)
    for reference in reference_class(batch):
        shown = reference.recording.hints | reference.recording.outputs
        assert all(same.all() for same in agreement(shown, batch).values())
