"""`algoscope judge` and `algoscope falsify`: does a network run the algorithm, or a shortcut?"""

import dataclasses
from typing import TYPE_CHECKING

from algoscope.table import Table
from algoscope.verbs.output import Answer
from algoscope.verbs.subjects import TriedSubjects, drawn

if TYPE_CHECKING:
    from algoscope.measures import Judgement

_MOST_COLUMNS = 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judge(TriedSubjects):
    """Measure the gap between networks and the algorithm, try to break them, and give a verdict."""

    problem_seed: int = 0
    """Seed of the problems on which the networks are examined."""
    remeasure: bool = False
    """Measure networks of a run anew that were measured already."""

    def run(self) -> Answer:
        from algoscope.measures import summary

        task, judgements = self._of_run() if self.path.is_dir() else self._of_file()
        numbers = {}
        parts: list[Table | str] = []
        for name, judgement in judgements.items():
            verdict, evidence = judgement.verdict, judgement.evidence
            numbers[name] = {
                "verdict": verdict,
                "near": judgement.near,
                "tested": evidence.tested,
                "evidence": evidence,
            }
            reasons = "; ".join(verdict.reasons)
            parts.append(f"{name}: {verdict}{f' ({reasons})' if reasons else ''}")
            parts += (f"  {text}" for text in judgement.near)
            if evidence.falsification is not None:
                if str(evidence.falsification) not in str(verdict):
                    parts.append(f"  {evidence.falsification}")
                parts += drawn(name, evidence.falsification)
        table = summary.seeds_table if len(judgements) > _MOST_COLUMNS else summary.table
        return Answer({"task": task, "subjects": numbers}, (table(task, judgements), *parts))

    def _of_file(self) -> "tuple[str, dict[str, Judgement]]":
        from algoscope.measures import judge

        task, subjects = self.subjects()
        judgements = {}
        for name, subject in subjects.items():
            self.output.report(f"judging {name}")
            self.report_certificate(name, subject)
            judgements[name] = judge(
                subject, task, self.problem_seed, problems=self.count, report=self.output.report
            )
        return task, judgements

    def _of_run(self) -> "tuple[str, dict[str, Judgement]]":
        """Those that are in the run folder, and new ones, which are kept there."""
        from algoscope.report import kept

        run, task = self.run_and_task()
        problems = kept.problems_kept(run, task) if self.problems is None else self.count
        judgements = {}
        networks = self.networks_of(run, task)
        for seed, network in networks.items():
            self.output.report(f"judging seed {seed} ({len(judgements) + 1} of {len(networks)})")
            judgements[f"seed {seed}"] = kept.judge_seed(
                run,
                task,
                seed,
                network,
                problem_seed=self.problem_seed,
                problems=problems,
                remeasure=self.remeasure,
                report=self.output.report,
            )
        return task, judgements


@dataclasses.dataclass(frozen=True, kw_only=True)
class Falsify(TriedSubjects):
    """Search for problems on which subjects differ from the algorithm; answers alone are enough."""

    survey: int = 0
    """So many random problems more, thousands to millions, which are drawn, traced and compared
    where the network runs; for bfs, bellman_ford, floyd_warshall and minimum."""
    seed: int = 0
    """Seed of the problems and of the search."""

    def run(self) -> Answer:
        from algoscope.falsify import falsify
        from algoscope.programs.compiler import Compiled

        task, subjects = self.subjects()
        results = {}
        parts: list[Table | str] = []
        for name, subject in subjects.items():
            self.output.report(f"falsifying {name}")
            self.report_certificate(name, subject)
            certified = None
            if isinstance(subject, Compiled):
                subject, certified = subject.network, subject.certified
            result = results[name] = falsify(
                subject,
                task,
                problems=self.count,
                surveyed=self.survey,
                seed=self.seed,
                certified=certified,
                report=self.output.report,
            )
            parts.append(result.table()._replace(title=f"{name}, {task}"))
            parts.append(f"{name}: {result}")
            if result.smallest is not None:
                parts.append(f"without any disagreement: {result.region or 'no region of a rule'}")
            parts += drawn(name, result)
        return Answer({"task": task, "subjects": results}, tuple(parts))
