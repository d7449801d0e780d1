"""Do vector instructions change a study's numbers? TransNAR's smoke preset, once for each.

    python benchmarks/vectors.py AVX512 AVX2 SSE4_2 --seconds 400   # goes on where it stopped
    python benchmarks/vectors.py --report

XLA is limited to some of the instructions that this CPU has (`--xla_cpu_max_isa`); seeds, problems
and all else are the same. The file holds mean CLRS scores by row and size, and how far the loss of
each training is from that of the first in the list, step by step; of studies that were stopped,
what there was.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

import numpy as np

from algoscope import runs
from algoscope.files import read_arrays, write_bytes
from algoscope.runs.folder import METRICS
from algoscope.table import Table
from algoscope.transnar.scores import from_json, mean_clrs

FILE = pathlib.Path(__file__).parent / "vectors.json"
_STEPS = (0, 10, 50, 100, 199)


def study(instructions: str, folder: pathlib.Path, seconds: float) -> None:
    """Goes on with the study, for so long at most."""
    command = [sys.executable, "-m", "algoscope", "reproduce", "transnar-scores"]
    command += ["--preset", "smoke", "--out", str(folder), "--seconds", str(seconds)]
    flags = f"--xla_cpu_max_isa={instructions}"
    subprocess.run(command, env={**os.environ, "XLA_FLAGS": flags}, check=False)


def numbers(folder: pathlib.Path) -> dict[str, Any]:
    results = json.loads((folder / "results.json").read_text())
    scores = {
        row: {str(n): round(mean_clrs(from_json(each[0]), [n]), 4) for n in results["test_sizes"]}
        for row, each in results["rows"].items()
    }
    return {
        "complete": results["complete"],
        "scores": scores,
        "environment": results["environment"],
        "problems": results["problems"]["test"],
    }


def differences(folder: pathlib.Path, first: pathlib.Path) -> dict[str, Any]:
    """Of each training: the first step whose loss differs, and by how much at some."""
    found = {}
    for run in runs.list_runs(folder):
        if not (run.finished and runs.has_begun(first / run.name)):
            continue
        if not runs.open(first / run.name).finished:
            continue
        # Towers have no validation, so there are no `Run.metrics` of them.
        ours, theirs = (read_arrays(at / run.name / METRICS)["loss"] for at in (folder, first))
        relative = np.abs(ours - theirs).reshape(len(ours), -1).max(1) / np.abs(theirs).mean()
        differing = np.flatnonzero(relative)
        found[run.name] = {
            "first": int(differing[0]) if len(differing) else None,
            "relative": {str(step): float(f"{relative[step]:.2g}") for step in _STEPS},
        }
    return found


def report(record: dict[str, Any]) -> str:
    columns = ["row", *(f"{name}, {n} nodes" for name in record for n in ("5", "6"))]
    rows = [row for row in next(iter(record.values()))["scores"] if _everywhere(row, record)]
    cells = [
        [row, *(f"{record[name]['scores'][row][n]:.3f}" for name in record for n in ("5", "6"))]
        for row in rows
    ]
    tables = [Table("mean CLRS score", columns, cells).markdown()]
    for name, found in record.items():
        for run, loss in found.get("loss", {}).items():
            tables.append(f"{name}, {run}: differs from step {loss['first']}, {loss['relative']}")
    return "\n".join(tables)


def _everywhere(row: str, record: dict[str, Any]) -> bool:
    return all(row in found["scores"] for found in record.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("instructions", nargs="*", default=["AVX512", "AVX2"])
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("runs/vectors"))
    parser.add_argument("--seconds", type=float, default=3_600.0)
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    if arguments.report:
        print(report(json.loads(arguments.out.read_text())))
        return
    until = time.monotonic() + arguments.seconds
    folders = {name: arguments.folder / name for name in arguments.instructions}
    for number, (name, folder) in enumerate(folders.items()):
        # Each gets an equal part of what those before it left.
        study(name, folder, (until - time.monotonic()) / (len(folders) - number))
    record = {name: numbers(folder) for name, folder in folders.items()}
    first, *others = folders
    for name in others:
        record[name]["loss"] = differences(folders[name], folders[first])
    write_bytes(arguments.out, (json.dumps(record, indent=1) + "\n").encode())
    print(report(record))


if __name__ == "__main__":
    main()
