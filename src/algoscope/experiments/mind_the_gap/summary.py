"""All tables and claims of the ensembles in a folder, without training.

Each table has the rows whose ensembles are there, done in full or in part. The tables in the
documentation are those of results/mind_the_gap.
"""

import pathlib

from algoscope.experiments.experiment import Claim, Result
from algoscope.experiments.mind_the_gap import claims, tables, waiting
from algoscope.experiments.mind_the_gap.presets import TASKS
from algoscope.experiments.mind_the_gap.solutions import Solutions, ensembles_in
from algoscope.table import Table


def summary(folder: pathlib.Path) -> Result | None:
    """None if the folder holds no ensemble."""
    ensembles = ensembles_in(folder)
    if not ensembles:
        return None
    all_tables: list[Table] = [_provenance(ensembles)]
    all_claims: list[Claim] = []
    traced = [ensembles[task] for task in TASKS if task in ensembles]
    silent = {s.plan.task: s for name, s in ensembles.items() if name != s.plan.task}
    if traced:
        table, about = tables.baselines(traced)
        all_tables.append(table)
        all_claims += about
    both = [s for s in traced if s.plan.task in silent]
    if both:
        table, about = tables.without_traces(both, [silent[s.plan.task] for s in both])
        all_tables.append(table)
        all_claims += about
    for solutions in traced:
        all_tables += [tables.correlations(solutions)[0], tables.with_steps_held(solutions)]
        compared = len(solutions.seeds) > 1 and solutions.with_attention
        if compared and solutions.plan.task in waiting.PROGRAMS:
            all_tables.append(waiting.table(solutions))
        between = claims.between(solutions) if compared else None
        all_claims += claims.figure_claims(solutions, between)
    numbers = {"ensembles": {name: solutions.as_json() for name, solutions in ensembles.items()}}
    return Result(tuple(all_tables), tuple(all_claims), numbers)


def _provenance(ensembles: dict[str, Solutions]) -> Table:
    """Where the numbers come from."""
    rows = []
    for name, solutions in ensembles.items():
        config = solutions.plan.training
        environments = [chunk["environment"] for chunk in solutions.measured]
        rows.append(
            [
                name,
                str(len(solutions.seeds)),
                f"{config.steps:,}",
                f"{config.learning_rate:g}",
                f"{sum(chunk['training_seconds'] for chunk in solutions.measured) / 60:.1f}",
                f"{sum(chunk['measuring_seconds'] for chunk in solutions.measured) / 60:.1f}",
                ", ".join(sorted({str(environment["device"]) for environment in environments})),
                ", ".join(sorted({str(environment["commit"]) for environment in environments})),
            ]
        )
    columns = ["ensemble", "N", "steps", "learning rate", "minutes of training", "of measuring"]
    return Table("Ensembles", [*columns, "device", "commit"], rows)
