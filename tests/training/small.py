"""A training that takes a second once it is compiled: what all tests here train."""

import dataclasses

from algoscope import networks, tasks
from algoscope.training import TrainingConfig

CONFIG = TrainingConfig(
    tasks=("bfs",),
    seeds=2,
    steps=12,
    learning_rate=1e-2,
    evaluate_every=5,
    recipe=tasks.Recipe(sizes=(4,), count=4),
    network=networks.NetworkConfig(width=4),
)


def changed(**changes) -> TrainingConfig:
    return dataclasses.replace(CONFIG, **changes)
