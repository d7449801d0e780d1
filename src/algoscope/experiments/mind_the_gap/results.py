"""What ensembles show: the result of each experiment, and all that a folder of them says.

The tables in the documentation are those of results/mind_the_gap.
"""

import math
import pathlib
from collections.abc import Mapping
from typing import Any

from algoscope.experiments.experiment import Result
from algoscope.experiments.mind_the_gap import claims, parallel, stability, tables, waiting
from algoscope.experiments.mind_the_gap.measure_seeds import BEST
from algoscope.experiments.mind_the_gap.presets import BASELINES, TASKS, WITHOUT_TRACES
from algoscope.experiments.mind_the_gap.score_tables import SCORE_TABLES, ScoreTable
from algoscope.experiments.mind_the_gap.solutions import Solutions, ensembles_in

Ensembles = Mapping[str, Solutions]
"""By name."""


def table_1(solved: Ensembles) -> Result:
    """Does accuracy go with faithfulness, over seeds of BFS?"""
    return Result.joined(_table_1(view) for view in solved["bfs"].views).with_numbers(
        {
            "correlations": _by_view(solved["bfs"], "correlation"),
            "with_steps_held": _by_view(solved["bfs"], "steps_held"),
        }
    )


def _table_1(solutions: Solutions) -> Result:
    shown = [tables.correlations(solutions)]
    if solutions.weights == BEST:
        shown.append(tables.with_steps_held(solutions))
    return Result(shown, claims.unrelated(solutions))


def _by_view(solutions: Solutions, what: str) -> dict[str, Any]:
    named = {}
    for view in solutions.views:
        end = "" if view.weights == BEST else f", {view.weights}"
        for relation in claims.all_related(view):
            found = getattr(relation, what)
            named[relation.label + end] = found and found._asdict()
    return named


def table_10(solved: Ensembles) -> Result:
    return tables.baselines(list(solved.values()))


def table_14(solved: Ensembles) -> Result:
    """The baselines learnt from answers alone, as far as both of a task are there."""
    both = [
        (solved[with_traces.name], solved[WITHOUT_TRACES[task].name])
        for task, with_traces in BASELINES.items()
        if {with_traces.name, WITHOUT_TRACES[task].name} <= solved.keys()
    ]
    return tables.without_traces([pair[0] for pair in both], [pair[1] for pair in both])


def figures(solved: Ensembles) -> Result:
    """What a learned algorithm attends to and predicts."""
    (solutions,) = solved.values()
    between = claims.between(solutions)
    return Result.joined(map(_about_task, solutions.views)).with_numbers(
        {
            "between_solutions": between.solutions,
            "closest_to_a_reference": between.closest,
            "between_references": between.exact if math.isfinite(between.exact) else None,
            "clusters": between.clusters and between.clusters.count,
        }
    )


def summary(folder: pathlib.Path) -> Result | None:
    """All tables and claims of the ensembles in a folder, done in full or in part, without
    training; None if it holds none."""
    ensembles = ensembles_in(folder)
    if not ensembles:
        return None
    traced = [ensembles[task] for task in TASKS if task in ensembles]
    results = [Result([tables.provenance(ensembles)])]
    if traced:
        results += [tables.baselines(traced), Result([tables.traces(traced)])]
    if any(arm.name in ensembles for arm in WITHOUT_TRACES.values()):
        results.append(table_14(ensembles))
    results += [tables.scores(t, ensembles) for t in SCORE_TABLES if _begun(t, ensembles)]
    if any(arm.name in ensembles for arm in stability.ARMS):
        results.append(stability.result(ensembles))
    if any(arm.name in ensembles for arm in parallel.ARMS):
        results.append(parallel.result(ensembles))
    results += [_about_task(view) for solutions in traced for view in solutions.views]
    return Result.joined(results).with_numbers(ensembles_json(ensembles))


def _begun(shown: ScoreTable, ensembles: Ensembles) -> bool:
    return any(row.arm.name in ensembles for row in shown.rows)


def ensembles_json(solved: Ensembles) -> dict[str, dict]:
    return {"ensembles": {name: solutions.as_json() for name, solutions in solved.items()}}


def _about_task(solutions: Solutions) -> Result:
    shown = [tables.correlations(solutions)]
    if solutions.weights == BEST:
        shown.append(tables.with_steps_held(solutions))
    if solutions.comparable and solutions.plan.task in waiting.PROGRAMS:
        shown.append(waiting.table(solutions))
    return Result(shown, claims.figure_claims(solutions))
