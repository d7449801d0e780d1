"""How exact are the compiled programs of the library? On fresh samples of many sizes and on the
canonical test split, with even and with random positions, in float32 and in float64.

    python benchmarks/exactness.py --samples 1000 --processes 2
    python benchmarks/exactness.py --programs bfs bellman_ford dfs --device gpu --out exactness.json
    python benchmarks/exactness.py --programs topological_sort --sizes 16 64 --dtypes float32

A sample counts as below the margin where running error analysis cannot exclude that rounding
changes a decision. All others have to be exact in float32, and all of them in float64.
"""

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import sys
import time
from typing import NamedTuple

EXACT = (
    "bfs",
    "bfs_locked",
    "bfs_self",
    "bellman_ford",
    "bellman_ford_self",
    "minimum",
    "dijkstra",
    "mst_prim",
    "dfs",
)
SIZES = (4, 5, 6, 7, 9, 11, 13, 16, 19, 23, 27, 32, 38, 45, 54, 64)


class Job(NamedTuple):
    program: str
    positions: str
    dtype: str
    nodes: int
    """0 for the canonical test split."""
    count: int
    seed: int


class Row(NamedTuple):
    job: Job
    samples: int
    exact: int
    """Samples on which the network and the reference algorithm agree in every hint and output."""
    below: int
    wrong_above: int
    """Samples above the margin on which they do not."""
    seconds: float
    device: str


def work(job: Job) -> Row:
    import jax

    from algoscope import programs, tasks
    from algoscope.programs.precision import FLOAT32, FLOAT64
    from algoscope.programs.verification import verify
    from algoscope.tasks.transforms import with_random_positions

    jax.config.update("jax_enable_x64", job.dtype == "float64")
    start = time.perf_counter()
    program = programs.get(job.program)
    if job.nodes:
        batch = tasks.sample(program.task, job.nodes, job.count, job.seed)
    else:
        batch = tasks.split(program.task, "test")
    if job.positions == "random":
        batch = with_random_positions(batch, job.seed)
    result = verify(program, batch, precision=FLOAT64 if job.dtype == "float64" else FLOAT32)
    seconds = time.perf_counter() - start
    jax.clear_caches()
    return Row(
        job,
        result.samples,
        round(result.samples * min(result.network.exact_traces, result.network.exact_outputs)),
        result.below_margin,
        round((result.samples - result.below_margin) * (1 - result.exact_above_margin)),
        seconds,
        str(jax.devices()[0]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", nargs="+", default=EXACT)
    parser.add_argument("--positions", nargs="+", default=["uniform", "random"])
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float64"])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if options.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    each = -(-options.samples // len(options.sizes))
    jobs = [
        Job(program, positions, dtype, nodes, each, options.seed + nodes)
        for nodes in (*reversed(options.sizes), 0)
        for program in options.programs
        for positions in options.positions
        for dtype in options.dtypes
    ]
    rows, start = [], time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.processes, mp_context=context) as pool:
        for future in concurrent.futures.as_completed([pool.submit(work, job) for job in jobs]):
            rows.append(future.result())
            done, left = len(rows), len(jobs) - len(rows)
            spent = time.perf_counter() - start
            print(f"{done}/{len(jobs)}, {spent / done * left:.0f} s left", file=sys.stderr)
            if options.out:
                text = json.dumps([row._replace(job=row.job._asdict())._asdict() for row in rows])
                options.out.write_text(text)
    print(
        f"{'program':18}{'positions':10}{'dtype':9}{'samples':10}{'exact':>8}{'below':>7}{'wrong':>7}"
    )
    groups: dict = collections.defaultdict(list)
    for row in rows:
        kind = "fresh" if row.job.nodes else "canonical"
        groups[row.job.program, row.job.positions, row.job.dtype, kind].append(row)
    for (program, positions, dtype, kind), group in sorted(groups.items()):
        samples, exact, below, wrong = (
            sum(getattr(row, name) for row in group)
            for name in ("samples", "exact", "below", "wrong_above")
        )
        counts = f"{samples:5} {kind[:5]:5}{exact:7}{below:7}{wrong:7}"
        print(f"{program:18}{positions:10}{dtype:9}{counts}")
    print(f"{rows[0].device}, {time.perf_counter() - start:.0f} s, seed {options.seed}")


if __name__ == "__main__":
    main()
