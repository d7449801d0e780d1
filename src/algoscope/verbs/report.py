"""`algoscope report` and `algoscope serve`: pages to look at."""

import dataclasses
import pathlib
from typing import TYPE_CHECKING

import tyro

from algoscope.table import Table
from algoscope.verbs.definitions import find_task
from algoscope.verbs.output import Answer, Verb

_SECONDS_TO_END = 2
"""Clients that take longer to read their answer are left when the server ends."""

if TYPE_CHECKING:
    from algoscope.report import Findings


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report(Verb):
    """Examine runs, as far as that is not done, and write one page about them."""

    runs: tyro.conf.Positional[tuple[pathlib.Path, ...]]
    """The run folders; several are shown on one page, side by side where tasks are the same."""
    out: pathlib.Path | None = None
    """The page; report.html in the folder of a single run if not given. Figures go beside it."""
    task: tuple[str, ...] = ()
    """The FILE.py of each task of your own that the runs are for."""
    problem_seed: int = 0
    """Seed of the problems on which the networks are examined."""
    problems: int | None = None
    """On about so many problems a disagreement with the algorithm is searched for, for each
    network. If not given, as many as in the run folder, or else 4,000."""
    remeasure: bool = False
    """Measure anew what was measured already."""

    def run(self) -> Answer:
        from algoscope import report, runs
        from algoscope.runs.environment import keep_compiled_programs

        if not self.runs:
            raise ValueError("report: got no run folder, needed at least one")
        if self.out is not None and self.out.suffix != ".html":
            raise ValueError(f"--out: got {self.out}, needed a name that ends in .html")
        keep_compiled_programs()
        for text in self.task:
            find_task(text)
        opened = [runs.open(path) for path in self.runs]
        path = report.report(
            opened,
            self.out,
            problem_seed=self.problem_seed,
            problems=self.problems,
            remeasure=self.remeasure,
            report=self.output.report,
        )
        data, tables = [], []
        for run in opened:
            for task in run.tasks:
                findings = report.findings(run, task, problem_seed=self.problem_seed)
                data.append({"run": run.path, "task": task, "verdicts": findings.words})
                tables.append(verdict_table(findings))
        return Answer({"report": path, "runs": data}, (*tables, f"report: {path}"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Serve:
    """Look at runs in a browser: list, filter, compare, open reports. On this machine alone."""

    path: tyro.conf.Positional[pathlib.Path] = pathlib.Path("runs")
    """A folder of runs, or a run."""
    port: int = 8765
    """The port to listen on."""

    def main(self) -> int:
        import uvicorn

        from algoscope.report.server import HOST, app

        application = app(self.path)
        print(f"http://{HOST}:{self.port}/ – end with Ctrl-C", flush=True)
        uvicorn.run(
            application,
            host=HOST,
            port=self.port,
            log_level="warning",
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        return 0


def verdict_table(findings: "Findings") -> Table:
    """A row a network, the compiled program last."""
    from algoscope.measures import summary
    from algoscope.report import verdicts

    headline = verdicts.headline(findings.task, findings.judgements)
    return summary.verdicts_table(headline, findings.subjects)
