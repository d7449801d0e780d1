"""The five experiments: tables 1, 10 and 14, the figures of BFS and those of Bellman-Ford."""

import functools
import importlib.util
import math
import pathlib
from typing import TYPE_CHECKING

from algoscope.experiments.experiment import Experiment, Report, Result
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import TASKS, costs, plan_of, solve_all

if TYPE_CHECKING:
    from algoscope.experiments.mind_the_gap.claims import Between
    from algoscope.experiments.mind_the_gap.solutions import Solutions

_FOLDER = "mind-the-gap"
BFS_FIGURES = {
    "accuracy": "1",
    "attention": "2",
    "best_match": "3",
    "traces": "4",
    "between": "5",
    "full": "15",
}
BELLMAN_FORD_FIGURES = {"accuracy": "10", "traces": "11", "full": "14"}
"""The numbers of figures by what they show."""


def table_1(preset: str, out: pathlib.Path, report: Report) -> Result:
    """Does accuracy go with faithfulness, over seeds of BFS?"""
    from algoscope.experiments.mind_the_gap import tables

    (solutions,) = solve_all(preset, [plan_of(preset, "bfs")], out, report)
    table, claims, relations = tables.correlations(solutions)
    correlations = {r.label: r.correlation and r.correlation._asdict() for r in relations}
    held = {r.label: r.steps_held and r.steps_held._asdict() for r in relations}
    numbers = {"correlations": correlations, "with_steps_held": held, **_ensembles([solutions])}
    return Result((table, tables.with_steps_held(solutions)), tuple(claims), numbers)


def table_10(preset: str, out: pathlib.Path, report: Report) -> Result:
    """The baselines: how well GATv2 learns BFS, Bellman-Ford and DFS."""
    from algoscope.experiments.mind_the_gap import tables

    traced = solve_all(preset, [plan_of(preset, task) for task in TASKS], out, report)
    table, claims = tables.baselines(traced)
    return Result((table,), tuple(claims), _ensembles(traced))


def table_14(preset: str, out: pathlib.Path, report: Report) -> Result:
    """The baselines learnt from answers alone, without traces."""
    from algoscope.experiments.mind_the_gap import tables

    plans = [plan_of(preset, task, traces=traces) for traces in (True, False) for task in TASKS]
    solved = solve_all(preset, plans, out, report)
    table, claims = tables.without_traces(solved[: len(TASKS)], solved[len(TASKS) :])
    return Result((table,), tuple(claims), _ensembles(solved))


def figures(
    task: str, numbers: dict[str, str], preset: str, out: pathlib.Path, report: Report
) -> Result:
    """What a learned algorithm attends to and predicts, solved, claimed and drawn. Where matplotlib
    is missing, the figures are drawn by a later call elsewhere."""
    from algoscope.experiments.mind_the_gap import claims, tables, waiting

    (solutions,) = solve_all(preset, [plan_of(preset, task)], out, report)
    between = claims.between(solutions)
    if importlib.util.find_spec("matplotlib"):
        _draw(task, solutions, between, numbers, out / "figures")
        report(f"figures {', '.join(numbers.values())}: {out / 'figures'}")
    else:
        report("no matplotlib here, so no figures: the same command draws them where there is one")
    measured = {
        **_ensembles([solutions]),
        "between_solutions": between.solutions,
        "closest_to_a_reference": between.closest,
        "between_references": between.exact if math.isfinite(between.exact) else None,
        "clusters": between.clusters and between.clusters.count,
    }
    correlations, _, _ = tables.correlations(solutions)
    shown = (correlations, tables.with_steps_held(solutions), waiting.table(solutions))
    return Result(shown, tuple(claims.figure_claims(solutions, between)), measured)


def _draw(
    task: str,
    solutions: "Solutions",
    between: "Between",
    numbers: dict[str, str],
    folder: pathlib.Path,
) -> None:
    from algoscope.experiments.mind_the_gap import draw_figures
    from algoscope.report.figures.style import save

    draw = {
        "accuracy": functools.partial(draw_figures.accuracy_against_faithfulness, solutions),
        "attention": functools.partial(draw_figures.attention_over_time, solutions),
        "best_match": functools.partial(draw_figures.best_match, solutions),
        "traces": functools.partial(draw_figures.traces_over_time, solutions),
        "between": functools.partial(draw_figures.between_solutions, between),
        "full": functools.partial(draw_figures.attention_in_full, solutions),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for subject, number in numbers.items():
        save(draw[subject](f"figure-{number}-{task}"), folder)


def _ensembles(solved: "list[Solutions]") -> dict[str, dict]:
    return {"ensembles": {solutions.name: solutions.as_json() for solutions in solved}}


EXPERIMENTS = (
    Experiment(
        "mind-the-gap-table-1",
        "correlation of accuracy with external and internal faithfulness over seeds of BFS",
        f"{SOURCE}, table 1",
        costs(("bfs",)),
        table_1,
        _FOLDER,
    ),
    Experiment(
        "mind-the-gap-table-10",
        "test scores of BFS, Bellman-Ford and DFS over seeds",
        f"{SOURCE}, table 10",
        costs(TASKS),
        table_10,
        _FOLDER,
    ),
    Experiment(
        "mind-the-gap-table-14",
        "the same without traces: are they needed?",
        f"{SOURCE}, table 14",
        costs(TASKS, variants=2),
        table_14,
        _FOLDER,
    ),
    Experiment(
        "mind-the-gap-bfs",
        "does learned BFS attend and say what the algorithm does, and do seeds agree?",
        f"{SOURCE}, figures 1 to 5 and 15",
        costs(("bfs",)),
        functools.partial(figures, "bfs", BFS_FIGURES),
        _FOLDER,
    ),
    Experiment(
        "mind-the-gap-bellman-ford",
        "does learned Bellman-Ford attend and say what the algorithm does?",
        f"{SOURCE}, figures 10, 11 and 14",
        costs(("bellman_ford",)),
        functools.partial(figures, "bellman_ford", BELLMAN_FORD_FIGURES),
        _FOLDER,
    ),
)
