"""What ensembles show: the result of each experiment, and all that a folder of them says.

The tables in the documentation are those of results/mind_the_gap.
"""

import math
import pathlib
from collections.abc import Callable, Sequence

from algoscope.experiments.experiment import Result
from algoscope.experiments.mind_the_gap import claims, tables, waiting
from algoscope.experiments.mind_the_gap.presets import TASKS
from algoscope.experiments.mind_the_gap.solutions import Solutions, ensembles_in


def table_1(solved: Sequence[Solutions]) -> Result:
    """Does accuracy go with faithfulness, over seeds of BFS?"""
    (solutions,) = solved
    relations = claims.all_related(solutions)
    numbers = {
        "correlations": {r.label: r.correlation and r.correlation._asdict() for r in relations},
        "with_steps_held": {r.label: r.steps_held and r.steps_held._asdict() for r in relations},
    }
    shown = (tables.correlations(solutions), tables.with_steps_held(solutions))
    return Result(shown, claims.unrelated(solutions), numbers)


def table_14(solved: Sequence[Solutions]) -> Result:
    """The baselines learnt from answers alone, which are the second half."""
    half = len(solved) // 2
    return tables.without_traces(solved[:half], solved[half:])


def figures(solved: Sequence[Solutions]) -> Result:
    """What a learned algorithm attends to and predicts."""
    (solutions,) = solved
    between = claims.between(solutions)
    return _about_task(solutions).with_numbers(
        {
            "between_solutions": between.solutions,
            "closest_to_a_reference": between.closest,
            "between_references": between.exact if math.isfinite(between.exact) else None,
            "clusters": between.clusters and between.clusters.count,
        }
    )


RESULTS: dict[str, Callable[[Sequence[Solutions]], Result]] = {
    "table-1": table_1,
    "table-10": tables.baselines,
    "table-14": table_14,
    "bfs": figures,
    "bellman-ford": figures,
}
"""By experiment, of its ensembles."""


def summary(folder: pathlib.Path) -> Result | None:
    """All tables and claims of the ensembles in a folder, done in full or in part, without
    training; None if it holds none."""
    ensembles = ensembles_in(folder)
    if not ensembles:
        return None
    traced = [ensembles[task] for task in TASKS if task in ensembles]
    silent = {s.plan.task: s for name, s in ensembles.items() if name != s.plan.task}
    both = [s for s in traced if s.plan.task in silent]
    results = [Result([tables.provenance(ensembles)])]
    if traced:
        results += [tables.baselines(traced), Result([tables.traces(traced)])]
    if both:
        results.append(tables.without_traces(both, [silent[s.plan.task] for s in both]))
    results += map(_about_task, traced)
    return Result.joined(results).with_numbers(ensembles_json(list(ensembles.values())))


def ensembles_json(solved: Sequence[Solutions]) -> dict[str, dict]:
    return {"ensembles": {solutions.plan.name: solutions.as_json() for solutions in solved}}


def _about_task(solutions: Solutions) -> Result:
    shown = [tables.correlations(solutions), tables.with_steps_held(solutions)]
    if solutions.comparable and solutions.plan.task in waiting.PROGRAMS:
        shown.append(waiting.table(solutions))
    return Result(shown, claims.figure_claims(solutions))
