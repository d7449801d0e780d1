"""What does the verdict say of programs that it was not made with? Those of the classes (see
`classes.py`), compiled and judged like any network.

    python benchmarks/judged.py benchmarks/judged.json --programs insertion_sort_by_keys

The library's wrong programs can be named by the verdict as what explains a subject; its words do
not depend on them.
"""

import argparse
import json
import pathlib
from typing import NamedTuple

from algoscope import files, programs, progress
from algoscope.measures.verdict import judge
from algoscope.programs.compiler import compile_program

PROBLEMS = 400


class Row(NamedTuple):
    program: str
    task: str
    role: str
    word: str
    verdict: str
    """With what it runs, its scope, or what explains it."""
    tried: int
    wrong: int
    left_out: int
    """Disagreements on problems that the certificate does not hold for."""


def measure(name: str) -> Row:
    program = programs.get(name)
    judgement = judge(compile_program(program), program.task, problems=PROBLEMS)
    tried = judgement.evidence.falsification
    assert tried is not None
    said = judgement.verdict
    counts = (tried.problems, tried.wrong, tried.left_out)
    return Row(name, program.task.name, str(program.role), said.word, str(said), *counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--programs", nargs="+", required=True)
    options = parser.parse_args()
    for name in progress.over(options.programs, "programs"):
        path = options.path
        known = [Row(**row) for row in json.loads(path.read_text())] if path.exists() else []
        rows = sorted([*(row for row in known if row.program != name), measure(name)])
        lines = ",\n".join(f" {json.dumps(row._asdict())}" for row in rows)
        files.write_bytes(path, f"[\n{lines}\n]\n".encode())
        print(lines)


if __name__ == "__main__":
    main()
