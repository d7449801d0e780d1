"""A sweep of trainings that take a second each, and what has to be equal of two of them."""

import pathlib

from algoscope import sweeps

BASE = {
    "tasks": ["bfs"],
    "steps": 40,
    "evaluate_every": 20,
    "learning_rate": 1e-2,
    "recipe.sizes": [4],
    "recipe.count": 4,
    "network.width": 4,
    "scored_on": ["test"],
}
AXES = {"data_seed": [1, 2], "keep": ["best", "last"]}
"""Neither needs another compiled program."""
SWEEP = sweeps.checked(sweeps.Sweep("tiny", BASE, AXES, seeds=2))
SETTINGS = sweeps.Settings(checkpoint_seconds=0.0)
TOML = """\
seeds = 2
[base]
tasks = ["bfs"]
steps = 40
evaluate_every = 20
learning_rate = 1e-2
recipe.sizes = [4]
recipe.count = 4
network.width = 4
scored_on = ["test"]
[axes]
data_seed = [1, 2]
keep = ["best", "last"]
"""


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    """All that has to be equal bit for bit, of all runs of a sweep."""
    patterns = ("*/weights/*/*.safetensors", "*/metrics.safetensors", "*/results.json")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in patterns
        for path in sorted(folder.glob(pattern))
    }
