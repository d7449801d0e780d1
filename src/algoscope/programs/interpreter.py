"""The meaning of a program: runs it on problems without a network, and records what it does.

Where it breaks a promise of the language, the interpreter says so.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from algoscope.programs.language import GraphProgram
from algoscope.programs.machine import Machine, Observer, Step
from algoscope.programs.precision import FLOAT32
from algoscope.recording import Recording
from algoscope.tasks import Batch, Stage


class PromiseError(ValueError):
    """A program did what the language says it never does."""


def interpret(
    program: GraphProgram, batch: Batch, resolution: float = FLOAT32.resolution
) -> Recording:
    """What the program does on each problem of the batch, where N is the resolution."""
    run = follow(program, batch, resolution)
    if run.broken.any():
        raise PromiseError(run.reason)
    return run.recording


class Run(NamedTuple):
    recording: Recording
    broken: np.ndarray
    """Where a promise of the language was broken: [batch]."""
    reason: str
    """The first promise that was broken, if any."""


def follow(
    program: GraphProgram,
    batch: Batch,
    resolution: float = FLOAT32.resolution,
    observer: Observer | None = None,
) -> Run:
    """A run that is observed, and that goes on where promises are broken."""
    machine = Machine(program, batch, resolution, observer)
    steps = [machine.step() for _ in range(batch.steps)]
    shown = _shown(steps, batch)
    recording = Recording(
        jnp.asarray(np.stack([step.attention for step in steps], 1)),
        jnp.asarray(np.stack([step.state for step in steps], 1)),
        {n: jnp.asarray(shown[n]) for f in batch.task.at(Stage.HINT) if (n := f.name) in shown},
        {n: jnp.asarray(shown[n]) for f in batch.task.at(Stage.OUTPUT) if (n := f.name) in shown},
        jnp.asarray(batch.lengths),
        {},
    )
    return Run(recording, machine.broken, machine.reason)


class Shown(NamedTuple):
    """A run without what happens inside: for verification, where whom nodes read in all steps would
    be most of what is kept."""

    account: dict[str, np.ndarray]
    """Hints [batch, step, …] and outputs [batch, …], by name."""
    broken: np.ndarray
    reason: str


def show(
    program: GraphProgram,
    batch: Batch,
    resolution: float = FLOAT32.resolution,
    observer: Observer | None = None,
) -> Shown:
    """What the program shows on each problem, and where it breaks promises."""
    machine = Machine(program, batch, resolution, observer)
    ends = set(np.maximum(np.asarray(batch.lengths) - 2, 0).tolist())
    steps = [machine.step(outputs=number in ends) for number in range(batch.steps)]
    return Shown(_shown(steps, batch), machine.broken, machine.reason)


def _shown(steps: list[Step], batch: Batch) -> dict[str, np.ndarray]:
    """Hints after every step, [batch, step, …], and outputs after each sample's last, [batch, …]"""
    last = np.maximum(np.asarray(batch.lengths) - 2, 0)
    outputs = {f.name for f in batch.task.at(Stage.OUTPUT)}
    return {
        name: np.stack([steps[k].emitted[name][sample] for sample, k in enumerate(last)])
        if name in outputs
        else np.stack([step.emitted[name] for step in steps], 1)
        for name in steps[int(last[0])].emitted
    }


def least_leads(program: GraphProgram, batch: Batch) -> np.ndarray:
    """The least score by which a selected sender is ahead of the second best, over all steps, nodes
    and selections in which that one would have led to another state: how close the closest decision
    is. [batch]"""
    machine = Machine(program, batch)
    machine.watches_leads = True
    for _ in range(batch.steps):
        machine.step()
    return machine.leads
