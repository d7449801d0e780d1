"""Programs that wait on themselves: found by looking at figures 14 and 15 of trained networks.

There, a node that no visited neighbour has yet to offer anything reads itself. The references read
some neighbour, whom they ignore. It decides nothing, so a program that does the same is as exact.
These were written after the trained networks had been seen; they are no references of a verdict.
"""

import pathlib

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


def table(solutions: Solutions) -> Table:
    """How far the attention of each seed is from that of the references and of the program that
    waits, on the problems kept: in total variation over all rows, over rows of nodes that were not
    visited and do not read one that was, and over all others."""
    batch, task = solutions.batch, solutions.plan.task
    visited = batch.hints["reach_h" if task == "bfs" else "msk"] > 0
    rows = []
    for exact in [*reference_class(batch), reference(PROGRAMS[task], batch)]:
        attention = np.asarray(exact.recording.attention).mean(2)
        apart = np.abs(solutions.attention - attention).sum(-1) / 2
        before = visited[:, : attention.shape[1]]
        valid = np.broadcast_to(exact.recording.valid[:, :, None], before.shape)
        idle = valid & ~before & ~np.take_along_axis(before, attention.argmax(-1), 2)
        over_all, over_idle, over_others = (
            apart[:, part].mean(1) for part in (valid, idle, valid & ~idle)
        )
        numbers = (over_all.mean(), over_all.min(), over_idle.mean(), over_others.mean())
        rows.append([exact.name, *(f"{number:.3f}" for number in numbers), str(len(apart))])
    return Table(
        f"{solutions.label}: total variation from exact programs, the last one written after "
        f"the networks were seen (n = {solutions.plan.sizes[0]}, {len(batch)} problems)",
        ["program", "mean", "least", "rows in which nothing can be read", "other rows", "N"],
        rows,
    )
