"""How exact are the compiled programs of the library? `verify` on fresh problems of each task, with
even and with random positions, and on those of the falsifier's families; every row is written as it
comes, and a file that has rows is gone on with, so that a long measurement can be made in portions.

    python benchmarks/exactness.py benchmarks/exactness.json --seconds 600
    python benchmarks/exactness.py benchmarks/exactness.json --programs dfs --sizes 64 --count 256
    python benchmarks/exactness.py benchmarks/exactness.json --precision float64 --sizes 11 37
    python benchmarks/exactness.py benchmarks/exactness.json --positions families --sizes 11
    python benchmarks/exactness.py benchmarks/exactness.json \
        --programs examples/floyd_warshall.program examples/lcs_length.py --positions even
    python benchmarks/exactness.py benchmarks/exactness.json --show

A sample that is followed counts as below the margin where running error analysis cannot exclude
that rounding changes a decision. All others have to be exact in float32, and all of them in
float64. Seconds are those of `verify` with compilation, and of processor time.
"""

import argparse
import json
import os
import pathlib
import sys
import time
from typing import NamedTuple

import jax

from algoscope import files, programs, tasks
from algoscope.falsify.cover import some_of_each
from algoscope.falsify.families import domain, families
from algoscope.programs import Role
from algoscope.programs.precision import FLOAT32, FLOAT64
from algoscope.programs.verification import Exactness, verify
from algoscope.tasks.transforms import with_random_positions
from algoscope.verbs.definitions import find_program

_PRECISIONS = {"float32": FLOAT32, "float64": FLOAT64}


class Row(NamedTuple):
    program: str
    nodes: int
    positions: str
    """Even or random; or families, whose problems have some of both."""
    precision: str
    seed: int
    samples: int
    exact: int
    """Samples on which the network equals the reference algorithm in every hint and output."""
    program_exact: int
    """Those on which the interpreter does, in float64."""
    followed: int
    below: int
    wrong_above: int
    """Samples above the margin on which network and program differ."""
    seconds: float
    processor_seconds: float

    @property
    def job(self) -> tuple:
        return self[:6]


def references() -> list[str]:
    """The first exact program of each task."""
    found: dict[str, str] = {}
    for name in programs.names():
        program = programs.get(name)
        if program.role is Role.REFERENCE:
            found.setdefault(program.task.name, name)
    return sorted(found.values())


def measure(
    program: str,
    nodes: int,
    positions: str,
    precision: str,
    seed: int,
    count: int,
    follow: int | None = None,
) -> Row:
    jax.config.update("jax_enable_x64", precision == "float64")
    graph = find_program(program)
    of_families = positions == "families"
    if of_families:
        each = max(1, round(count / len(families(domain(graph.task)))))
        batch = some_of_each(graph.task, nodes, each, seed)
    else:
        batch = tasks.sample(graph.task, nodes, count, seed)
    if positions == "random":
        batch = with_random_positions(batch, seed)
    start, processor = time.perf_counter(), time.process_time()
    result = verify(graph, batch, None, _PRECISIONS[precision], follow, may_break=of_families)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    above = result.followed - result.below_margin
    return Row(
        graph.name,
        nodes,
        positions,
        precision,
        seed,
        result.samples,
        exact_samples(result.network, len(batch)),
        exact_samples(result.interpreter, len(batch)),
        result.followed,
        result.below_margin,
        round(above * (1 - result.exact_above_margin)),
        round(seconds, 1),
        round(processor, 1),
    )


def exact_samples(shares: Exactness, samples: int) -> int:
    return round(samples * min(shares.exact_traces, shares.exact_outputs))


def read(path: pathlib.Path) -> list[Row]:
    return [Row(**row) for row in json.loads(path.read_text())] if path.exists() else []


def write(rows: list[Row], path: pathlib.Path) -> None:
    lines = ",\n ".join(json.dumps(row._asdict()) for row in sorted(rows))
    files.write_bytes(path, f"[\n {lines}\n]\n".encode())


def table(rows: list[Row]) -> str:
    lines = [f"{'program':40}{'n':>4} {'positions':10}{'':8}{'exact':>12}{'below':>10}{'s':>7}"]
    for row in sorted(rows):
        lines.append(
            f"{row.program:40}{row.nodes:4} {row.positions:10}{row.precision:8}"
            f"{f'{row.exact}/{row.samples}':>12}{f'{row.below}/{row.followed}':>10}{row.seconds:7.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split(":")[0])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--programs", nargs="+", default=references())
    parser.add_argument("--sizes", type=int, nargs="+", default=[11, 37, 64])
    parser.add_argument("--positions", nargs="+", default=["even", "random"])
    parser.add_argument("--precision", choices=_PRECISIONS, default="float32")
    parser.add_argument("--seeds", type=int, nargs="+", default=[20261], help="less the size")
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--follow", type=int, help="samples of which rounding is bounded")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more after")
    parser.add_argument("--show", action="store_true", help="print what there is")
    options = parser.parse_args()
    rows, begun = read(options.path), time.perf_counter()
    if options.show:
        print(table(rows))
        return
    jobs = [
        (program, nodes, positions, options.precision, seed + nodes, options.count)
        for nodes in options.sizes
        for positions in options.positions
        for program in options.programs
        for seed in options.seeds
        if positions != "random" or not find_program(program).needs_even_positions
    ]
    known = {row.job for row in rows} | {row[:5] for row in rows if row.positions == "families"}
    named = {job: (find_program(job[0]).name, *job[1:]) for job in jobs}
    todo = [job for job in jobs if named[job] not in known and named[job][:5] not in known]
    for done, job in enumerate(todo):
        if time.perf_counter() - begun > options.seconds:
            print(f"{len(todo) - done} are left", file=sys.stderr)
            break
        rows.append(measure(*job, options.follow))
        write(rows, options.path)
        if done + 1 == len(todo) or todo[done + 1][:2] != job[:2]:
            jax.clear_caches()
        print(table(rows[-1:]).splitlines()[-1], flush=True)


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    main()
