"""A 3 × 3 × 2 sweep of tiny trainings, and what has to be equal of two such."""

import pathlib
import re
import time
from collections.abc import Callable

from algoscope import runs, sweeps

BASE = {
    "tasks": ["bfs"],
    "evaluate_every": 20,
    "pool_steps": 20,
    "time_buckets": 1,
    "learning_rate": 1e-2,
    "recipe.sizes": [4],
    "recipe.count": 4,
    "network.width": 4,
    "scored_on": ["test"],
}
LONG = 900
"""Steps of a training that is caught before it ends: a few seconds, with a checkpoint a step."""
AXES = {"data_seed": [1, 2, 3], "steps": [LONG, 40, 20]}
"""Neither needs another compiled program."""
SWEEP = sweeps.checked(sweeps.Sweep("tiny", BASE, AXES, seeds=2))
SETTINGS = sweeps.Settings(checkpoint_seconds=0.0)
TOML = f"""\
seeds = 2
[base]
tasks = ["bfs"]
evaluate_every = 20
pool_steps = 20
time_buckets = 1
learning_rate = 1e-2
recipe.sizes = [4]
recipe.count = 4
network.width = 4
scored_on = ["test"]
[axes]
data_seed = [1, 2, 3]
steps = [{LONG}, 40, 20]
"""
ONE = TOML.replace("[1, 2, 3]", "[1]").replace(f"[{LONG}, 40, 20]", f"[{LONG}]")
"""The long run alone."""
_PATIENCE = 600


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    """All that has to be equal bit for bit, of all runs of a sweep."""
    patterns = ("*/weights/*/*.safetensors", "*/metrics.safetensors", "*/results.json")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in patterns
        for path in sorted(folder.glob(pattern))
    }


def wait_until(condition: Callable[[], object]) -> None:
    until = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def begun(folder: pathlib.Path) -> set[str]:
    """The runs that have taken a step."""
    return {run.name for run in runs.list_runs(folder) if run.step} if folder.exists() else set()


def attempts(log: pathlib.Path) -> list[int]:
    """The processes that have made a run, one after the other."""
    return [int(number) for number in re.findall(r"^--- .*, process (\d+)$", log.read_text(), re.M)]


def one_after_the_other(folder: pathlib.Path) -> None:
    """The runs of the sweep, without any engine."""
    for one in sweeps.plan(SWEEP, folder, SETTINGS):
        assert sweeps.do(one.item).end is sweeps.End.FINISHED


if __name__ == "__main__":
    import sys

    one_after_the_other(pathlib.Path(sys.argv[1]))
