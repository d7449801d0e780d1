"""The verdict: one word for what the evidence says.

    fails      the answers are wrong at both sizes
    shortcut   the answers are right, and something contradicts the algorithm
    runs       the answers are right, and everything agrees with the algorithm
    undecided  neither, or something that is needed was not measured

Twelve numbers are tested, each against two thresholds (`THRESHOLDS`): the algorithm's from the one
on, another mechanism's below the other. How they were fixed, and on what subjects the verdict was
tested, is in docs/explanation/verdict.md.
"""

import math
from typing import NamedTuple

from algoscope import markup, tasks
from algoscope.measures.evidence import Evidence, Subject, gather
from algoscope.measures.examination import examination
from algoscope.networks import Network
from algoscope.table import Table
from algoscope.tasks import Task

RUNS, SHORTCUT, FAILS, UNDECIDED = "runs", "shortcut", "fails", "undecided"
SOLVES = 0.9
"""Answers are right from this score on, at either size."""


class Threshold(NamedTuple):
    runs_from: float
    shortcut_below: float


THRESHOLDS = {
    "moves_small": Threshold(0.98, 0.95),
    "moves_large": Threshold(0.98, 0.95),
    "moves_deep": Threshold(0.98, 0.95),
    "moves_sparse": Threshold(0.98, 0.95),
    "reads_small": Threshold(0.95, 0.9),
    "reads_large": Threshold(0.95, 0.9),
    "reads_deep": Threshold(0.95, 0.9),
    "reads_sparse": Threshold(0.95, 0.9),
    "effect": Threshold(0.95, 0.9),
    "still": Threshold(0.95, 0.85),
    "flips": Threshold(0.9, 0.85),
    "interchange": Threshold(0.7, 0.0),
}
"""Interchange alone contradicts nothing: a network that keeps facts about its graph in the state is
thrown off by another graph's, though it runs the algorithm (docs/explanation/verdict.md)."""
PLACES = ("small", "large", "deep", "sparse")
NEEDED = ("moves_small", "moves_large", "reads_small", "reads_large")


class Judgement(NamedTuple):
    word: str
    reference: str
    """The program of the class whose attention is nearest."""
    reasons: list[str]
    """For `runs`, none; else which numbers speak against it, or are missing."""
    tested: dict[str, float]
    evidence: Evidence

    def _repr_html_(self) -> str:
        """For notebooks: the word, its reasons, and the numbers against their thresholds."""
        rows = [
            [name, _short(value), *(f"{limit:g}" for limit in THRESHOLDS[name])]
            for name, value in self.tested.items()
        ]
        accuracy = ", ".join(f"{n} {_short(value)}" for n, value in self.evidence.accuracy.items())
        what = f"{self.word} {self.reference}" if self.word == RUNS else self.word
        return (
            f"<p><strong>{markup.escape(what)}</strong> – accuracy {markup.escape(accuracy)}</p>"
            + "".join(f"<p>{markup.escape(reason)}</p>" for reason in self.reasons)
            + markup.table(Table("", ["tested", "value", "runs from", "shortcut below"], rows))
        )


def judge(subject: Subject, task: Task | str, seed: int = 0) -> Judgement:
    """Examines a network, or a function from batch to recording, and decides.

    A function is judged without interchange, for which one has to go into a network.
    """
    task = tasks.get(task)
    if isinstance(subject, Network) and subject.features != task.features:
        got = ", ".join(f.name for f in subject.features)
        needed = ", ".join(f.name for f in task.features)
        raise ValueError(
            f"network: got one with the features {got}; needed those of {task.name}: {needed}"
        )
    evidence = gather(subject, examination(task, seed))
    numbers = tested(evidence)
    word, reasons = decide(evidence.accuracy, numbers)
    return Judgement(word, evidence.nearest.reference, reasons, numbers, evidence)


def tested(evidence: Evidence) -> dict[str, float]:
    """The numbers that a verdict looks at, each from 0, against, to 1, for the algorithm; NaN where
    one does not apply."""
    none = float("nan")
    moves = {name: external.moves for name, external in evidence.external.items()}
    response, flips, exchange = evidence.response, evidence.flips, evidence.interchange
    return {
        **{f"moves_{place}": moves.get(place, none) for place in PLACES},
        **{f"reads_{place}": evidence.reads.get(place, none) for place in PLACES},
        "effect": response.effect if response else none,
        "still": response.still if response else none,
        "flips": flips.followed if flips else none,
        "interchange": exchange.state if exchange else none,
    }


def decide(accuracy: dict[str, float], numbers: dict[str, float]) -> tuple[str, list[str]]:
    """The word and its reasons, from the scores of the answers and the tested numbers."""
    best = max(accuracy["small"], accuracy["large"])
    if best < SOLVES:
        return FAILS, [f"accuracy {best:.3f}, below {SOLVES}"]
    measured = {name: value for name, value in numbers.items() if not math.isnan(value)}
    against = [
        f"{name} {value:.3f}, below {THRESHOLDS[name].shortcut_below:g}"
        for name, value in measured.items()
        if value < THRESHOLDS[name].shortcut_below
    ]
    if against:
        return SHORTCUT, against
    doubts = [f"{name} was not measured" for name in NEEDED if name not in measured]
    doubts += [
        f"{name} {value:.3f}, below {THRESHOLDS[name].runs_from:g}"
        for name, value in measured.items()
        if value < THRESHOLDS[name].runs_from
    ]
    return (UNDECIDED, doubts) if doubts else (RUNS, [])


def _short(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
