"""`algoscope report` and `algoscope serve`: pages to look at."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tyro

from algoscope.table import Table
from algoscope.verbs.definitions import find_task
from algoscope.verbs.output import Answer, Output, Verb
from algoscope.verbs.subjects import FILES, check_problems, read_subject

if TYPE_CHECKING:
    from algoscope.report import Findings
    from algoscope.runs import Run

_SECONDS_TO_END = 2
"""Clients that take longer to read their answer are left when the server ends."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report(Verb):
    """Examine runs, as far as that is not done, or models of your own, and write one page."""

    paths: tyro.conf.Positional[tuple[pathlib.Path, ...]]
    """Run folders; several are shown on one page, side by side where tasks are the same. Or files
    as `algoscope judge` takes them, such as a Python file that defines your own model. Or the
    folder of a study that `algoscope reproduce transnar-scores` made."""
    out: pathlib.Path | None = None
    """The page; if not given, report.html in the folder of a single run, NAME-TASK.html beside the
    file of a model. Figures go beside it."""
    task: tuple[str, ...] = ()
    """With a Python file of a model, its task. With runs, the FILE.py of each task of your own that
    they are for."""
    problem_seed: int = 0
    """Seed of the problems on which the networks are examined."""
    problems: int | None = None
    """On about so many problems a disagreement with the algorithm is searched for, for each
    network. If not given, as many as in the run folder, or 4,000."""
    remeasure: bool = False
    """Measure anew what was measured already."""
    inline: tuple[int, ...] | None = None
    """Only the networks of these seeds run in the page, on graphs that one draws there; their
    weights are most of its size. If not given, all for which there is room."""

    def run(self) -> Answer:
        from algoscope.runs.environment import keep_compiled_programs

        if not self.paths:
            raise ValueError("report: got no run folder, needed at least one")
        check_problems(self.problems)
        if self.out is not None and self.out.suffix != ".html":
            raise ValueError(f"--out: got {self.out}, needed a name that ends in .html")
        from algoscope.experiments import transnar_page

        if any(map(transnar_page.is_study, self.paths)):
            first, *others = self.paths
            if others:
                raise ValueError(
                    f"report: got a study and {len(others)} more, needed a study alone"
                )
            path = transnar_page.report(first, self.out, self.output.report)
            return Answer({"report": path}, (f"report: {path}",))
        keep_compiled_programs()
        names = [find_task(text).name for text in self.task]
        files = [path for path in self.paths if path.is_file() and path.suffix in FILES]
        if not files:
            return self._of_runs()
        if len(files) < len(self.paths):
            raise ValueError(
                "report: got run folders and files of models, needed one kind on a page"
            )
        return self._of_files(names)

    def _of_runs(self) -> Answer:
        from algoscope import runs

        return report_on(
            [runs.open(path) for path in self.paths],
            self.output,
            self.out,
            problem_seed=self.problem_seed,
            problems=self.problems,
            remeasure=self.remeasure,
            inline=self.inline,
        )

    def _of_files(self, names: list[str]) -> Answer:
        from algoscope import falsify, report

        if self.inline is not None:
            raise ValueError("--inline: got seeds with files of models, needed run folders")
        if len(names) > 1:
            raise ValueError(f"--task: got {', '.join(names)} with files, needed one task")
        subjects, found = {}, set()
        for path in self.paths:
            task, subjects[path] = read_subject(path, names[0] if names else None)
            found.add(task)
        if len(found) > 1:
            raise ValueError(f"report: got files for {', '.join(sorted(found))}, needed one task")
        [task] = found
        path, findings = report.report_own(
            subjects,
            task,
            self.out,
            problem_seed=self.problem_seed,
            problems=falsify.PROBLEMS if self.problems is None else self.problems,
            report=self.output.report,
        )
        data = {"report": path, "task": task, "verdicts": findings.words}
        return Answer(data, (verdict_table(findings), f"report: {path}"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Serve:
    """Look at runs in a browser: list, filter, compare, watch trainings, open reports. On this
    machine alone."""

    path: tyro.conf.Positional[pathlib.Path] = pathlib.Path("runs")
    """A folder of runs, or a run."""
    port: int = 8765
    """The port to listen on; 0 is any that is free."""

    def main(self) -> int:
        if not 0 <= self.port < 2**16:
            raise ValueError(f"--port: got {self.port}, needed a number from 0 to 65535")
        import uvicorn

        from algoscope.report.server import app, listening

        application = app(self.path)
        with listening(self.port) as listener:
            host, port = listener.getsockname()
            print(f"http://{host}:{port}/ – end with Ctrl-C", flush=True)
            settings = uvicorn.Config(
                application, log_level="warning", timeout_graceful_shutdown=_SECONDS_TO_END
            )
            uvicorn.Server(settings).run(sockets=[listener])
        return 0


def report_on(
    runs: "Sequence[Run]",
    output: Output,
    out: pathlib.Path | None = None,
    *,
    problem_seed: int = 0,
    problems: int | None = None,
    remeasure: bool = False,
    inline: tuple[int, ...] | None = None,
) -> Answer:
    """Examines runs and writes their page, with the verdicts and the path as answer."""
    from algoscope import report

    path = report.report(
        runs,
        out,
        problem_seed=problem_seed,
        problems=problems,
        remeasure=remeasure,
        inline=inline,
        report=output.report,
    )
    data, tables = [], []
    for run in runs:
        for task in run.tasks:
            findings = report.findings(run, task, problem_seed=problem_seed)
            data.append({"run": run.path, "task": task, "verdicts": findings.words})
            tables.append(verdict_table(findings))
    return Answer({"report": path, "runs": data}, (*tables, f"report: {path}"))


def verdict_table(findings: "Findings") -> Table:
    """A row a network, the compiled program last."""
    from algoscope.measures import summary
    from algoscope.report import verdicts

    headline = verdicts.headline(findings.task, findings.judgements)
    return summary.verdicts_table(headline, findings.subjects)
