"""Ten thousand runs: how long do lists, queries, status and the page of a sweep take?

The run folders are synthetic: every file of a judged run that these commands read, with scores by
rule instead of trained networks and small files in place of weights. Commands run in processes of
their own, as a user's do: the first time, and again when indices and consolidated tables are there.

    python benchmarks/scale.py                       # writes benchmarks/scale.json
    python benchmarks/scale.py --runs 500 --keep /tmp/many --out /tmp/many.json
"""

import argparse
import functools
import json
import math
import os
import pathlib
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import duckdb
import numpy as np

from algoscope import __version__, sweeps
from algoscope.files import write_bytes
from algoscope.measures.basis import basis
from algoscope.runs.description import FORMAT
from algoscope.runs.environment import environment
from algoscope.runs.words import FILE as VERDICTS
from algoscope.runs.words import Words
from algoscope.serialise import to_json
from algoscope.verdict import APPROXIMATES, FAILS, RUNS_UP_TO, SHORTCUT

ROOT = pathlib.Path(__file__).parents[1]
FILE = ROOT / "benchmarks" / "scale.json"
RUNS, SEEDS, VALIDATIONS = 10_000, 2, 20
TASKS = ("bfs", "bellman_ford", "dfs", "dijkstra", "mst_prim", "insertion_sort", "minimum",
         "binary_search", "topological_sort", "dag_shortest_paths")  # fmt: skip
_PROGRAM = (sys.executable, "-c", "from algoscope.cli import main; main()")
_QUERY = (
    "select task, avg(value) as mean, count(*) as networks from results "
    "where name = 'test' and output = 'score' group by task order by mean"
)
_VALIDATION_QUERY = "select step, avg(score) from validation group by step order by step"


