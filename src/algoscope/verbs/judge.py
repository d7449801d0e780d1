"""`algoscope judge`: does a trained network run the algorithm, or a shortcut?"""

import dataclasses
import pathlib
from typing import TYPE_CHECKING

import tyro

from algoscope.verbs.definitions import find_task, run_file
from algoscope.verbs.output import Answer, Verb

if TYPE_CHECKING:
    from algoscope.measures.evidence import Subject
    from algoscope.networks import Network

_MOST_COLUMNS = 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judge(Verb):
    """Measure the gap between networks and the algorithm, and give a verdict."""

    path: tyro.conf.Positional[pathlib.Path]
    """A run folder, whose seeds are all judged; a .safetensors file of weights; or a Python file
    that defines record, from a batch to a Recording, or network."""
    task: str | None = None
    """The task, or the FILE.py that defines your own; needed with such a task, where a run has
    several, and with a Python file. Weights know theirs."""
    seeds: tuple[int, ...] = ()
    """Only these seeds of the run."""
    problem_seed: int = 0
    """Seed of the problems on which the networks are examined."""

    def run(self) -> Answer:
        from algoscope.measures import judge, summary

        named = self.task and find_task(self.task).name
        task, subjects = dataclasses.replace(self, task=named)._subjects()
        judgements, numbers, lines = {}, {}, []
        for name, subject in subjects.items():
            self.output.report(f"judging {name}")
            judgement = judgements[name] = judge(subject, task, self.problem_seed)
            verdict, evidence = judgement.verdict, judgement.evidence
            numbers[name] = {"verdict": verdict, "tested": evidence.tested, "evidence": evidence}
            reasons = "; ".join(verdict.reasons)
            lines.append(f"{name}: {verdict}{f' ({reasons})' if reasons else ''}")
        table = summary.seeds_table if len(judgements) > _MOST_COLUMNS else summary.table
        return Answer({"task": task, "subjects": numbers}, (table(task, judgements), *lines))

    def _subjects(self) -> "tuple[str, dict[str, Subject]]":
        if self.path.is_file() and self.path.suffix in (".safetensors", ".py"):
            if self.seeds:
                raise ValueError(f"--seeds: got {self.seeds} with a file, which holds one network")
            task, subject = self._defined() if self.path.suffix == ".py" else self._weights()
            return task, {self.path.name: subject}
        if not self.path.is_dir():
            raise ValueError(
                f"got {self.path}, needed a run folder, a .safetensors file of weights, or a "
                "Python file that defines record or network"
            )
        from algoscope import runs

        run = runs.open(self.path)
        task = self.task or run.tasks[0]
        if task not in run.tasks or (self.task is None and len(run.tasks) > 1):
            raise ValueError(
                f"--task: got {self.task or 'none'}, needed one of {', '.join(run.tasks)}, for "
                "which the run's networks were trained"
            )
        ensemble = run.ensemble(self.seeds or None)
        return task, {
            f"seed {seed}": ensemble.member(index, task)
            for index, seed in enumerate(ensemble.seeds)
        }

    def _weights(self) -> "tuple[str, Network]":
        from algoscope import networks

        network, task = networks.load(self.path)
        if self.task not in (None, task):
            raise ValueError(
                f"--task: got {self.task}, and {self.path} holds weights for {task}; leave it out, "
                f"or give weights that were trained for {self.task}"
            )
        return task, network

    def _defined(self) -> "tuple[str, Subject]":
        """Runs the file, and takes what it defines."""
        if self.task is None:
            raise ValueError(f"--task: got none, needed the task that {self.path} is for")
        names = run_file(self.path)
        subject = names.get("record", names.get("network"))
        if subject is None:
            raise ValueError(
                f"got {self.path}, which defines neither `record`, a function from a batch to a "
                "Recording, nor `network`; examples/ has one of each"
            )
        return self.task, subject
