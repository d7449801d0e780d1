"""The word for every hand-written language model of known mechanism that adds, sorts or reasons
(`llm.scripted.solvers`). Each is written as it comes, and a file that has some is gone on with.

    python benchmarks/domain_zoo.py benchmarks/domain_zoo.json --seconds 600
    python benchmarks/domain_zoo.py benchmarks/domain_zoo.json --task sorting --seed 1
"""

import argparse
import json
import pathlib
import time

import torch

from algoscope import files
from algoscope.llm import domains
from algoscope.llm.examination import examine
from algoscope.llm.scripted.solvers import Solver, solvers

ITEMS = 60


def judged(solver: Solver, seed: int) -> dict:
    found = examine(solver.subject(seed), domains.get(solver.domain), ITEMS, seed)
    truth = solver.truth
    row = {"task": solver.domain, "name": solver.name, "seed": seed, "items": ITEMS}
    row |= {"layers": solver.layers, "runs": truth.runs, "algorithm": truth.algorithm}
    row |= {"held_out": solver.held_out, "scope": truth.scope, "verdict": str(found.verdict)}
    row |= {"unmet": found.verdict.reasons}
    if found.causal is not None:
        row["fits"] = [
            [f.name, str(f.contested), str(f.share), list(f.clock)] for f in found.causal.fits[:3]
        ]
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--task", help="of one domain only")
    parser.add_argument("--only", nargs="+", help="names of subjects")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = json.loads(options.path.read_text()) if options.path.exists() else []
    done = {(row["task"], row["name"], row["seed"]) for row in rows}
    started = time.monotonic()
    for solver in solvers():
        wanted = options.only is None or solver.name in options.only
        wanted = wanted and options.task in (None, solver.domain)
        if not wanted or (solver.domain, solver.name, options.seed) in done:
            continue
        if time.monotonic() - started > options.seconds:
            break
        rows.append(judged(solver, options.seed))
        lines = ",\n ".join(map(json.dumps, rows))
        files.write_bytes(options.path, f"[\n {lines}\n]\n".encode())
        print(f"{solver.domain:14}{solver.name:18}{rows[-1]['runs'][:40]:42}", end="")
        print(rows[-1]["verdict"], flush=True)


if __name__ == "__main__":
    main()
