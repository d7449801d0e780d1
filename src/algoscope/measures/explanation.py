"""Which wrong program explains what a subject does where it leaves the algorithm.

    followed(p) = of the entries of trace and answer in which program p or the subject differs from
                  the algorithm, the share in which the subject is as p

1 is the program itself; the algorithm itself has 0.
"""

import numpy as np

from algoscope.measures.trace_match import NUMBER_MARGIN, entries
from algoscope.programs import Role, of_task
from algoscope.programs.interpreter import Run, follow
from algoscope.recording import Recording
from algoscope.statistics import share
from algoscope.tasks import Batch, Kind, Stage

EXPLAINS = 0.8
"""A program is named if the subject follows it in at least this share of the entries."""


def wrong_runs(batch: Batch) -> dict[str, Run]:
    """What each of the task's wrong programs does on the batch, by name."""
    return {program.name: follow(program, batch) for program in of_task(batch.task, Role.WRONG)}


def followed(subject: Recording, batch: Batch, runs: dict[str, Run]) -> dict[str, float]:
    """By name of the wrong programs; NaN where neither differs on the batch."""
    return {name: _followed(run, subject, batch) for name, run in runs.items()}


def explanation(shares: dict[str, float]) -> str | None:
    """The program that explains the subject best, if one does."""
    known = {name: value for name, value in shares.items() if value >= EXPLAINS}
    return max(known, key=lambda name: known[name]) if known else None


def _followed(run: Run, subject: Recording, batch: Batch) -> float:
    right = total = 0
    valid = batch.valid[:, : batch.time - 1] & (batch.lengths > 1)[:, None]
    for feature in batch.at(Stage.HINT):
        if feature.name in subject.hints and batch.time > 1:
            said, other = (
                entries(feature, account.hints[feature.name])[:, : batch.time - 1]
                for account in (subject, run.recording)
            )
            truth = entries(feature, batch.hints[feature.name])[:, 1:]
            counted = (valid & ~run.broken[:, None]).reshape(valid.shape + (1,) * (said.ndim - 2))
            counts = _count(feature.kind, said, other, truth, counted)
            right, total = right + counts[0], total + counts[1]
    for feature in batch.at(Stage.OUTPUT):
        said, other, truth = (
            entries(feature, outputs[feature.name])
            for outputs in (subject.outputs, run.recording.outputs, batch.outputs)
        )
        counted = ~run.broken.reshape(run.broken.shape + (1,) * (said.ndim - 1))
        counts = _count(feature.kind, said, other, truth, counted)
        right, total = right + counts[0], total + counts[1]
    return share(right, total)


def _count(
    kind: Kind, said: np.ndarray, other: np.ndarray, truth: np.ndarray, counted: np.ndarray
) -> tuple[int, int]:
    """Entries that the subject has as the program does, of those in which either differs."""
    margin = NUMBER_MARGIN if kind is Kind.SCALAR else 0.5
    differs = counted & ((np.abs(other - truth) > margin) | (np.abs(said - truth) > margin))
    return int((differs & (np.abs(said - other) <= margin)).sum()), int(differs.sum())
