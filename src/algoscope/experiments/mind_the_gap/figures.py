"""The figures of one task: solved, claimed, drawn."""

import importlib.util
import math
import pathlib

from algoscope.experiments.experiment import Result, Say
from algoscope.experiments.mind_the_gap.presets import plan_of, solve_all


def reproduce_figures(
    task: str, numbers: dict[str, str], preset: str, out: pathlib.Path, say: Say
) -> Result:
    """`numbers` are those of the figures by what they show: accuracy, attention, best_match,
    traces, between, full. Where matplotlib is missing they are drawn by a later call elsewhere."""
    from algoscope.experiments.mind_the_gap import claims, tables, waiting

    (solutions,) = solve_all(preset, [plan_of(preset, task)], out, say)
    table, _, _ = tables.correlations(solutions)
    found = claims.between(solutions)
    said = claims.of_figures(solutions, found)
    if importlib.util.find_spec("matplotlib"):
        _draw(task, solutions, found, numbers, out / "figures")
        say(f"figures {', '.join(numbers.values())}: {out / 'figures'}")
    else:
        say("no matplotlib here, so no figures: the same command draws them where there is one")
    measured = {
        "ensembles": {solutions.name: solutions.as_json()},
        "between_solutions": found.solutions,
        "closest_to_a_reference": found.closest,
        "between_references": found.exact if math.isfinite(found.exact) else None,
        "clusters": found.clusters and found.clusters.count,
    }
    every = (table, tables.with_steps_held(solutions), waiting.table(solutions))
    return Result(every, tuple(said), measured)


def _draw(task: str, solutions, found, numbers: dict[str, str], folder: pathlib.Path) -> None:
    from algoscope.experiments.mind_the_gap import draw_figures
    from algoscope.report.figures.style import save

    made = {
        "accuracy": lambda name: draw_figures.accuracy_against_faithfulness(solutions, name),
        "attention": lambda name: draw_figures.attention_over_time(solutions, name),
        "best_match": lambda name: draw_figures.best_match(solutions, name),
        "traces": lambda name: draw_figures.traces_over_time(solutions, name),
        "between": lambda name: draw_figures.between_solutions(found, name),
        "full": lambda name: draw_figures.attention_in_full(solutions, name),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for what, number in numbers.items():
        save(made[what](f"figure-{number}-{task}"), folder)
