"""A small problem for each program, and what the program does on it, as the page's data.

Exact programs of a task share a problem: of those that end in time, one whose graph is of one part,
if there is such, and on which most happens.
A wrong program has a problem on which it differs from the algorithm, if one is at hand.

Values are lists, one a step, and `None` where a step leaves everything as it was.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.programs.interpreter import follow
from algoscope.programs.language import SELF, Atom, GraphProgram, Role, Type
from algoscope.programs.machine import RoundView
from algoscope.programs.verification import agreement
from algoscope.report.library.scenes import scene
from algoscope.tasks import Batch, Feature, Kind, Location, Stage, Task

_SIZES = (7, 6, 5, 4)
_TEXT_SIZES = (12, 10, 8, 6)
"""Of strings, which are two in one problem."""
_PROBLEMS = 64
_DENSITY = 0.5
"""Of graphs: those that CLRS-30 draws for some tasks are seldom of one part."""
_SEED = 1
_MOST_STEPS, _GOOD_STEPS = 45, 5
_MORE_NODES = (6, 7, 8, 11)
"""Where a wrong program is looked for to differ."""


class Example(NamedTuple):
    batch: Batch
    """Of one problem, without padding."""
    differs: bool
    """Whether the program does something else than the algorithm."""


def example(program: GraphProgram) -> Example:
    """The problem on which the program is shown."""
    if program.role is Role.WRONG:
        for size in _MORE_NODES:
            batch = tasks.sample(program.task, max(size, program.task.smallest), _PROBLEMS, _SEED)
            differs = ~_agrees(program, batch)
            if differs.any():
                lengths = np.where(differs, batch.lengths, np.iinfo(int).max)
                return Example(_single(batch, int(lengths.argmin())), True)
    batch = _usual(program.task)
    return Example(batch, not _agrees(program, batch).all())


@functools.cache
def _usual(task: Task) -> Batch:
    """Of the problems with a trace that can be watched to its end, one whose graph has the fewest
    parts; of several the one with the most changes of variables, and then one with a good number
    of steps. The shortest trace of the smallest problems, if none can be watched."""
    spelt = any(f.kind is Kind.CATEGORICAL for f in task.at(Stage.INPUT))
    options = {"p": _DENSITY} if "p" in task.options else {}
    ranked = []
    for size in _TEXT_SIZES if spelt else _SIZES:
        nodes = max(size, task.smallest)
        batch = tasks.sample(task, nodes, _PROBLEMS, _SEED, **options)
        far = np.abs(batch.lengths - 1 - _GOOD_STEPS)
        order = np.lexsort((far, -_count_changes(batch), _count_parts(batch)))
        watched = [int(sample) for sample in order if batch.lengths[sample] <= _MOST_STEPS + 1]
        ranked += [(batch, sample) for sample in watched[:1]]
    if not ranked:
        return _single(batch, int(batch.lengths.argmin()))
    return min(
        (_single(*each) for each in ranked),
        key=lambda one: (_count_parts(one)[0], -_count_changes(one)[0]),
    )


def _count_parts(batch: Batch) -> np.ndarray:
    """Of how many parts that no edge joins the given graph is, 1 where none is given: [batch]"""
    given = [f for f in batch.at(Stage.INPUT) if f.joins_nodes]
    if not given:
        return np.ones(len(batch), int)
    reached = np.any([f.joined(np.asarray(batch.inputs[f.name])) for f in given], axis=0)
    reached = reached | np.eye(batch.nodes, dtype=bool)
    for _ in range(batch.nodes.bit_length()):
        reached = reached @ reached
    return np.rint((1 / reached.sum(-1)).sum(-1)).astype(int)


def _count_changes(batch: Batch) -> np.ndarray:
    """How many values of hints a step changes, over all steps: [batch]"""
    counts = np.zeros(len(batch), int)
    steps = np.arange(1, batch.time) < np.asarray(batch.lengths)[:, None]
    for hint in batch.hints.values():
        changed = np.asarray(hint)[:, 1:] != np.asarray(hint)[:, :-1]
        counts += (changed.reshape(*steps.shape, -1).sum(-1) * steps).sum(-1)
    return counts


def _single(batch: Batch, sample: int) -> Batch:
    one = batch.take([sample])
    length = int(one.lengths[0])
    hints = {name: hint[:, :length] for name, hint in one.hints.items()}
    return Batch(one.task, one.inputs, hints, one.outputs, one.lengths, one.features)


def _agrees(program: GraphProgram, batch: Batch) -> np.ndarray:
    """On which problems all hints and outputs are the algorithm's: bool [batch]"""
    recording = follow(program, batch).recording
    return np.all(list(agreement(recording.hints | recording.outputs, batch).values()), axis=0)


