"""Objectives by name. A new one is a new file and a line here.

training.TrainingConfig(("bfs",), objective=("hints", "outputs", "attention=0:1@1000"))
"""

from collections.abc import Sequence
from typing import NamedTuple

from algoscope.errors import ConfigError, unknown_name
from algoscope.training.objectives.attention import ATTENTION
from algoscope.training.objectives.base import Attempt, Lecture, Objective, Target
from algoscope.training.objectives.exchange import EXCHANGE
from algoscope.training.objectives.hints import HINTS
from algoscope.training.objectives.outputs import OUTPUTS
from algoscope.training.objectives.weight import Weight, parse_weight

__all__ = [
    "OBJECTIVES",
    "Attempt",
    "Lecture",
    "Objective",
    "Target",
    "Weight",
    "Weighted",
    "parse_objectives",
]

OBJECTIVES = {each.name: each for each in (OUTPUTS, HINTS, ATTENTION, EXCHANGE)}
"""In the order in which their terms are added."""


class Weighted(NamedTuple):
    objective: Objective
    weight: Weight


def parse_objectives(texts: Sequence[str]) -> tuple[Weighted, ...]:
    """The objectives that are written NAME or NAME=WEIGHT (`weight`), in the order of the table;
    lists everything that is wrong."""
    weights: dict[str, Weight] = {}
    wrong = [] if texts else ["objective: got none, needed at least one"]
    for text in texts:
        name, equals, weight = text.partition("=")
        if name not in OBJECTIVES:
            wrong.append(unknown_name("objective", name, OBJECTIVES))
            continue
        if name in weights:
            wrong.append(f"objective: got {name} twice, needed each of them once")
        try:
            weights[name] = parse_weight(weight) if equals else Weight()
        except ConfigError as error:
            wrong.append(f"objective {name}: {error}")
    if wrong:
        raise ConfigError("\n".join(wrong))
    return tuple(
        Weighted(OBJECTIVES[name], weights[name]) for name in OBJECTIVES if name in weights
    )
