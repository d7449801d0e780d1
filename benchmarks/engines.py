"""Do all engines make the same runs, whoever is killed? A tiny sweep is trained and judged run by
run without an engine, then on this machine, on a Ray cluster and on a Slurm that are started for
it; what comes out has to be the same bit for bit, and the sweep's tables have to say what its runs
say.

    python benchmarks/engines.py --trials 4                  # goes on with benchmarks/engines.json
    python benchmarks/engines.py --trials 4 --seconds 600    # and begins no trial after ten minutes

A trial starts the command, kills at random moments the command, its workers or both with kill -9,
and then lets it finish. Moments are drawn from the time that the command takes without kills.
"""

import argparse
import contextlib
import csv
import hashlib
import importlib
import json
import os
import pathlib
import random
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import duckdb

from algoscope import runs, sweeps
from algoscope.files import write_bytes
from algoscope.runs import lock
from algoscope.runs.environment import environment

ROOT = pathlib.Path(__file__).parents[1]
FILE = ROOT / "benchmarks" / "engines.json"
SWEEP = sweeps.Sweep(
    "tiny",
    {
        "tasks": ["bfs"], "steps": 60, "evaluate_every": 20, "pool_steps": 20, "time_buckets": 1,
        "scored_on": ["test"], "recipe.sizes": [4], "recipe.count": 4, "network.width": 4,
    },
    {"data_seed": [1, 2], "learning_rate": [1e-3, 1e-2]},
    seeds=2,
    after="judge",
    problems=30,
)  # fmt: skip
_ALGOSCOPE = (sys.executable, "-c", "from algoscope.cli import main; main()")
_KEPT = ("*/weights*/*/*.safetensors", "*/metrics.safetensors", "*/results.json",
         "*/verdicts.json", "*/findings/*/*.json")  # fmt: skip
_MOST_KILLS = 3
_SHARE = (0.1, 0.9)
_NO_PAUSE = ("--checkpoint-seconds", "0")


def one_after_the_other(folder: pathlib.Path) -> None:
    """Without any engine."""
    sweep = sweeps.checked(SWEEP)
    for one in sweeps.plan(sweep, folder, sweeps.Settings(sweep.after, sweep.problems)):
        assert sweeps.do(one.item).end is sweeps.End.FINISHED


def digest(folder: pathlib.Path) -> dict[str, str]:
    """Of all that has to be the same, by path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(_bits(path)).hexdigest()[:16]
        for pattern in _KEPT
        for path in sorted(folder.glob(pattern))
    }


def _bits(path: pathlib.Path) -> bytes:
    """Of findings everything but how long the examination took."""
    if "findings" not in path.parts:
        return path.read_bytes()
    content = json.loads(path.read_text())
    content.pop("seconds", None)
    return json.dumps(content).encode()


def tables_differ(folder: pathlib.Path, surroundings: dict[str, str]) -> list[str]:
    """What the sweep's tables say otherwise than its runs do."""
    command = [*_ALGOSCOPE, "sweep", "report", str(folder)]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    if done.returncode:
        return [done.stderr]
    expected = set()
    for run in runs.list_runs(folder):
        words = json.loads((run.path / "verdicts.json").read_text())["words"]
        for task in run.tasks:
            scores = run.results["test"][task]["score"]
            for seed, score, word in zip(run.seeds, scores, words[task], strict=True):
                expected.add((run.name, seed, task, score, word))
    columns, faults = ("run", "seed", "task", "test", "word"), []
    with (folder / "sweep-tables" / "networks.csv").open() as file:
        rows = [tuple(row[name] for name in columns) for row in csv.DictReader(file)]
    written = {(run, int(seed), task, float(s), word) for run, seed, task, s, word in rows}
    with duckdb.connect() as connection:
        path = folder / "sweep-tables" / "networks.parquet"
        kept = set(connection.sql(f"select {', '.join(columns)} from '{path}'").fetchall())
    for name, found in (("CSV", written), ("Parquet", kept)):
        if found != expected:
            faults.append(f"{name}: {sorted(found ^ expected)}")
    return faults


def workers(folder: pathlib.Path) -> list[int]:
    """The processes that make runs now, by the last line of each log that names one."""
    found = []
    for log in folder.glob("*.log"):
        named = re.findall(r"^--- .*, process (\d+)$", log.read_text(errors="replace"), re.M)
        if named and lock.is_taken(log) and pathlib.Path(f"/proc/{named[-1]}").exists():
            found.append(int(named[-1]))
    return found


def kill(driver: subprocess.Popen, folder: pathlib.Path, chance: random.Random) -> str:
    """Kills the command, its workers, or both; returns which."""
    working = workers(folder) if folder.exists() else []
    victims = chance.choice(("driver", "workers", "all")) if working else "driver"
    pids = {"driver": [driver.pid], "workers": working, "all": [driver.pid, *working]}[victims]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return f"{victims} ({len(pids)})"


