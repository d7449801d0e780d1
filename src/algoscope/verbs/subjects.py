"""Subjects as users name them, for `judge`, `falsify`, `decompile` and `report`."""

import dataclasses
import pathlib
from typing import TYPE_CHECKING, Any

import tyro

from algoscope.table import Table
from algoscope.verbs.definitions import find_program, find_task, run_file
from algoscope.verbs.output import Verb

if TYPE_CHECKING:
    from algoscope.falsify import Counterexample, Falsification, Subject
    from algoscope.networks import Network
    from algoscope.programs.compiler import Compiled
    from algoscope.runs import Run

_DEFINED = ("record", "answer", "network")


FILES = (".safetensors", ".program", ".py")


def read_subject(path: pathlib.Path, named: str | None) -> "tuple[str, Subject | Compiled]":
    """What a file holds: weights, a program, which is compiled, or Python that defines a subject;
    and its task, which has to be named with Python."""
    kinds = {".safetensors": _weights, ".program": _program, ".py": _defined}
    return kinds[path.suffix](path, named)


def check_problems(count: int | None) -> None:
    """To be asked before work."""
    if count is not None and count < 1:
        raise ValueError(f"--problems: got {count}, needed at least 1")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AboutSubjects(Verb):
    path: tyro.conf.Positional[pathlib.Path]
    """A run folder, all of whose seeds are taken; a .safetensors file of weights; a .program file,
    which is compiled; or a Python file that defines record, from a batch to a Recording, answer,
    from a batch to the outputs alone by name, or network."""
    task: str | None = None
    """The task, or the FILE.py that defines your own; needed with such a task, where a run has
    several, and with a Python file. Weights and programs know theirs."""
    seeds: tuple[int, ...] = ()
    """Only these seeds of the run."""

    def subjects(self) -> "tuple[str, dict[str, Subject | Compiled]]":
        """The task, and what is to be judged by name."""
        if self.path.is_dir():
            run, task = self.run_and_task()
            networks = self.networks_of(run, task)
            return task, {f"seed {seed}": network for seed, network in networks.items()}
        _keep_compiled_programs()
        if not self.path.is_file() or self.path.suffix not in FILES:
            raise ValueError(
                f"got {self.path}, needed a run folder, a .safetensors file of weights, a .program "
                f"file, or a Python file that defines {' or '.join(_DEFINED)}"
            )
        if self.seeds:
            raise ValueError(f"--seeds: got {self.seeds} with a file, which holds one network")
        task, subject = read_subject(self.path, self._named)
        return task, {self.path.name: subject}

    def run_and_task(self) -> "tuple[Run, str]":
        """The run in the folder, and the one of its tasks that is meant."""
        from algoscope import runs

        _keep_compiled_programs()
        named, run = self._named, runs.open(self.path)
        task = named or run.tasks[0]
        if task not in run.tasks or (named is None and len(run.tasks) > 1):
            raise ValueError(
                f"--task: got {named or 'none'}, needed one of {', '.join(run.tasks)}, for "
                "which the run's networks were trained"
            )
        return run, task

    def networks_of(self, run: "Run", task: str) -> "dict[int, Network]":
        """By seed, those that are asked for."""
        ensemble = run.ensemble(self.seeds or None)
        return {seed: ensemble.member(index, task) for index, seed in enumerate(ensemble.seeds)}

    @property
    def _named(self) -> str | None:
        """The task that was given."""
        return self.task and find_task(self.task).name


@dataclasses.dataclass(frozen=True, kw_only=True)
class TriedSubjects(AboutSubjects):
    """Subjects that are to be broken."""

    problems: int | None = None
    """On about so many problems a disagreement with the algorithm is searched for: two thirds of
    them from families by construction, the others by a search. 4,000 if not given."""

    @property
    def count(self) -> int:
        """How many problems are tried."""
        from algoscope import falsify

        check_problems(self.problems)
        return falsify.PROBLEMS if self.problems is None else self.problems

    def report_certificate(self, name: str, subject: Any) -> None:
        """Says so if problems beyond a certificate will not count."""
        from algoscope.programs.compiler import Compiled

        if isinstance(subject, Compiled):
            self.output.report(
                f"{name}: the compiled program {subject.program.name}, inside its certificate: "
                "problems beyond what float32 is certified for do not count against it"
            )


def _weights(path: pathlib.Path, named: str | None) -> "tuple[str, Network | Compiled]":
    from algoscope import networks
    from algoscope.programs.compiler import recompiled

    network, task = networks.load(path)
    _check_task(path, named, task, "holds weights")
    compiled = recompiled(network, task, networks.load_source(path))
    return task, compiled or network


def _program(path: pathlib.Path, named: str | None) -> "tuple[str, Compiled]":
    from algoscope.programs.compiler import compile_program

    program = find_program(str(path))
    _check_task(path, named, program.task.name, "is a program")
    return program.task.name, compile_program(program)


def _check_task(path: pathlib.Path, named: str | None, task: str, holds: str) -> None:
    if named not in (None, task):
        raise ValueError(
            f"--task: got {named}, and {path} {holds} for {task}; leave it out, or give another "
            f"file, for {named}"
        )


def _defined(path: pathlib.Path, named: str | None) -> "tuple[str, Subject]":
    """Runs the file, and takes what it defines."""
    if named is None:
        raise ValueError(f"--task: got none, needed the task that {path} is for")
    names = run_file(path)
    for name in _DEFINED:
        if name in names:
            return named, names[name]
    raise ValueError(
        f"got {path}, which defines neither `record`, a function from a batch to a Recording, nor "
        "`answer`, one to the outputs alone by name, nor `network`; examples/ has some"
    )


def _keep_compiled_programs() -> None:
    from algoscope.runs.environment import keep_compiled_programs

    keep_compiled_programs()


def drawn(name: str, result: "Falsification") -> list[Table | str]:
    """The smallest counterexample for a terminal; nothing if there is none."""
    smallest: Counterexample | None = result.smallest
    if smallest is None:
        return []
    python = "\n".join(f"    {line}" for line in smallest.python.splitlines())
    trace = smallest.batch.table()
    return [
        f"\n{name}, smallest counterexample: {smallest.inputs}",
        trace._replace(title=f"the algorithm, {trace.title}"),
        smallest.comparison,
        f"the same in Python:\n{python}\n",
    ]
