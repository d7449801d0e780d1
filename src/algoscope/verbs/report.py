"""`algoscope report`, `view` and `demo`: pages to look at, and the main job that ends in one."""

import dataclasses
import pathlib
import sys
import time
from typing import TYPE_CHECKING, Any

import tyro

from algoscope.verbs.printing import print_table
from algoscope.verbs.train import ProgressLine, make_tables

if TYPE_CHECKING:
    from algoscope.report import Findings


@dataclasses.dataclass(frozen=True)
class Report:
    """Examine runs, as far as that is not done, and write one page about them."""

    runs: tyro.conf.Positional[tuple[pathlib.Path, ...]]
    """The run folders; several are shown on one page, side by side where tasks are the same."""
    out: pathlib.Path | None = None
    """The page; report.html in the folder of a single run if not given. Figures go beside it."""
    problem_seed: int = 0
    """Seed of the problems on which the networks are examined."""
    again: bool = False
    """Measure anew what was measured already."""

    def run(self) -> None:
        from algoscope import report, runs
        from algoscope.runs.environment import keep_compiled_programs

        if not self.runs:
            raise ValueError("report: got no run folder, needed at least one")
        if self.out is not None and self.out.suffix != ".html":
            raise ValueError(f"--out: got {self.out}, needed a name that ends in .html")
        keep_compiled_programs()
        opened = [runs.open(path) for path in self.runs]
        path = report.report(
            opened, self.out, problem_seed=self.problem_seed, again=self.again, tell=print
        )
        for run in opened:
            for task in run.tasks:
                _print_verdicts(report.findings(run, task, problem_seed=self.problem_seed))
        print(f"report: {path}")


@dataclasses.dataclass(frozen=True)
class View:
    """Look at runs in a browser: list, filter, compare, open reports. On this machine alone."""

    path: tyro.conf.Positional[pathlib.Path] = pathlib.Path("runs")
    """A folder of runs, or a run."""
    port: int = 8765
    """The port to listen on."""

    def run(self) -> None:
        import uvicorn

        from algoscope.report.server import HOST, app

        made = app(self.path)
        print(f"http://{HOST}:{self.port}/ – end with Ctrl-C", flush=True)
        uvicorn.run(made, host=HOST, port=self.port, log_level="warning")


@dataclasses.dataclass(frozen=True)
class Demo:
    """The main job on a small scale: compile BFS, verify it, train networks, measure the gap."""

    out: pathlib.Path = pathlib.Path("runs/demo")
    """The run folder, which replaces an earlier demo; the page is report.html in it."""
    seeds: int = 5
    """Number of networks."""
    steps: int = 400
    """Training steps."""
    lengths: tuple[int, ...] = (8, 16)
    """Sizes of the problems in training; each takes time to compile."""

    def run(self) -> None:
        from algoscope import networks, programs, report, tasks, training
        from algoscope.programs.compiler import compile_program
        from algoscope.programs.verification import verify
        from algoscope.programs.verification_tables import verdict, verification_table
        from algoscope.runs.environment import keep_compiled_programs

        begun = time.monotonic()
        keep_compiled_programs()

        def stage(number: int, text: str) -> None:
            print(f"[{number}/5, {time.monotonic() - begun:.0f} s] {text}", flush=True)

        bfs = programs.get("bfs")
        stage(1, "compile breadth-first search into the weights of a graph network")
        network = compile_program(bfs).network
        count = sum(array.size for array in networks.arrays(network).values())
        print(f"width {network.config.width}, {count} parameters")
        stage(2, "verify it, step by step, against the reference algorithm")
        result = verify(bfs, tasks.sample("bfs", 16, 64, seed=7))
        print_table(verification_table(bfs.name, result))
        print(verdict(result))
        config = training.TrainingConfig(
            tasks=("bfs",),
            seeds=self.seeds,
            steps=self.steps,
            learning_rate=1e-3,
            recipe=tasks.Recipe(sizes=self.lengths, count=16),
            network=networks.NetworkConfig(width=64),
        )
        stage(3, f"train {self.seeds} networks of width 64 for {self.steps} steps into {self.out}")
        with ProgressLine(sys.stdout) as line:
            line.say("compiling the training step for each size, the longest part of this")
            run = training.train(config, self.out, force=True, report=line.show)
        make_tables(run, ())
        stage(4, "measure how far each network is from the algorithm")
        found = report.findings(run, "bfs", tell=print)
        stage(5, "draw the figures and write the page")
        path = report.report([run])
        _print_verdicts(found)
        print(f"{time.monotonic() - begun:.0f} s. Open {path.resolve()}")


def _print_verdicts(found: "Findings") -> None:
    """The verdict table: a row a network, the compiled program last."""
    from algoscope.report import verdicts
    from algoscope.table import Table

    subjects: dict[str, Any] = dict(found.judgements)
    if found.program and found.control:
        subjects[f"compiled {found.program.name}"] = found.control
    print_table(
        Table(
            verdicts.headline(found.task, found.judgements),
            ["", "verdict", "accuracy 16", "accuracy 64", "trace", "attention", "why"],
            [
                [
                    name,
                    of["verdict"] or "not judged",
                    _short(of["accuracy"]["small"]),
                    _short(of["accuracy"]["large"]),
                    _short(of["tested"].get("moves_large")),
                    _short(of["tested"].get("reads_large")),
                    "; ".join(of["reasons"]),
                ]
                for name, of in subjects.items()
            ],
        )
    )


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
