"""What do compiling and verifying cost, and is what the command says exact? Each task's
`algoscope verify TASK --size N --count C --seed S --json` in a process of its own, as a user runs
it; a file that has rows is gone on with.

    python benchmarks/verifying.py benchmarks/verifying.json --seconds 600
    python benchmarks/verifying.py benchmarks/verifying.json --show

Seconds are of processor time, which other work on the machine lengthens little; by the clock, an
idle machine takes at most as long. `exactness.py` has the clock's, too.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
from typing import NamedTuple

from exactness import load, references

from algoscope import files
from algoscope.programs.compiler import compile_program


class Row(NamedTuple):
    program: str
    nodes: int
    seed: int
    samples: int
    exact_traces: float
    exact_outputs: float
    compile_seconds: float
    """Text into weights, for the first time in a process."""
    verify_seconds: float
    """The whole command: start, problems, compilation of the network's code, three accounts, and
    what rounding can do."""

    @property
    def job(self) -> tuple:
        return self[:4]


def compile_seconds(name: str) -> float:
    start = time.process_time()
    compile_program(load(name))
    return time.process_time() - start


def of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(program: str, nodes: int, seed: int, count: int) -> Row:
    options = {"size": nodes, "count": count, "seed": seed}
    given = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "algoscope", "verify", program, *given, "--json"]
    start = of_children()
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = of_children() - start
    said = json.loads(made.stdout)
    assert (said["samples"], said["nodes"]) == (count, nodes) or program == "segments_intersect"
    exact = said["exact_traces"], said["exact_outputs"]
    times = round(compile_seconds(program), 2), round(seconds, 1)
    return Row(program, nodes, seed, count, *exact, *times)


def read(path: pathlib.Path) -> list[Row]:
    return [Row(**row) for row in json.loads(path.read_text())] if path.exists() else []


def table(rows: list[Row]) -> str:
    lines = [f"{'program':32}{'n':>4}{'samples':>9}{'exact':>8}{'compile':>9}{'verify':>9}"]
    for row in sorted(rows):
        exact = min(row.exact_traces, row.exact_outputs)
        lines.append(
            f"{row.program:32}{row.nodes:4}{row.samples:9}{exact:8.1%}"
            f"{row.compile_seconds:9.2f}{row.verify_seconds:9.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split(":")[0])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--programs", nargs="+", default=references())
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--seed", type=int, default=909)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more after")
    parser.add_argument("--show", action="store_true", help="print what there is")
    options = parser.parse_args()
    rows, begun = read(options.path), time.perf_counter()
    if options.show:
        print(table(rows))
        return
    for name in options.programs:
        job = (name, options.size, options.seed, options.count)
        if job in {row.job for row in rows} or time.perf_counter() - begun > options.seconds:
            continue
        rows.append(measure(*job))
        lines = ",\n ".join(json.dumps(row._asdict()) for row in sorted(rows))
        files.write_bytes(options.path, f"[\n {lines}\n]\n".encode())
        print(table(rows[-1:]).splitlines()[-1], flush=True)


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    main()
