"""What exact programs do where CLRS-30's sampler never goes: equal keys, other positions."""

import numpy as np
import pytest

from algoscope import programs, tasks
from algoscope.falsify.families import domain, families, traced
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import show
from algoscope.programs.verification import agreement
from algoscope.tasks.transforms import with_random_positions


@pytest.mark.parametrize("name", ["insertion_sort", "bubble_sort", "heapsort"])
def test_equal_keys_are_sorted_as_the_algorithm_does(name):
    program, random = programs.get(name), np.random.default_rng(0)
    drawn = [family.draw(5, 4, random) for family in families(domain(program.task))]
    batch = traced(program.task, [problem for problems in drawn for problem in problems])
    run = show(program, batch)
    assert not run.broken.any()
    assert all(same.all() for same in agreement(run.account, batch).values())


def test_the_last_activity_is_the_one_selected_last():
    """Two that end at the same time: the second is selected last, and is k."""
    problem = {"s": np.array([0.1, 0.5, 0.2]), "f": np.array([0.5, 0.5, 0.9])}
    program = programs.get("activity_selector")
    batch = traced(program.task, [problem])
    assert agreement(show(program, batch).account, batch)["k"].all()


def test_positions_that_have_to_be_even():
    compiled = compile_program(programs.get("binary_search"))
    batch = tasks.sample("binary_search", 5, 6, 1)
    assert compiled.certificate.largest_random_size == 0
    assert compiled.certified(batch).any()
    assert not compiled.certified(with_random_positions(batch, 1)).any()


def test_an_irrelevant_choice_leaves_samples_certain():
    """In graham_scan's first step no angle is known, so that any node may be the next by angle."""
    compiled = compile_program(programs.get("graham_scan"))
    assert compiled.certified(tasks.sample("graham_scan", 5, 6, 1)).any()
