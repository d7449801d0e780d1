"""The experiments: what each shows, trains and claims."""

import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from algoscope.experiments.experiment import Experiment, Report, Result
from algoscope.experiments.mind_the_gap import compiled, landscapes, parallel, settings, stability
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import (
    BASELINES,
    WITHOUT_TRACES,
    Arm,
    costs,
    estimate,
    plan_of,
)
from algoscope.experiments.mind_the_gap.score_tables import SCORE_TABLES, ScoreTable

if TYPE_CHECKING:
    from algoscope.experiments.mind_the_gap.results import Ensembles


def summary(folder: pathlib.Path) -> Result | None:
    """All tables and claims of what these experiments left in a folder, or of judged seeds; None
    if it holds neither."""
    from algoscope.experiments.mind_the_gap import both_weights, results

    parts = (results.summary, compiled.summary, landscapes.summary, both_weights.summary)
    found = [result for part in parts if (result := part(folder)) is not None]
    return Result.joined(found) if found else None


def _experiment(
    name: str,
    summary: str,
    shows: Sequence[str],
    arms: Sequence[Arm],
    result: "Callable[[Ensembles], Result]",
    figures: Arm | None = None,
    few: Sequence[Arm] | None = None,
    draw: "Callable[[Ensembles, pathlib.Path], None] | None" = None,
) -> Experiment:
    """`figures` are drawn of this arm; `few` are the arms of the smoke preset, if not all."""

    def arms_of(preset: str) -> Sequence[Arm]:
        return few if few is not None and preset == "smoke" else arms

    def reproduce(preset: str, out: pathlib.Path, report: Report, only: Sequence[str]) -> Result:
        from algoscope.experiments.mind_the_gap import results
        from algoscope.experiments.mind_the_gap.solutions import ensembles_in, solve

        names = [arm.name for arm in arms_of(preset)]
        chosen = [arm for arm in arms_of(preset) if arm.name in only]
        plans = [plan_of(preset, arm) for arm in chosen]
        if preset == "full":
            report(estimate(chosen, plans, out))
        solved = {plan.name: solve(plan, out, report) for plan in plans}
        if len(chosen) < len(names):
            there = ensembles_in(out) | solved
            solved = {name: there[name] for name in names if name in there}
        if figures is not None:
            from algoscope.experiments.mind_the_gap.draw_figures import draw_all

            drawn = draw_all(solved[figures.name], out / "figures")
            report(f"figures {', '.join(drawn)}: {out / 'figures'}")
        if draw is not None:
            draw(solved, out / "figures")
        return result(solved).with_numbers(results.ensembles_json(solved))

    return Experiment(
        f"mind-the-gap-{name}",
        summary,
        SOURCE,
        costs(arms),
        reproduce,
        "mind-the-gap",
        tuple(shows),
        lambda preset: [arm.name for arm in arms_of(preset)],
    )


def _scores(table: ScoreTable) -> Experiment:
    def result(solved: "Ensembles") -> Result:
        from algoscope.experiments.mind_the_gap import tables

        return tables.scores(table, solved)

    return _experiment(table.name, table.summary, table.shows, table.arms, result)


def _result(name: str) -> "Callable[[Ensembles], Result]":
    """That function of `results`, which is imported when it is needed."""

    def result(solved: "Ensembles") -> Result:
        from algoscope.experiments.mind_the_gap import results

        return getattr(results, name)(solved)

    return result


_BFS, _BELLMAN_FORD, _ = _TRACED = list(BASELINES.values())
EXPERIMENTS = (
    _experiment(
        "table-1",
        "correlation of accuracy with external and internal faithfulness over seeds of BFS",
        ("table 1",),
        [_BFS],
        _result("table_1"),
    ),
    _experiment(
        "table-10",
        "test scores of BFS, Bellman-Ford and DFS over seeds",
        ("table 10",),
        _TRACED,
        _result("table_10"),
    ),
    _experiment(
        "table-14",
        "the same without traces: are they needed?",
        ("table 14",),
        [*_TRACED, *WITHOUT_TRACES.values()],
        _result("table_14"),
    ),
    _experiment(
        "bfs",
        "does learned BFS attend and say what the algorithm does, and do seeds agree?",
        [f"figure {number}" for number in (1, 2, 3, 4, 5, 15)],
        [_BFS],
        _result("figures"),
        figures=_BFS,
    ),
    _experiment(
        "bellman-ford",
        "does learned Bellman-Ford attend and say what the algorithm does?",
        [f"figure {number}" for number in (10, 11, 14)],
        [_BELLMAN_FORD],
        _result("figures"),
        figures=_BELLMAN_FORD,
    ),
    *map(_scores, SCORE_TABLES),
    _experiment(
        "table-16",
        "do compiled networks stay exact when they are trained further?",
        ("table 16",),
        stability.ARMS,
        stability.result,
    ),
    _experiment(
        "parallel",
        "GATv2 on all 30 tasks: are parallel algorithms learnt better (NC-learnability)?",
        (),
        parallel.ARMS,
        parallel.result,
        few=parallel.SMALL,
        draw=parallel.draw,
    ),
    settings.EXPERIMENT,
    compiled.EXPERIMENT,
    landscapes.EXPERIMENT,
)
