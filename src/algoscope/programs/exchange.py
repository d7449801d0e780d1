"""A program resumed from other states: what interchange interventions are compared with.

Off its own path a program may break its promises (two tokens, a Bool that becomes 2). Such samples
test nothing, so they are marked instead of refused.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from algoscope.programs.language import GraphProgram
from algoscope.programs.machine import Machine
from algoscope.tasks import Batch


class Continuation(NamedTuple):
    hints: dict[str, np.ndarray]
    """The hints after each of the steps that follow: [batch, step, …]"""
    initial_hints: dict[str, np.ndarray]
    """The hints of the states themselves, which the first of these steps reads: [batch, …]"""
    kept: np.ndarray
    """Whether the program kept its promises: bool [batch]"""


def states_after(program: GraphProgram, batch: Batch, steps: np.ndarray) -> dict[str, np.ndarray]:
    """Every variable as the program has it after a step of each sample, int [batch]:
    [batch, node] by name."""
    machine = Machine(program, batch)
    states = dict(machine.state)
    for number in range(int(steps.max()) + 1):
        machine.step()
        due = (steps == number)[:, None]
        states = {name: np.where(due, machine.state[name], value) for name, value in states.items()}
    return states


def resume(
    program: GraphProgram, batch: Batch, state: Mapping[str, np.ndarray], steps: int
) -> Continuation:
    """What the program does from a state of all its variables, [batch, node] each."""
    machine = Machine(program, batch)
    machine.state = {name: np.array(value, float) for name, value in state.items()}
    emitted = machine.emit()
    initial_hints = machine.hints = {name: emitted[name] for name in machine.hints}
    later = [machine.step().emitted for _ in range(steps)]
    hints = {name: np.stack([step[name] for step in later], 1) for name in initial_hints}
    return Continuation(hints, initial_hints, ~machine.broken)


def features_that_show(program: GraphProgram, variable: str) -> list[str]:
    """The features whose emitted value depends on the variable."""
    return [
        emitted.feature
        for emitted in program.emitted
        if any(atom.name == variable for term in emitted.terms for atom in term.atoms)
    ]
