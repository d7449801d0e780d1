"""Table 10: the baselines, how well GATv2 learns BFS, Bellman-Ford and DFS."""

import pathlib

from algoscope.experiments.experiment import Experiment, Result, Say
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import FOLDER, TASKS, costs, plan_of, solve_all


def reproduce(preset: str, out: pathlib.Path, say: Say) -> Result:
    from algoscope.experiments.mind_the_gap import tables

    every = solve_all(preset, [plan_of(preset, task) for task in TASKS], out, say)
    table, claims = tables.baselines(every)
    numbers = {"ensembles": {solutions.name: solutions.as_json() for solutions in every}}
    return Result((table,), tuple(claims), numbers)


EXPERIMENT = Experiment(
    "mind-the-gap-table-10",
    "test scores of BFS, Bellman-Ford and DFS over seeds",
    f"{SOURCE}, table 10",
    costs(TASKS),
    reproduce,
    FOLDER,
)
