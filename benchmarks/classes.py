"""What is every program to its task? The share of ordinary problems that it answers as the
algorithm does, and of those whose every hint is right, too; and the families of problems on which
it is not.

    python benchmarks/classes.py run benchmarks/classes.json
    python benchmarks/classes.py run benchmarks/classes.json --programs heapsort heapsort_sloppy
    python benchmarks/classes.py table benchmarks/classes.json
    python benchmarks/classes.py markdown benchmarks/classes.json

Programs are interpreted: what the compiled networks add is in `exactness.py`. Ordinary problems are
as dm-clrs draws them. Subjects are the programs of the library, and the wrong ones beside this
file, which the verdict was tested on.
"""

import argparse
import json
import pathlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from algoscope import files, programs, progress, tasks
from algoscope.falsify.cover import cover
from algoscope.programs import GraphProgram, Role
from algoscope.programs.interpreter import show
from algoscope.programs.verification import agreement
from algoscope.table import Table
from algoscope.tasks import Batch, Stage

HERE = pathlib.Path(__file__).parent
SIZE, COUNT = 16, 128
LARGE, LARGE_COUNT = 40, 8
"""Some programs are wrong on large problems alone."""
COVERED_SIZES, COVERED_COUNT = (4, 8, 16), 200
SEED = 88
RIGHT = 0.95
"""The share of ordinary problems that a wrong program of a class answers at least."""


class Row(NamedTuple):
    program: str
    task: str
    role: str
    problems: int
    """Ordinary ones of SIZE nodes."""
    answers: int
    """Of these, those whose every output is right."""
    traces: int
    """Those whose every hint is right at every step, too."""
    large_problems: int
    """Ordinary ones of LARGE nodes."""
    large: int
    """Of these, those whose outputs and hints are right."""
    tried: int
    """Problems of all families."""
    families: dict[str, list[int]]
    """Of those with a problem on which it differs: how many, and of how many."""

    @property
    def wrong_somewhere(self) -> bool:
        less = self.traces < self.problems or self.large < self.large_problems
        return less or bool(self.families)

    @property
    def mostly_right(self) -> bool:
        return self.answers >= RIGHT * self.problems


def everything() -> list[GraphProgram]:
    """All programs of the library, and the wrong ones of the first sets beside this file: what is
    true of the later held-out sets, `truth.py` and `truth_3.py` found on problems of their own."""
    later = ("held_out_2", "held_out_3")
    folders = [f for f in sorted((HERE / "programs").iterdir()) if f.name not in later]
    beside = [programs.load(path) for f in folders for path in sorted(f.glob("*.program"))]
    wrong = [program for program in beside if program.role is Role.WRONG]
    return [*map(programs.get, programs.names()), *wrong]


def right(program: GraphProgram, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Whether the outputs are right, and all hints with them; a broken promise is not. [batch]"""
    run = show(program, batch)
    equal = agreement(run.account, batch)
    outputs, hints = (
        np.all([~run.broken, *(equal[feature.name] for feature in batch.at(stage))], axis=0)
        for stage in (Stage.OUTPUT, Stage.HINT)
    )
    return outputs, outputs & hints


def measure(program: GraphProgram) -> Row:
    task = program.task
    answers, traces = right(program, tasks.sample(task, SIZE, COUNT, SEED))
    _, large = right(program, tasks.sample(task, LARGE, LARGE_COUNT, SEED))
    names, wrong = [], []
    for group in cover(task, COVERED_SIZES, COVERED_COUNT, SEED):
        names.append(group.names)
        wrong.append(~right(program, group.batch)[1])
    names, wrong = np.concatenate(names), np.concatenate(wrong)
    families = {
        str(name): [int(wrong[names == name].sum()), int((names == name).sum())]
        for name in dict.fromkeys(names)
        if wrong[names == name].any()
    }
    return Row(
        program.name,
        task.name,
        str(program.role),
        len(answers),
        int(answers.sum()),
        int(traces.sum()),
        len(large),
        int(large.sum()),
        len(names),
        families,
    )


def read(path: pathlib.Path) -> list[Row]:
    return [Row(**row) for row in json.loads(path.read_text())] if path.exists() else []


def write(rows: Iterable[Row], path: pathlib.Path) -> None:
    """A row a line, so that a change shows as one."""
    ordered = sorted(rows, key=lambda row: (row.task, row.role, row.program))
    lines = ",\n".join(f" {json.dumps(row._asdict())}" for row in ordered)
    files.write_bytes(path, f"[\n{lines}\n]\n".encode())


def run(path: pathlib.Path, names: list[str]) -> None:
    """Measures the programs of these names, or else those that are not in the file."""
    known = {row.program for row in read(path)}
    chosen = [p for p in everything() if (p.name in names if names else p.name not in known)]
    for program in progress.over(chosen, "programs"):
        row = measure(program)
        write([*(old for old in read(path) if old.program != row.program), row], path)


def where(row: Row, most: int = 2) -> str:
    """The families in which it differs most often."""
    worst = sorted(row.families, key=lambda n: -row.families[n][0] / row.families[n][1])[:most]
    return ", ".join(f"{n} {row.families[n][0]}/{row.families[n][1]}" for n in worst)


def table(rows: list[Row]) -> Table:
    shown = [
        [
            row.task,
            row.program,
            row.role,
            f"{row.answers}/{row.problems}",
            f"{row.traces}/{row.problems}",
            f"{row.large}/{row.large_problems}",
            where(row),
        ]
        for row in rows
    ]
    titles = ["task", "program", "role", "answers", "traces", f"{LARGE} nodes", "differs on"]
    return Table("Classes of programs", titles, shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "table", "markdown"])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--programs", nargs="*", default=[])
    options = parser.parse_args()
    if options.what == "run":
        run(options.path, options.programs)
    rows = read(options.path)
    chosen = options.programs or [row.program for row in rows]
    shown = table([row for row in rows if row.program in chosen])
    print(shown.markdown() if options.what == "markdown" else shown)


if __name__ == "__main__":
    main()
