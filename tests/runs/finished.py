"""A finished run without any training."""

import pathlib

import jax
import numpy as np

from algoscope import networks, tasks
from algoscope.networks import Ensemble, NetworkConfig
from algoscope.runs import Metrics, Run, folder, reservation

SEEDS = (3, 4)
CONFIG = {"tasks": ["bfs"], "seeds": 2, "first_seed": 3, "steps": 4, "learning_rate": 0.1}


def network(seed: int) -> networks.Network:
    return networks.build(tasks.get("bfs"), NetworkConfig(width=2), key=jax.random.key(seed))


def finished_run(path: pathlib.Path, *, sweep: str | None = None, **changes) -> Run:
    facts = {"sweep": sweep} if sweep else {}
    run = reservation.create(path, CONFIG | changes, **facts)
    metrics = Metrics(
        np.arange(8, dtype=np.float32).reshape(4, 2, 1),
        np.array([0, 2], np.int32),
        np.array([[[0.1], [0.2]], [[0.3], [0.4]]], np.float32),
    )
    scores = {"bfs": {"pi": [0.5, 0.75], "score": [0.5, 0.75]}}
    results = dict.fromkeys(("test", "fresh", "seen"), scores)
    results |= {"best_validation": [0.3, 0.4], "best_step": [2, 2]}
    ensemble = Ensemble.of([network(seed) for seed in SEEDS], "bfs", SEEDS)
    return folder.finish(run, ensemble, metrics, results)
