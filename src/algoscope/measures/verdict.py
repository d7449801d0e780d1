"""The verdict: one word for what the evidence says.

fails      the answers are wrong at both sizes
shortcut   the answers are right, and something contradicts the algorithm
runs       the answers are right, and everything agrees with the algorithm
undecided  neither, or something that is needed was not measured
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from algoscope import markup, tasks
from algoscope.measures.evidence import Evidence, Subject, gather, record
from algoscope.measures.examination import Examination, examination
from algoscope.measures.thresholds import CRITERIA, SOLVES, short
from algoscope.networks import Network
from algoscope.recording import Recording
from algoscope.table import Table
from algoscope.tasks import Task
from algoscope.verdict import FAILS, RUNS, SHORTCUT, UNDECIDED, Condition, Verdict


class Judgement(NamedTuple):
    verdict: Verdict
    evidence: Evidence
    recordings: dict[str, Recording]
    """What it was made from: the subject on the small and the large problems."""

    @property
    def numbers(self) -> dict[str, float]:
        """Accuracy and the values of `CRITERIA`, by label; NaN where one does not apply."""
        evidence = self.evidence
        accuracy = {f"accuracy {place}": value for place, value in evidence.accuracy.items()}
        return accuracy | {CRITERIA[key].label: value for key, value in evidence.tested.items()}

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and the numbers against their thresholds."""
        rows = [
            [c.label, short(self.evidence.tested[c.key]), *c.limits, c.meaning]
            for c in CRITERIA.values()
        ]
        accuracy = ", ".join(f"{name} {short(a)}" for name, a in self.evidence.accuracy.items())
        columns = ["number", "value", "runs from", "shortcut below", "what it is"]
        return (
            self.verdict._repr_html_()
            + markup.element("p", markup.escape(f"accuracy {accuracy}"))
            + markup.table(Table("", columns, rows))
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
    return examine(subject, examination(task, seed))


def examine(subject: Subject, exam: Examination) -> Judgement:
    """The judgement on the problems of an examination."""
    small, large = record(subject, exam.small), record(subject, exam.large)
    evidence = gather(subject, exam, small, large)
    verdict = decide(evidence.accuracy, evidence.tested, evidence.nearest.reference)
    return Judgement(verdict, evidence, {"small": small, "large": large})


def decide(accuracy: Mapping[str, float], tested: Mapping[str, float], reference: str) -> Verdict:
    """From the scores of the answers and the values of `CRITERIA`, NaN where one does not apply;
    the reference is named if the subject runs it."""
    answers = _condition("accuracy", "accuracy", max(accuracy["small"], accuracy["large"]), SOLVES)
    if not answers.met:
        return Verdict(FAILS, None, [answers])
    unmeasured = [c for c in CRITERIA.values() if math.isnan(tested[c.key])]
    measured = [c for c in CRITERIA.values() if c not in unmeasured]
    tests = [_condition(c.key, c.label, tested[c.key], c.shortcut_below) for c in measured]
    if not all(test.met for test in tests):
        return Verdict(SHORTCUT, None, [answers, *tests])
    missing = [
        Condition(f"{c.label} was not measured", False, c.key) for c in unmeasured if c.needed
    ]
    tests = [_condition(c.key, c.label, tested[c.key], c.runs_from) for c in measured]
    runs = not missing and all(test.met for test in tests)
    word, which = (RUNS, reference) if runs else (UNDECIDED, None)
    return Verdict(word, which, [answers, *missing, *tests])


def _condition(measure: str, label: str, value: float, least: float) -> Condition:
    met = value >= least
    text = f"{label} {value:.3f}, {'at least' if met else 'below'} {least:g}"
    return Condition(text, met, measure)