def sweep_of(runs: int) -> sweeps.Sweep:
    """A sweep of so many runs: the last axis is as long as it takes."""
    axes = {
        "tasks": [[task] for task in TASKS],
        "network.processor": ["gatv2", "mpnn", "pgn", "gat", "deepsets"],
        "learning_rate": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2],
        "network.width": [32, 64, 128, 256],
    }
    per_value = math.prod(map(len, axes.values()))
    if runs % per_value:
        raise ValueError(f"--runs: got {runs}, needed a multiple of {per_value:,}")
    axes["data_seed"] = list(range(runs // per_value))
    base = {"steps": VALIDATIONS * 50}
    return sweeps.checked(
        sweeps.Sweep("many", base, axes, seeds=SEEDS, after="judge", problems=100)
    )


def score_of(axes: dict, seed: int) -> float:
    """By rule: some values are better, seeds differ."""
    best = {"gatv2": 0.1, "mpnn": 0.08, "pgn": 0.05, "gat": 0.0, "deepsets": -0.2}
    distance = abs(math.log10(axes["learning_rate"]) + 3)
    task = TASKS.index(axes["tasks"][0])
    spread = math.sin(37.0 * seed + 3.0 * axes["data_seed"] + axes["network.width"])
    raw = 0.9 - 0.04 * task - 0.15 * distance + best[axes["network.processor"]] + 0.03 * spread
    return round(min(1.0, max(0.0, raw + 0.02 * math.log2(axes["network.width"] / 64))), 6)


def word_of(score: float) -> str:
    bounds = ((0.97, RUNS_UP_TO), (0.9, APPROXIMATES), (0.6, SHORTCUT))
    return next((word for least, word in bounds if score >= least), FAILS)


def make(folder: pathlib.Path, sweep: sweeps.Sweep) -> int:
    """The runs of the sweep as finished and judged; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    sweeps.write_specification(sweep, folder)
    planned = sweeps.plan(sweep, folder, sweeps.Settings(sweep.after, sweep.problems))
    surroundings, results, validation = environment(), [], []
    judged_by = functools.cache(basis)
    for number, one in enumerate(planned):
        path, (task,) = pathlib.Path(one.item.path), one.item.config.tasks
        values = [score_of(one.axes, seed) for seed in one.item.config.all_seeds]
        for weights in ("weights", "weights-last"):
            (path / weights / task).mkdir(parents=True)
            for seed in one.item.config.all_seeds:
                (path / weights / task / f"seed-{seed:05d}.safetensors").write_bytes(b"synthetic")
        scores = {task: {"score": values}}
        content = dict.fromkeys(("test", "fresh", "seen"), scores)
        content |= {"best_validation": values, "best_step": [one.item.config.steps] * SEEDS}
        _plain(path / "results.json", content)
        _plain(path / "run.json", _description(one, surroundings, number))
        words = Words(
            sweep.problems, {task: [word_of(value) for value in values]}, {task: judged_by(task)}
        )
        _plain(path / VERDICTS, to_json(words))
        (path / "metrics.safetensors").write_bytes(b"synthetic")
        one.item.log.write_text("--- synthetic\nfinished\n")
        for seed, value in zip(one.item.config.all_seeds, values, strict=True):
            run = one.item.name
            results += [(run, seed, task, name, "score", value) for name in scores_of(content)]
            results += [(run, seed, "", "best_validation", "", value)]
            reached = value * (1 - np.exp(-np.arange(VALIDATIONS) / 5))
            validation += [(run, seed, task, 50 * k, float(v)) for k, v in enumerate(reached)]
    _tables(folder, "results", ("seed", "task", "name", "output", "value"), results)
    _tables(folder, "validation", ("seed", "task", "step", "score"), validation)
    return len(planned)


def scores_of(content: dict) -> list[str]:
    return [name for name in ("test", "fresh", "seen") if name in content]


def _plain(path: pathlib.Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2))


def _description(one: sweeps.Planned, surroundings: dict, number: int) -> dict:
    minute, second = divmod(40 + number % 60, 60)
    return {
        "format": FORMAT, "version": __version__, "state": "finished",
        "created": "2026-01-01T00:00:00+00:00",
        "finished": f"2026-01-01T00:{minute:02d}:{second:02d}+00:00",
        "config": one.item.config.as_json(), "environment": surroundings, "notes": [],
        "sweep": one.item.sweep,
    }  # fmt: skip


def _tables(folder: pathlib.Path, name: str, columns: tuple[str, ...], rows: list[tuple]) -> None:
    """NAME.parquet of every run, as `runs.parquet` writes them."""
    values = dict(zip(("run", *columns), map(np.array, zip(*rows, strict=True)), strict=True))
    values = {k: v.astype(object) if v.dtype.kind == "U" else v for k, v in values.items()}
    with tempfile.TemporaryDirectory(dir=folder.parent) as parts, duckdb.connect() as connection:
        connection.register("rows", values)
        connection.execute(f"copy rows to '{parts}/all' (format parquet, partition_by (run))")
        for part in pathlib.Path(parts, "all").iterdir():
            (file,) = part.iterdir()
            file.rename(folder / part.name.removeprefix("run=") / f"{name}.parquet")


def timed(*arguments: str) -> dict[str, float]:
    """Seconds by the clock and of the processor, of a command in a process of its own, and how
    many processes the machine was busy with when it began."""
    load, begun = os.getloadavg()[0], time.monotonic()
    process = subprocess.Popen([*_PROGRAM, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"algoscope {' '.join(arguments)}: status {process.returncode}")
    seconds = time.monotonic() - begun
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "load_average": round(load, 1),
    }


def measure(folder: pathlib.Path, say: Callable[[str], None]) -> dict[str, dict]:
    root, page = str(folder), folder / "sweep.html"
    commands = {
        "help": ("--help",),
        "list": ("runs", "list", "--root", root),
        "query results": ("runs", "query", _QUERY, "--root", root),
        "query validation": ("runs", "query", _VALIDATION_QUERY, "--root", root),
        "status": ("sweep", "status", root),
        "report": ("sweep", "report", root),
    }
    measured = {}
    for name, arguments in commands.items():
        measured[name] = {"first": timed(*arguments), "again": timed(*arguments)}
        say(f"{name}: {measured[name]}")
    measured["report"]["bytes"] = page.stat().st_size
    return measured


def counted(folder: pathlib.Path) -> dict[str, int]:
    """Files of the sweep, and their bytes."""
    files = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    return {"files": len(files), "bytes": sum(os.path.getsize(file) for file in files)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--keep", type=pathlib.Path, help="make the runs there, and leave them")
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or pathlib.Path(temporary)) / "many"
        begun = time.monotonic()
        if not folder.exists():
            make(folder, sweep_of(options.runs))
        print(f"made in {time.monotonic() - begun:.0f} s", flush=True)
        content = {
            "runs": options.runs,
            "seeds_of_each": SEEDS,
            "made": counted(folder),
            "measured": measure(folder, lambda text: print(text, flush=True)),
            "environment": environment(),
            "machine": {"cores": os.cpu_count(), "system": platform.platform()},
        }
        write_bytes(options.out, (json.dumps(content, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