def trial(command: list[str], folder: pathlib.Path, settings: dict[str, str], known: dict,
          number: int) -> dict[str, Any]:  # fmt: skip
    chance = random.Random(f"{known['engine']} {number}")
    log = folder.with_suffix(".txt")
    kills, begun = [], time.monotonic()
    with log.open("w") as out:

        def start() -> subprocess.Popen:
            return subprocess.Popen(command, env=settings, stdout=out, stderr=out)

        driver, wanted = start(), chance.randint(1, _MOST_KILLS) if number else 0
        while len(kills) < wanted:
            share = chance.uniform(*_SHARE)
            with contextlib.suppress(subprocess.TimeoutExpired):
                driver.wait(share * known["seconds"])
                break
            kills.append(f"{kill(driver, folder, chance)} at {share:.2f}")
            if driver.poll() is not None or not kills[-1].startswith("workers"):
                driver.wait()
                driver = start()
        status = driver.wait()
    found = digest(folder)
    differing = sorted({name for name, _ in found.items() ^ known["digest"].items()})
    faults = [f"status {status}: {log.read_text()[-500:]}"] if status else []
    if not (status or differing):
        faults = tables_differ(folder, settings)
    return {
        "engine": known["engine"],
        "number": number,
        "kills": kills,
        "seconds": round(time.monotonic() - begun, 1),
        "differing": differing,
        "faults": faults,
    }


def specification() -> str:
    """The sweep as a file."""
    lines = [f"seeds = {SWEEP.seeds}", f'after = "{SWEEP.after}"', f"problems = {SWEEP.problems}"]
    for title, fields in (("base", SWEEP.base), ("axes", SWEEP.axes)):
        lines += [f"[{title}]", *(f"{name} = {json.dumps(v)}" for name, v in fields.items())]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=4, help="of each engine, besides one whole")
    parser.add_argument("--seconds", type=float, default=3600.0, help="begin none after so long")
    parser.add_argument("--engines", nargs="*", default=["local", "ray", "slurm"])
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    parser.add_argument("--reference", type=pathlib.Path, help="make the runs without an engine")
    options = parser.parse_args()
    if options.reference:
        one_after_the_other(options.reference)
        return
    sys.path.insert(0, str(ROOT / "tests" / "sweeps"))
    ray_cluster, slurm_cluster = map(importlib.import_module, ("ray_cluster", "slurm_cluster"))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        place = pathlib.Path(name)
        (place / "tiny.toml").write_text(specification())
        settings = os.environ | {
            # What is computed is tiny, and compiled often: fast rather than well.
            "XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_cpu_max_isa=AVX",
            "JAX_COMPILATION_CACHE_DIR": str(place / "compiled"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }
        made = [sys.executable, __file__, "--reference", str(place / "reference")]
        subprocess.run(made, env=settings, check=True)
        known = digest(place / "reference")
        record: dict[str, Any] = {"digest": known, "trials": []}
        if options.out.exists():
            before = json.loads(options.out.read_text())
            record["trials"] = before["trials"] if before["digest"] == known else []
        record |= {
            "runs": len(list(sweeps.checked(SWEEP).combinations)),
            "seeds_of_each": SWEEP.seeds,
            "specification": specification(),
            "environment": environment(),
        }
        words = {"local": ["--workers", "2"], "slurm": []}
        if "ray" in options.engines:
            address = running.enter_context(ray_cluster.ray(settings, workers=2))
            words["ray"] = ["--address", address]
        if "slurm" in options.engines:
            (place / "slurm").mkdir()
            settings |= running.enter_context(slurm_cluster.slurm(place / "slurm"))
        seconds: dict[str, float] = {}
        for number in range(options.trials + 1):
            for engine in options.engines:
                if time.monotonic() - begun > options.seconds:
                    continue
                if number and (engine, number) in {
                    (each["engine"], each["number"]) for each in record["trials"]
                }:
                    continue
                folder = place / f"{engine}-{number}"
                command = [*_ALGOSCOPE, "sweep", str(place / "tiny.toml"), "--out", str(folder)]
                command += ["--on", engine, *words[engine], *_NO_PAUSE]
                of_engine = {"engine": engine, "digest": known, "seconds": seconds.get(engine, 0)}
                done = trial(command, folder, settings, of_engine, number)
                if not number:
                    seconds[engine] = done["seconds"]
                    record["trials"] = [
                        each
                        for each in record["trials"]
                        if (each["engine"], each["number"]) != (engine, 0)
                    ]
                record["trials"].append(done)
                write_bytes(options.out, (json.dumps(record, indent=1) + "\n").encode())
                print(done, flush=True)


if __name__ == "__main__":
    main()
