"""Runs of a program that go on from given states: what interchange interventions are compared with.

Off its own path a program may break its promises (two tokens, a Bool that becomes 2). Such samples
are no test of anybody, so they are marked instead of refused.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from algoscope.programs.interpreter import Machine
from algoscope.programs.language import GraphProgram
from algoscope.tasks import Batch


class Continuation(NamedTuple):
    hints: dict[str, np.ndarray]
    """The hints after each of the steps that follow: [batch, step, …]"""
    shown: dict[str, np.ndarray]
    """The hints that the given states show, which the first of these steps reads: [batch, …]"""
    kept: np.ndarray
    """Whether the program kept its promises: bool [batch]"""


def interpret_from(
    program: GraphProgram, batch: Batch, state: Mapping[str, np.ndarray], steps: int
) -> Continuation:
    """What the program does from a state of all its variables, [batch, node] each."""
    machine = Machine(program, batch)
    machine.state = {name: np.array(value, float) for name, value in state.items()}
    shown = machine.hints = machine.shown_hints()
    taken = [machine.step().shown for _ in range(steps)]
    hints = {name: np.stack([step[name] for step in taken], 1) for name in shown}
    return Continuation(hints, shown, ~machine.broken)


def hints_that_show(program: GraphProgram, variable: str) -> list[str]:
    """The features whose shown value depends on the variable."""
    return [
        shown.feature
        for shown in program.shown
        if any(
            atom.name == variable
            for terms in shown.classes
            for term in terms
            for form in (term.value, term.guard.unmet, term.guard.excess)
            for atom in form.terms
        )
    ]
