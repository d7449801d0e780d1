"""TransNAR: a Transformer that reads a frozen neural algorithmic reasoner.

from algoscope import runs, transnar

reasoner = transnar.reasoner_of(runs.open("runs/reasoner"))  # of `algoscope train`
config = transnar.TransnarConfig(("bfs", "dfs"), tower=transnar.TowerConfig(reads="final"))
transnar.train(config, "runs/hybrid", reasoner=reasoner)
trained = transnar.load("runs/hybrid")
transnar.evaluate(trained, sizes=(10, 14), problems=100)["bfs"][14].clrs
transnar.ask(trained, "bfs:\\ns: 0, A: [[1 1], [1 1]]\\npi:\\n").text
"""

from collections.abc import Sequence

from algoscope.configuration import TowerConfig, TransnarConfig
from algoscope.transnar import scores
from algoscope.transnar.ask import Answer, ask
from algoscope.transnar.config import PAPER
from algoscope.transnar.generation import ContextError, generate
from algoscope.transnar.reasoner import from_run as reasoner_of
from algoscope.transnar.reasoner import reason
from algoscope.transnar.text_dataset import draw_all
from algoscope.transnar.tower_training import TrainedTower, load, resume, train, view_of

__all__ = [
    "PAPER",
    "Answer",
    "ContextError",
    "TowerConfig",
    "TrainedTower",
    "TransnarConfig",
    "ask",
    "evaluate",
    "generate",
    "load",
    "reasoner_of",
    "resume",
    "scores",
    "train",
]


def evaluate(trained: TrainedTower, sizes: Sequence[int], problems: int) -> scores.Scores:
    """What a tower's answers are worth, by task and size."""
    datasets = draw_all(scores.held_out_orders(trained.config, sizes, problems))
    reasoner, view = trained.reasoner, view_of(trained.config)
    states = None if reasoner is None else reason(reasoner, datasets, view)
    answers = scores.tower_answers(trained.tower, datasets, states, seed=trained.config.seed)
    return scores.scores_of(datasets, answers)
