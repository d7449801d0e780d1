"""The teacher: a program, right or wrong, that shows on every batch what networks are to learn.

Without a teacher networks learn from the trace of the task's algorithm. A teacher that is named
replaces hints and outputs by its own. Objectives that need more than a trace, such as whom it
reads, ask the teacher, or else the first of the task's reference programs.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import programs
from algoscope.errors import ConfigError
from algoscope.programs import GraphProgram, Role
from algoscope.programs.machine import Machine
from algoscope.tasks import Batch, Stage
from algoscope.tasks.transforms import as_sampled

_MASKED = -1


class Demonstration(NamedTuple):
    """What a program did on the problems of one or several batches, step by step."""

    program: GraphProgram
    batch: Batch
    """All problems in the form of training."""
    sampled: Batch
    """The same in the form that programs read."""
    choices: np.ndarray
    """Whom each node selected: int [sample, step, selection, receiver]"""
    states: dict[str, np.ndarray]
    """Each variable after each step: [sample, step, node]"""
    partners: np.ndarray
    """The other problem of each one's pair: int [sample]"""


def named_teacher(teachers: Sequence[str], task: str) -> GraphProgram | None:
    """The one among the named programs that is for the task."""
    return next((p for p in map(programs.get, teachers) if p.task.name == task), None)


def teacher_for(teachers: Sequence[str], task: str) -> GraphProgram:
    """The named teacher of the task, or else the first of its references."""
    program = named_teacher(teachers, task)
    if program is None:
        references = programs.of_task(task, Role.REFERENCE)
        if not references:
            raise ConfigError(
                f"teacher: got none for {task}, which has no program, needed one whose choices and "
                "states are learnt; the library has some for "
                f"{', '.join(programs.tasks_with_references())}, and --teacher takes a file "
                "of your own"
            )
        program = references[0]
    return program


def teacher_faults(teachers: Sequence[str], tasks: Sequence[str]) -> list[str]:
    """Teachers that there are not, or of other tasks, or several of one."""
    wrong, taught = [], []
    for name in teachers:
        try:
            task = programs.get(name).task.name
        except ValueError as error:
            wrong.append(f"teacher: {error}")
            continue
        if task not in tasks:
            wrong.append(
                f"teacher: got {name}, a program for {task}, needed one for {', '.join(tasks)}"
            )
        if task in taught:
            wrong.append(f"teacher: got two for {task}, needed at most one for each task")
        taught.append(task)
    return wrong


def demonstrate(
    program: GraphProgram, batch: Batch, *, count: int | None = None, replaces: bool = False
) -> Demonstration:
    """What the program does on the problems of batches, of `count` each (all of them, if None), in
    which the second half are the partners of the first. Where it breaks a promise of the language,
    the pair gives way to another. With `replaces`, the batch has the program's trace and answers
    instead of the algorithm's."""
    sampled = as_sampled(batch)
    machine = Machine(program, sampled)
    chosen, states, emitted = [], [], []
    for _ in range(batch.steps):
        step = machine.step()
        chosen.append(np.stack(step.chosen, 1))
        states.append(step.state)
        emitted.append(step.emitted)
    if replaces:
        batch = _with_trace(batch, {n: np.stack([e[n] for e in emitted], 1) for n in emitted[0]})
    partners = _partners(len(batch), count or len(batch))
    kept = _kept(machine, partners)
    names = [variable.name for variable in program.variables]
    by_name = zip(names, np.moveaxis(np.stack(states, 1), -1, 0), strict=True)
    return Demonstration(
        program,
        batch.take(kept),
        sampled.take(kept),
        np.stack(chosen, 1)[kept],
        {name: values[kept] for name, values in by_name},
        partners,
    )


def _partners(samples: int, count: int) -> np.ndarray:
    """int [sample]; of an odd number, the last one's own."""
    rows = np.arange(samples).reshape(-1, count)
    half = count // 2
    parts = rows[:, half : 2 * half], rows[:, :half], rows[:, 2 * half :]
    return np.concatenate(parts, 1).ravel()


def _kept(machine: Machine, partners: np.ndarray) -> np.ndarray:
    """The samples, with others in place of pairs in which the program breaks a promise: int
    [sample]"""
    samples = np.arange(len(partners))
    broken = machine.broken | machine.broken[partners]
    first = samples <= partners
    whole = samples[first & ~broken]
    if not len(whole):
        raise ValueError(
            f"teacher: got {machine.program.name}, which breaks a promise on all problems of a "
            f"batch ({machine.reason}), needed a program that keeps its promises on some"
        )
    fallen = samples[first & broken]
    others = np.resize(whole, len(fallen))
    kept = samples.copy()
    kept[fallen] = others
    kept[partners[fallen]] = partners[others]
    return kept


def _with_trace(batch: Batch, emitted: dict[str, np.ndarray]) -> Batch:
    counts = np.arange(1, batch.time) < np.asarray(batch.lengths)[:, None]
    hints = {}
    for feature in batch.at(Stage.HINT):
        hint = batch.hints[feature.name]
        later = emitted[feature.name][:, : batch.time - 1]
        counted = counts.reshape(counts.shape + (1,) * (later.ndim - 2))
        later = np.where(counted, _masked_as(hint[:, 1:], later), 0).astype(hint.dtype)
        hints[feature.name] = np.concatenate([hint[:, :1], later], 1)
    samples, last = np.arange(len(batch)), np.maximum(np.asarray(batch.lengths) - 2, 0)
    outputs = {}
    for feature in batch.at(Stage.OUTPUT):
        output = batch.outputs[feature.name]
        shown = _masked_as(output, emitted[feature.name][samples, last])
        outputs[feature.name] = shown.astype(output.dtype)
    return dataclasses.replace(batch, hints=hints, outputs=outputs)


def _masked_as(truth: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """What is shown, but for what counts neither for nor against a prediction."""
    return np.where(truth == _MASKED, _MASKED, shown)
