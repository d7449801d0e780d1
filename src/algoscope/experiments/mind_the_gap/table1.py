"""Table 1: does accuracy go with faithfulness, over seeds of BFS?"""

import pathlib

from algoscope.experiments.experiment import Experiment, Result, Say
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import FOLDER, costs, plan_of, solve_all


def reproduce(preset: str, out: pathlib.Path, say: Say) -> Result:
    from algoscope.experiments.mind_the_gap import tables

    (solutions,) = solve_all(preset, [plan_of(preset, "bfs")], out, say)
    table, claims, found = tables.correlations(solutions)
    measured = {one.label: one.correlation and one.correlation._asdict() for one in found}
    held = {one.label: one.steps_held and one.steps_held._asdict() for one in found}
    numbers = {
        "correlations": measured,
        "with_steps_held": held,
        "ensembles": {solutions.name: solutions.as_json()},
    }
    return Result((table, tables.with_steps_held(solutions)), tuple(claims), numbers)


EXPERIMENT = Experiment(
    "mind-the-gap-table-1",
    "correlation of accuracy with external and internal faithfulness over seeds of BFS",
    f"{SOURCE}, table 1",
    costs(("bfs",)),
    reproduce,
    FOLDER,
)
