"""Figures 1 to 5 and 15: what learned BFS attends to and says, beside the compiled program."""

import functools

from algoscope.experiments.experiment import Experiment
from algoscope.experiments.mind_the_gap.figures import reproduce_figures
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import FOLDER, costs

_FIGURES = {
    "accuracy": "1",
    "attention": "2",
    "best_match": "3",
    "traces": "4",
    "between": "5",
    "full": "15",
}
EXPERIMENT = Experiment(
    "mind-the-gap-bfs",
    "does learned BFS attend and say what the algorithm does, and do seeds agree?",
    f"{SOURCE}, figures 1 to 5 and 15",
    costs(("bfs",)),
    functools.partial(reproduce_figures, "bfs", _FIGURES),
    FOLDER,
)
