"""`python -m algoscope.experiments.mind_the_gap FOLDER`: what the ensembles in a folder say.

Trains nothing: each table has the rows whose ensembles are there, done in full or in part. A table
in the documentation is what this prints.
"""

import argparse
import pathlib

from algoscope.experiments.experiment import Claim
from algoscope.experiments.mind_the_gap import claims, tables, waiting
from algoscope.experiments.mind_the_gap.presets import TASKS
from algoscope.experiments.mind_the_gap.solutions import Solutions, found_in
from algoscope.table import Table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    found = found_in(folder)
    if not found:
        raise SystemExit(f"{folder}: got no ensemble, needed a folder of `algoscope reproduce`")
    every, said = summary(found)
    print("\n\n".join(table.markdown() for table in every))
    print("\n" + "\n".join(f"- {claim}" for claim in said))


def summary(found: dict[str, Solutions]) -> tuple[list[Table], list[Claim]]:
    """All tables and claims that the ensembles can give, by their names."""
    every, said = [ensembles(found)], []
    traced = [found[task] for task in TASKS if task in found]
    silent = {s.plan.task: s for name, s in found.items() if name != s.plan.task}
    if traced:
        table, about = tables.baselines(traced)
        every.append(table)
        said += about
    both = [s for s in traced if s.plan.task in silent]
    if both:
        table, about = tables.without_traces(both, [silent[s.plan.task] for s in both])
        every.append(table)
        said += about
    for solutions in traced:
        every += [tables.correlations(solutions)[0], tables.with_steps_held(solutions)]
        compared = len(solutions.seeds) > 1 and solutions.with_attention
        if compared and solutions.plan.task in waiting.PROGRAMS:
            every.append(waiting.table(solutions))
        said += claims.of_figures(solutions, claims.between(solutions) if compared else None)
    return every, said


def ensembles(found: dict[str, Solutions]) -> Table:
    """Where the numbers come from."""
    rows = []
    for name, solutions in found.items():
        config = solutions.plan.training
        where = {(c["environment"]["device"], c["environment"]["commit"]) for c in solutions.made}
        devices, commits = ({str(part) for part in parts} for parts in zip(*where, strict=True))
        rows.append(
            [
                name,
                str(len(solutions.seeds)),
                f"{config.steps:,}",
                f"{config.learning_rate:g}",
                f"{sum(c['training_seconds'] for c in solutions.made) / 60:.1f}",
                f"{sum(c['measuring_seconds'] for c in solutions.made) / 60:.1f}",
                ", ".join(sorted(devices)),
                ", ".join(sorted(commits)),
            ]
        )
    columns = ["ensemble", "N", "steps", "learning rate", "minutes of training", "of measuring"]
    return Table("Ensembles", [*columns, "device", "commit"], rows)


if __name__ == "__main__":
    main()
