"""Behaviour: accuracy by depth and truth value, and agreement with heuristics."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.hypotheses import CANDIDATES
from algoscope.llm.observe import Observation


class Cell(NamedTuple):
    depth: int | None
    """None for all depths together."""
    reachable: bool
    accuracy: statistics.Estimate
    """Of the likelier of Yes and No."""
    count: int


class Agreement(NamedTuple):
    heuristic: str
    agreement: statistics.Estimate
    """How often the answers are the heuristic's."""
    says_yes: float
    """How often, of the items where the heuristic says Yes; chance-level answers have as many."""
    says_no: float
    against_truth: statistics.Estimate
    """How often, of the items where the heuristic is wrong."""
    p: float
    """That answers follow the heuristic where it is wrong, corrected for the number of them."""


class Behaviour(NamedTuple):
    cells: list[Cell]
    written: dict[str, int]
    """How often the likeliest token was "Yes", "No" or "neither"."""
    agreements: list[Agreement]

    @property
    def _by_truth(self) -> list[statistics.Estimate]:
        """Accuracy on reachable and on unreachable goals, all depths together."""
        return [cell.accuracy for cell in self.cells if cell.depth is None]

    @property
    def worst(self) -> statistics.Estimate:
        """Accuracy for the truth value with the lower one: a constant answerer has 0."""
        return min(self._by_truth, key=lambda accuracy: accuracy.value)

    @property
    def solved(self) -> bool:
        """At least 90 % right for either truth value, and surely more than 75 %."""
        return all(a.value >= 0.9 and a.low > 0.75 for a in self._by_truth)

    @property
    def above_chance(self) -> bool:
        """More than half right, surely, for either truth value."""
        return all(a.low > 0.5 for a in self._by_truth)


def behaviour(observations: Sequence[Observation]) -> Behaviour:
    if {o.item.reachable for o in observations} != {True, False}:
        raise ValueError("items: got one truth value only, needed reachable and unreachable goals")
    cells = []
    for depth in (None, *sorted({o.item.depth for o in observations})):
        for reachable in (True, False):
            right = [
                o.right
                for o in observations
                if o.item.reachable == reachable and depth in (None, o.item.depth)
            ]
            cells.append(Cell(depth, reachable, statistics.proportion(right), len(right)))
    written = {
        text: sum(o.written == text for o in observations) for text in ("Yes", "No", "neither")
    }
    answers = np.array([o.says_yes for o in observations])
    truth = np.array([o.item.reachable for o in observations])
    rows = []
    for heuristic in (c for c in CANDIDATES if not c.algorithm):
        predicted = np.array([heuristic.answer(o.item) for o in observations])
        same, wrong = answers == predicted, predicted != truth
        rows.append(
            Agreement(
                heuristic.name,
                statistics.proportion(same.tolist()),
                float(same[predicted].mean()) if predicted.any() else np.nan,
                float(same[~predicted].mean()) if (~predicted).any() else np.nan,
                statistics.proportion(same[wrong].tolist()),
                statistics.binomial_p(int(same[wrong].sum()), int(wrong.sum())),
            )
        )
    return Behaviour(cells, written, statistics.with_corrected_p(rows))
