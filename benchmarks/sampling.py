"""How fast problems are drawn and traced: ours against dm-clrs, in one process and on one core.

    python benchmarks/sampling.py                      all tasks at 16 and at 64 nodes
    python benchmarks/sampling.py bfs dfs --sizes 16   some of it
    python benchmarks/sampling.py --large              single samples with 1,600 nodes, ours alone

Both sides draw the same problems from the same seed; their first batches are compared. They then
take turns, five of them, each in CPU time; what counts is the median.
"""

import argparse
import concurrent.futures
import importlib.util
import logging
import math
import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.tasks.sampling import batches

SEED = 1
TURNS = 5
SHORTEST_TURN = 0.05
"""Ours draws batches for at least this long in each turn, in seconds."""
LONGEST_TURN = 2.0
"""dm-clrs draws fewer samples than a batch where a batch would take longer, in seconds."""

LARGE = 1600
DEGREE = 8
LARGE_TASKS = ("bfs", "dfs", "bellman_ford", "dijkstra", "mst_prim")


class Speeds(NamedTuple):
    """CPU seconds for a sample."""

    dm_clrs: float
    ours: float


class Cost(NamedTuple):
    steps: int
    seconds: float
    gigabytes: float
    """The process's peak, with Python and all libraries."""


def compare(name: str, size: int, count: int) -> Speeds:
    import clrs

    sampler, _ = clrs.build_sampler(
        name, num_samples=-1, length=size, seed=SEED, track_max_steps=False
    )
    stream = batches(tasks.get(name), size, count, SEED, {})
    one = seconds(lambda: check_equal(name, sampler.next(1), tasks.sample(name, size, 1, SEED)))
    theirs = max(1, min(count, int(LONGEST_TURN / one)))
    next(stream)
    repeats = math.ceil(SHORTEST_TURN / seconds(lambda: next(stream)))
    turns = [
        Speeds(
            seconds(lambda: sampler.next(theirs)) / theirs,
            seconds(lambda: [next(stream) for _ in range(repeats)][:0]) / repeats / count,
        )
        for _ in range(TURNS)
    ]
    return Speeds(*(statistics.median(side) for side in zip(*turns, strict=True)))


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def check_equal(name: str, theirs: Any, ours: tasks.Batch) -> None:
    pairs = [(x, ours.inputs[x.name], x.data) for x in theirs.features.inputs]
    pairs += [(x, ours.outputs[x.name], x.data) for x in theirs.outputs]
    pairs += [(x, ours.hints[x.name], np.swapaxes(x.data, 0, 1)) for x in theirs.features.hints]
    different = [x.name for x, a, b in pairs if not np.array_equal(a, b)]
    if different:
        sys.exit(f"{name}: {', '.join(different)} differ from dm-clrs's")


def report(names: list[str], size: int, count: int) -> None:
    print(f"\nn = {size}, batches of {count}, microseconds of CPU time for a sample")
    print(f"{'':30}{'dm-clrs':>12}{'ours':>10}{'ratio':>9}")
    ratios = []
    for name in names:
        theirs, ours = compare(name, size, count)
        ratios.append(theirs / ours)
        print(f"{name:30}{theirs * 1e6:12,.0f}{ours * 1e6:10,.1f}{ratios[-1]:8,.0f}x", flush=True)
    print(f"{'geometric mean':52}{statistics.geometric_mean(ratios):8,.0f}x")
    print(f"{'lowest':52}{min(ratios):8,.0f}x")


def cost_of_large(name: str) -> Cost:
    """Of one sample; the code is compiled beforehand."""
    directed = name == "dfs"
    p = DEGREE / (LARGE - 1) if directed else math.sqrt(DEGREE / (LARGE - 1))
    tasks.sample(name, 8, 1, SEED)
    start = time.perf_counter()
    batch = tasks.sample(name, LARGE, 1, SEED, p=p)
    elapsed = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(int(batch.lengths[0]), elapsed, peak * 1024 / 1e9)


def report_large() -> None:
    """Each sample in a process of its own, so that its peak is its own."""
    print(f"one sample with {LARGE:,} nodes of mean degree {DEGREE}, and its whole trace")
    print(f"{'':20}{'steps':>8}{'seconds':>10}{'peak GB':>10}   (median of {TURNS})")
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, spawn, max_tasks_per_child=1) as processes:
        for name in LARGE_TASKS:
            costs = processes.map(cost_of_large, [name] * TURNS)
            steps, *cost = (statistics.median(values) for values in zip(*costs, strict=True))
            print(f"{name:20}{steps:8,}{cost[0]:10.2f}{cost[1]:10.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="TASK", help="all thirty, if none is named")
    parser.add_argument("--sizes", nargs="+", type=int, default=[16, 64])
    parser.add_argument("--count", type=int, default=32, help="samples in a batch")
    parser.add_argument("--large", action="store_true", help="single large samples, ours alone")
    arguments = parser.parse_args()
    if arguments.large:
        return report_large()
    logging.disable(logging.WARNING)
    if importlib.util.find_spec("clrs") is None:
        sys.exit("this compares with dm-clrs, which is not installed: pip install dm-clrs==2.0.3")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for size in arguments.sizes:
        report(arguments.names or tasks.names(), size, arguments.count)


if __name__ == "__main__":
    main()
