"""Training: a configuration becomes an ensemble in a run folder.

from algoscope import training

config = training.TrainingConfig(tasks=("bfs",), seeds=8, steps=1000)
run = training.train(config, "runs/bfs")
run.results["test"]["bfs"]["score"]  # of each seed
run.ensemble()[0]  # an ordinary network, with its best weights
"""

from algoscope.errors import Stopped
from algoscope.runs import Run
from algoscope.training.config import TrainingConfig, check, from_json, hint_options
from algoscope.training.ensemble import resume, train
from algoscope.training.loop import Report

__all__ = [
    "Report",
    "Stopped",
    "TrainingConfig",
    "check",
    "config_of",
    "hint_options",
    "resume",
    "train",
]


def config_of(run: Run) -> TrainingConfig:
    return from_json(TrainingConfig, run.config)
