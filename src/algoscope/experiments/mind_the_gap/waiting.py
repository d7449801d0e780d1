"""Programs that wait on themselves: found by looking at figures 14 and 15 of trained networks.

There, a node that no visited neighbour has yet to offer anything reads itself. The references read
some neighbour, whom they ignore. It decides nothing, so a program that does the same is as exact.
These were written after the trained networks had been seen; they are no references of a verdict.
"""

import pathlib
from typing import NamedTuple

import numpy as np

from algoscope import programs
from algoscope.experiments.mind_the_gap.solutions import Solutions
from algoscope.measures.references import reference, reference_class
from algoscope.programs import GraphProgram
from algoscope.table import Table

PROGRAMS: dict[str, GraphProgram] = {
    task: programs.load(pathlib.Path(__file__).parent / f"{task}_waiting.program")
    for task in ("bfs", "bellman_ford")
}
"""By task."""


class Distances(NamedTuple):
    """Of the attention of each seed on the problems kept from a program's, in total variation."""

    program: str
    all_rows: np.ndarray
    """[seed]"""
    idle: np.ndarray
    """Over rows of nodes that were not visited and do not read one that was: [seed]"""
    other_rows: np.ndarray
    """Over all other rows: [seed]"""


def distances(solutions: Solutions) -> list[Distances]:
    """From each reference, and last from the program that waits on itself."""
    batch = solutions.batch
    visited = batch.hints["reach_h" if solutions.plan.task == "bfs" else "msk"] > 0
    rows = []
    waiting = reference(PROGRAMS[solutions.plan.task], batch)
    for exact in [*reference_class(batch), waiting]:
        attention = np.asarray(exact.recording.attention).mean(2)
        apart = np.abs(solutions.attention - attention).sum(-1) / 2
        before = visited[:, : attention.shape[1]]
        valid = np.broadcast_to(exact.recording.valid[:, :, None], before.shape)
        read = np.take_along_axis(before, attention.argmax(-1), 2)
        idle = valid & ~before & ~read
        parts = (apart[:, rows].mean(1) for rows in (valid, idle, valid & ~idle))
        rows.append(Distances(exact.name, *parts))
    return rows


def table(solutions: Solutions) -> Table:
    rows = [
        [
            row.program,
            f"{row.all_rows.mean():.3f}",
            f"{row.all_rows.min():.3f}",
            f"{row.idle.mean():.3f}",
            f"{row.other_rows.mean():.3f}",
            str(len(row.all_rows)),
        ]
        for row in distances(solutions)
    ]
    return Table(
        f"{solutions.plan.task}: total variation from exact programs, the last one written after "
        f"the networks were seen (n = {solutions.plan.sizes[0]}, {len(solutions.batch)} problems)",
        ["program", "mean", "least", "rows in which nothing can be read", "other rows", "N"],
        rows,
    )
