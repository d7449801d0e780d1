"""Whose fault is it when a program and its algorithm differ on equal numbers? Five algorithms of
CLRS-30 sort by `np.argsort`, which orders equal numbers as the processor likes. Programs of these
tasks are interpreted on the falsifier's families, once against the algorithm as it is and once with
a stable sort in it: what differs then is the program's own.

    python benchmarks/ties.py benchmarks/ties.json

Algorithms run uncompiled here, so that the sort can be exchanged.
"""

import argparse
import collections
import json
import os
import pathlib
from typing import Any
from unittest import mock

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

from algoscope import files, programs
from algoscope.falsify.families import Problem, domain, families, traced
from algoscope.programs import GraphProgram
from algoscope.programs.interpreter import show
from algoscope.programs.verification import agreement

PROGRAMS = ("activity_selector", "task_scheduling", "dijkstra", "mst_prim", "mst_kruskal")
NODES, PER_FAMILY, SEED = 6, 4, 0
argsort = np.argsort


def stable(values: np.ndarray, axis: int = -1, kind: Any = None) -> np.ndarray:
    return argsort(values, axis=axis, kind="stable")


def differ(program: GraphProgram, problems: list[Problem]) -> collections.Counter:
    """How many problems there are on which they differ, and in what: by feature."""
    batch = traced(program.task, problems)
    run = show(program, batch)
    equal = agreement(run.account, batch)
    counts = collections.Counter({name: int((~same).sum()) for name, same in equal.items()})
    counts["promise"] = int(run.broken.sum())
    counts["any"] = int((~np.all([~run.broken, *equal.values()], axis=0)).sum())
    return counts


def measure(name: str) -> dict:
    program, random = programs.get(name), np.random.default_rng(SEED)
    members = [f for f in families(domain(program.task)) if f.name != "random positions"]
    drawn = [found for f in members if (found := f.draw(NODES, PER_FAMILY, random))]
    as_it_is, in_order = collections.Counter(), collections.Counter()
    for problems in drawn:
        as_it_is += differ(program, problems)
        with mock.patch("numpy.argsort", stable):
            in_order += differ(program, problems)
    return {
        "problems": sum(map(len, drawn)),
        "differ": as_it_is.pop("any", 0),
        "differ_with_stable_sort": in_order.pop("any", 0),
        "in_what": dict(sorted(in_order.items())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("?")[0] + "?")
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS))
    options = parser.parse_args()
    results = json.loads(options.path.read_text()) if options.path.exists() else {}
    for name in options.programs:
        results[name] = measure(name)
        print(name, results[name], flush=True)
        files.write_bytes(options.path, (json.dumps(results, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