def problem_data(batch: Batch) -> dict[str, Any]:
    """What is drawn and the trace of the algorithm."""
    given = [
        {"name": f.name, "kind": f.kind, "where": f.location, "meaning": f.meaning}
        | {"values": _flat(f, np.asarray(batch.inputs[f.name]))[0]}
        for f in batch.at(Stage.INPUT)
        if f.location is not Location.EDGE and f.name != "pos"
    ]
    hints = [
        {"name": f.name, "kind": f.kind, "where": f.location, "meaning": f.meaning}
        | {"values": _changes(_flat(f, np.asarray(batch.hints[f.name])[0]))}
        for f in batch.at(Stage.HINT)
    ]
    return {
        "scene": scene(batch, 0),
        "steps": int(batch.lengths[0]),
        "given": given,
        "hints": hints,
    }


class _Observer:
    """Keeps whom every node selects and what it keeps, of the one problem of a batch."""

    def __init__(self, program: GraphProgram):
        self.reads = [[] for round_ in program.rounds for _ in round_.selections]
        self.nodes = {v.name for v in program.variables if v.type is Type.NODE}
        self.idx = Atom(SELF, program.idx)
        self.states: list[dict[str, list[float]]] = []
        self._state: dict[str, np.ndarray] = {}
        self._selection = 0

    def after_round(self, number: int, view: RoundView, state: dict[str, np.ndarray]) -> None:
        for senders in view.chosen.values():
            self.reads[self._selection].append(senders[0].tolist())
            self._selection += 1
        self._state = {
            name: self._nearest(value, view.nodes[self.idx]) if name in self.nodes else value[0]
            for name, value in state.items()
        }

    def _nearest(self, names: np.ndarray, idx: np.ndarray) -> np.ndarray:
        """The nodes that are named: [n]"""
        return np.abs(names[0][:, None] - idx[0]).argmin(-1)

    def after_step(self, emitted: dict[str, np.ndarray], running: np.ndarray) -> None:
        self.states.append({name: _rounded(value) for name, value in self._state.items()})
        self._selection = 0


def run_data(program: GraphProgram, shown: Example) -> dict[str, Any]:
    """What the program reads, keeps and shows."""
    observer, batch = _Observer(program), shown.batch
    hints = follow(program, batch, observer=observer).recording.hints
    said = {}
    for feature in batch.at(Stage.HINT):
        values = _flat(feature, np.asarray(hints[feature.name])[0])
        truth = _flat(feature, np.asarray(batch.hints[feature.name])[0, 1:])
        if values[: len(truth)] != truth:
            said[feature.name] = _changes(values[: max(1, len(truth))])
    kept = [v for v in program.variables if any(state.get(v.name) for state in observer.states)]
    return {
        "selections": [
            {"round": number, "name": selection.name}
            for number, round_ in enumerate(program.rounds, 1)
            for selection in round_.selections
        ],
        "rounds": len(program.rounds),
        "reads": [_changes(steps) for steps in observer.reads],
        "kept": [
            {
                "name": variable.name,
                "type": variable.type,
                "values": _changes([state.get(variable.name, []) for state in observer.states]),
            }
            for variable in kept
        ],
        "said": said,
    }


def _flat(feature: Feature, values: np.ndarray) -> list[list[float]]:
    """[step, place]; of a one-hot choice, the index."""
    if feature.one_hot:
        values = values.argmax(-1)
    values = np.asarray(values, float).reshape(len(values), -1)
    if feature.kind is Kind.SCALAR:
        return [_rounded(row) for row in values]
    return np.rint(values).astype(int).tolist()


def _rounded(values: np.ndarray) -> list[float]:
    """Three digits; integers as such."""
    short = (float(f"{value:.3g}") for value in values)
    return [int(value) if value.is_integer() else value for value in short]


def _changes(steps: list[Any]) -> list[Any]:
    """None for a step that is as the one before."""
    return [
        None if number and step == steps[number - 1] else step for number, step in enumerate(steps)
    ]
