"""The five experiments: tables 1, 10 and 14, the figures of BFS and those of Bellman-Ford."""

import pathlib
from collections.abc import Sequence

from algoscope.experiments.experiment import Experiment, Report, Result
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import TASKS, costs, estimate, plan_of


def summary(folder: pathlib.Path) -> Result | None:
    """All tables and claims of the ensembles in a folder; None if it holds none."""
    from algoscope.experiments.mind_the_gap import results

    return results.summary(folder)


def _experiment(
    name: str, summary: str, shown: str, tasks: Sequence[str], traces: Sequence[bool] = (True,)
) -> Experiment:
    def reproduce(preset: str, out: pathlib.Path, report: Report) -> Result:
        from algoscope.experiments.mind_the_gap import results
        from algoscope.experiments.mind_the_gap.solutions import solve

        plans = [plan_of(preset, task, traces=each) for each in traces for task in tasks]
        if preset == "full":
            report(estimate(plans, out))
        solved = [solve(plan, out, report) for plan in plans]
        if shown.startswith("figures"):
            from algoscope.experiments.mind_the_gap.draw_figures import draw_all

            drawn = draw_all(solved[0], out / "figures")
            report(f"figures {', '.join(drawn)}: {out / 'figures'}")
        return results.RESULTS[name](solved).with_numbers(results.ensembles_json(solved))

    source, needed = f"{SOURCE}, {shown}", costs(tasks, variants=len(traces))
    return Experiment(f"mind-the-gap-{name}", summary, source, needed, reproduce, "mind-the-gap")


EXPERIMENTS = (
    _experiment(
        "table-1",
        "correlation of accuracy with external and internal faithfulness over seeds of BFS",
        "table 1",
        ("bfs",),
    ),
    _experiment(
        "table-10", "test scores of BFS, Bellman-Ford and DFS over seeds", "table 10", TASKS
    ),
    _experiment(
        "table-14", "the same without traces: are they needed?", "table 14", TASKS, (True, False)
    ),
    _experiment(
        "bfs",
        "does learned BFS attend and say what the algorithm does, and do seeds agree?",
        "figures 1 to 5 and 15",
        ("bfs",),
    ),
    _experiment(
        "bellman-ford",
        "does learned Bellman-Ford attend and say what the algorithm does?",
        "figures 10, 11 and 14",
        ("bellman_ford",),
    ),
)
