"""The numbers that a verdict rests on: what each is, and from where on it speaks for the algorithm.

Verdicts, tables, pages, figures and notebooks take names, sentences and thresholds from here. How
the thresholds were fixed, and on what subjects they were tested, is in docs/explanation/verdict.md.
"""

import math
from typing import NamedTuple

from algoscope.measures.examination import LARGE, SMALL
from algoscope.statistics import beside

SOLVES = 0.9
"""Answers are right from this score on, at either size."""
RARE = 0.1
"""Up to this share of the families' problems disagreements are rare: the exact programs of the
tuning half, as plain float32 networks, differ on up to .095, where something contradicted the
wrong ones they differed on .12 and more."""
NEAR = 0.01
"""A number that is nearer to a threshold than this could lie beyond it on other problems, or after
a training that ended in other last bits."""
PLACES = {
    "small": f"{SMALL} nodes",
    "large": f"{LARGE} nodes",
    "deep": "deep graphs",
    "sparse": "sparse graphs",
}
"""The problems of an examination, by the name that results go by."""
FOR, DOUBT, AGAINST = "for", "doubt", "against"


class Criterion(NamedTuple):
    """A number from 0, another mechanism, to 1, the algorithm."""

    key: str
    meaning: str
    runs_from: float
    shortcut_below: float
    needed: bool = False
    """Whether there is no `runs` without it; others may not apply to a task or a subject."""

    @property
    def is_mechanism(self) -> bool:
        """Whether it looks at how an answer comes about, and not at the answer or the trace."""
        return self.key.startswith(("reads", "effect", "still"))

    @property
    def label(self) -> str:
        return self.key.replace("_", " ")

    @property
    def limits(self) -> list[str]:
        """`runs_from` and `shortcut_below`, for a table."""
        return [f"{self.runs_from:g}", f"{self.shortcut_below:g}"]

    def text(self, value: float) -> str:
        """The value for a table, on its side of the limits; a dash for what does not apply."""
        return short(value, self.runs_from, self.shortcut_below)

    def says(self, value: float) -> str:
        """FOR the algorithm, AGAINST it, or DOUBT."""
        if value < self.shortcut_below:
            return AGAINST
        return FOR if value >= self.runs_from else DOUBT


_MOVES = "of the trace entries that the algorithm or the subject changes in a step, the share right"
_READS = (
    "of the decisive rows of attention, the share in which some head reads most what a reference "
    "reads; 0 is any neighbour, 1 the best reference"
)
_NEEDED = ("small", "large")
CRITERIA = {
    criterion.key: criterion
    for criterion in (
        *(
            Criterion(f"moves_{place}", f"{_MOVES}: {problems}", 0.98, 0.95, place in _NEEDED)
            for place, problems in PLACES.items()
        ),
        *(
            # Exact programs may read what no reference reads: that contradicts nothing.
            Criterion(f"reads_{place}", f"{_READS}: {problems}", 0.95, 0.0, place in _NEEDED)
            for place, problems in PLACES.items()
        ),
        Criterion(
            "effect",
            "of the predictions that change when an edge or key goes that the algorithm uses, the "
            "share that becomes the algorithm's",
            0.95,
            0.9,
        ),
        Criterion(
            "still", "share of problems whose predictions survive an unused change", 0.95, 0.85
        ),
        Criterion(
            "flips",
            "share of pairs of problems on either side of a change of the answer in which the "
            "subject follows both",
            0.9,
            # Comparing coarsely is no other mechanism: `falsify` says how coarsely.
            0.0,
        ),
        Criterion(
            "agreement",
            "share of the problems that the falsifier tried on which trace and answer are the "
            "algorithm's",
            1.0,
            0.0,
            needed=True,
        ),
    )
}
"""The numbers that a verdict rests on, by key."""


def short(value: float, *limits: float) -> str:
    """A number for a table, on its side of the limits; a dash for what does not apply."""
    return "–" if math.isnan(value) else beside(value, *limits)
