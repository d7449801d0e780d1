"""Figures 10, 11 and 14: what learned Bellman-Ford attends to and says."""

import functools

from algoscope.experiments.experiment import Experiment
from algoscope.experiments.mind_the_gap.figures import reproduce_figures
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import FOLDER, costs

EXPERIMENT = Experiment(
    "mind-the-gap-bellman-ford",
    "does learned Bellman-Ford attend and say what the algorithm does?",
    f"{SOURCE}, figures 10, 11 and 14",
    costs(("bellman_ford",)),
    functools.partial(
        reproduce_figures, "bellman_ford", {"accuracy": "10", "traces": "11", "full": "14"}
    ),
    FOLDER,
)
