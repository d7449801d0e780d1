"""References: recordings that are known to be the algorithm, in classes.

Exact programs are not unique: they differ in what a node reads when it does not matter. So a
subject is compared with each program of the task's class, and where it matters: in *decisive* rows.
"""

import dataclasses

import numpy as np

from algoscope import programs
from algoscope.programs import GraphProgram, Role
from algoscope.programs.interpreter import PromiseError, interpret
from algoscope.programs.language import SELF, Round, Term, Update, read
from algoscope.programs.precision import FLOAT64
from algoscope.recording import Recording
from algoscope.tasks import Batch, Location, Stage, Task


class NoReferenceError(ValueError):
    """The task has no program in the library."""


@dataclasses.dataclass(frozen=True, eq=False)
class Reference:
    program: GraphProgram
    recording: Recording
    """What the program does, interpreted: attention is one-hot, hidden states are its variables."""
    decisive: np.ndarray
    """The rows of attention in which something is decided: those of a selection that a variable is
    updated from, where that variable changes. bool [batch, step, head, receiver]"""

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def choices(self) -> np.ndarray:
        """Whom each node reads: int [batch, step, head, receiver]."""
        return np.argmax(np.asarray(self.recording.attention), -1)

    def take(self, samples: slice | np.ndarray) -> "Reference":
        """The same on some of the samples."""
        return Reference(self.program, self.recording.take(samples), self.decisive[samples])


def reference_class(batch: Batch) -> list[Reference]:
    """The recording of each of the task's exact programs on the batch."""
    return [reference(program, batch) for program in exact_programs(batch.task)]


def exact_programs(task: Task) -> list[GraphProgram]:
    """The programs of the class; a NoReferenceError if there is none."""
    exact = programs.of_task(task, Role.REFERENCE)
    if not exact:
        raise NoReferenceError(
            f"task: got {task.name}, for which there is no exact program; the library has some for "
            f"{', '.join(programs.tasks_with_references())}, and programs.register takes one of "
            "your own. External faithfulness, probes and counterfactuals need none: "
            "measures.trace_match, .probes, .counterfactual"
        )
    return exact


def reference(program: GraphProgram, batch: Batch) -> Reference:
    """Where numbers were drawn closer than float32 tells apart, N is that of float64."""
    try:
        recording = interpret(program, batch)
    except PromiseError:
        recording = interpret(program, batch, FLOAT64.resolution)
    return Reference(program, recording, _decisive(program, recording))


def _decisive(program: GraphProgram, recording: Recording) -> np.ndarray:
    state = np.asarray(recording.hidden)
    before = np.concatenate([np.zeros_like(state[:, :1]), state[:, :-1]], 1)
    changed = {v.name: (state != before)[..., k] for k, v in enumerate(program.variables)}
    rows = []
    for number, round_ in enumerate(program.rounds):
        for selection in round_.selections:
            updated = {u.variable for u in round_.updates if _reads(u, {selection.name})}
            lasting = [name for v in updated for name in _lasting(program, v, number)]
            rows.append(np.any([changed[name] for name in lasting], axis=0))
    return np.stack(rows, 2) & recording.valid[:, :, None, None]


def _lasting(program: GraphProgram, variable: str, number: int) -> list[str]:
    """The variable that a round updates; or, if it only carries something to later rounds of the
    same step, the variables that are updated from it there."""
    emitted = {atom.name for e in program.emitted for term in e.terms for atom in term.atoms}
    earlier = program.rounds[: number + 1]
    if variable in emitted or any(_mentions(round_, variable) for round_ in earlier):
        return [variable]
    later = [
        (k, update.variable)
        for k, round_ in enumerate(program.rounds)
        if k > number
        for update in round_.updates
        if update.variable != variable and _reads(update, {SELF}, variable)
    ]
    return [name for k, v in later for name in _lasting(program, v, k)] or [variable]


def _mentions(round_: Round, variable: str) -> bool:
    """Whether somebody reads the variable in the round, other than to keep it."""
    selections = (form for selection in round_.selections for form in selection.forms)
    return any(atom.name == variable for form in selections for atom in form.terms) or any(
        atom.name == variable
        for update in round_.updates
        if update != Update(variable, (Term(read(SELF, variable)),))
        for atom in update.atoms
    )


def _reads(update: Update, places: set[str], variable: str | None = None) -> bool:
    """Whether an update reads something, or the variable, at one of the places."""
    return any(
        atom.where.partition(".")[0] in places and variable in (None, atom.name)
        for atom in update.atoms
    )


def unsettled(batch: Batch) -> np.ndarray:
    """The rows of nodes for which the algorithm has still something to do: steps up to the last one
    that changes a hint of the node. bool [batch, step, receiver]"""
    moving = np.zeros((len(batch), batch.time - 1, batch.nodes), bool)
    valid = np.arange(1, batch.time) < batch.lengths[:, None]
    for feature in batch.at(Stage.HINT):
        if feature.location is Location.NODE:
            hint = batch.hints[feature.name]
            change = hint[:, 1:] != hint[:, :-1]
            moving |= change.reshape(*moving.shape, -1).any(-1)
    moving &= valid[:, :, None]
    return np.flip(np.logical_or.accumulate(np.flip(moving, 1), 1), 1)
