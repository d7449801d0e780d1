"""Table 14: the baselines learnt from answers alone, without traces."""

import pathlib

from algoscope.experiments.experiment import Experiment, Result, Say
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import FOLDER, TASKS, costs, plan_of, solve_all


def reproduce(preset: str, out: pathlib.Path, say: Say) -> Result:
    from algoscope.experiments.mind_the_gap import tables

    plans = [plan_of(preset, task, traces=traces) for traces in (True, False) for task in TASKS]
    every = solve_all(preset, plans, out, say)
    table, claims = tables.without_traces(every[: len(TASKS)], every[len(TASKS) :])
    numbers = {"ensembles": {solutions.name: solutions.as_json() for solutions in every}}
    return Result((table,), tuple(claims), numbers)


EXPERIMENT = Experiment(
    "mind-the-gap-table-14",
    "the same without traces: are they needed?",
    f"{SOURCE}, table 14",
    costs(TASKS, variants=2),
    reproduce,
    FOLDER,
)
