"""`algoscope demo`: the main job on a small scale."""

import dataclasses
import json
import pathlib
import time
from typing import TYPE_CHECKING

from algoscope.verbs.output import Answer, Verb
from algoscope.verbs.report import verdict_table
from algoscope.verbs.subjects import check_problems
from algoscope.verbs.train import report_progress

if TYPE_CHECKING:
    from algoscope.runs import Run
    from algoscope.training import TrainingConfig

_VERB = "demo"
"""What a run folder of the demo says that it was made by."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Demo(Verb):
    """The main job on a small scale: compile BFS, verify it, train networks, measure the gap."""

    out: pathlib.Path = pathlib.Path("runs/demo")
    """The run folder; the page is report.html in it. A demo that was stopped there goes on, with
    the same settings, and a finished one is replaced; nothing else is."""
    seeds: int = 5
    """Number of networks."""
    steps: int = 400
    """Training steps."""
    sizes: tuple[int, ...] = (8, 16)
    """Sizes of the problems in training; each takes time to compile."""

    problems: int | None = None
    """On about so many problems a disagreement with the algorithm is searched for, for each
    network; 4,000 if not given."""

    def run(self) -> Answer:
        from algoscope import networks, programs, report, tasks, training
        from algoscope.programs.compiler import compile_program
        from algoscope.programs.verification import verify
        from algoscope.programs.verification_tables import verdict, verification_table
        from algoscope.runs import parquet
        from algoscope.runs.environment import device_name, keep_compiled_programs

        config = training.TrainingConfig(
            tasks=("bfs",),
            seeds=self.seeds,
            steps=self.steps,
            learning_rate=1e-3,
            recipe=tasks.Recipe(sizes=self.sizes, count=16),
            network=networks.NetworkConfig(width=64),
        )
        training.check(config)
        check_problems(self.problems)
        before = self._before(config)
        begun = time.monotonic()
        keep_compiled_programs()

        def stage(number: int, text: str) -> None:
            self.output.report(f"[{number}/5, {time.monotonic() - begun:.0f} s] {text}")

        bfs = programs.get("bfs")
        stage(1, "compile breadth-first search into the weights of a graph network")
        network = compile_program(bfs).network
        count = sum(array.size for array in networks.arrays(network).values())
        self.output.report(f"width {network.config.width}, {count} parameters")
        stage(2, "verify it, step by step, against the reference algorithm")
        result = verify(bfs, tasks.sample("bfs", 16, 64, seed=7))
        self.output.report(verification_table(bfs.name, result))
        self.output.report(verdict(result))
        stage(3, f"train {self.seeds} networks of width 64 for {self.steps} steps into {self.out}")
        self.output.report(
            f"training bfs on {device_name()} into {self.out}: first the training step is compiled "
            "for each size, the longest part of this"
        )
        run = self._train(config, before)
        parquet.write(run)
        stage(4, "measure how far each network is from the algorithm")
        findings = report.findings(run, "bfs", problems=self.problems, report=self.output.report)
        stage(5, "draw the figures and write the page")
        path = report.report([run])
        seconds = time.monotonic() - begun
        data = {"report": path, "verdicts": findings.words, "seconds": seconds}
        ending = f"{seconds:.0f} s. Open {path.resolve()}"
        return Answer(data, (verdict_table(findings), ending))

    def _before(self, config: "TrainingConfig") -> "Run | None":
        """The demo that is in the folder, if it is done or was stopped with this configuration."""
        from algoscope import runs
        from algoscope.runs import reservation

        if not runs.has_begun(self.out):
            reservation.check_free(self.out)
            return None
        run = runs.open(self.out)
        if run.description.get("made_by") != _VERB:
            raise runs.RunError(
                f"--out: got {self.out}, which holds a run that is no demo, needed another folder"
            )
        if run.state is runs.State.RUNNING:
            raise runs.RunError(f"--out: got {self.out}, a demo that {run.progress}")
        if not (self._is_done(run) or _is_of(run, config)):
            sizes = " ".join(map(str, run.config["recipe"]["sizes"]))
            raise runs.RunError(
                f"--out: got {self.out}, a demo with other settings that was stopped at step "
                f"{run.step:,}; go on with it (--seeds {len(run.seeds)} --steps "
                f"{run.config['steps']} --sizes {sizes}), give another folder, or remove this one"
            )
        return run

    def _is_done(self, run: "Run") -> bool:
        return run.finished and (self.out / "report.html").exists()

    def _train(self, config: "TrainingConfig", before: "Run | None") -> "Run":
        from algoscope import runs, training

        report = report_progress(self.output)
        if before and not self._is_done(before):
            if before.state is runs.State.STOPPED:
                return training.resume(self.out, report=report)
            return before  # It was stopped while it measured or drew.
        return training.train(
            config, self.out, force=before is not None, report=report, made_by=_VERB
        )


def _is_of(run: "Run", config: "TrainingConfig") -> bool:
    return json.dumps(run.config) == json.dumps(config.as_json())
