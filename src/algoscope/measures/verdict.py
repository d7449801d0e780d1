"""The verdict: one word for what the evidence says.

fails         the answers are wrong at both sizes
runs          nothing that was tried disagrees with the algorithm, and everything measured agrees
runs up to    the same within a region that a rule names; disagreements lie beyond it
approximates  rare disagreements that no rule names, and nothing measured contradicts the algorithm
shortcut      disagreements, and they are not rare, or something measured contradicts the algorithm
undecided     no disagreement, but something that is needed is not measured or does not agree
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from algoscope import falsify, markup, progress, tasks
from algoscope.falsify import Falsification, Subject
from algoscope.falsify.account import try_first
from algoscope.measures.evidence import Evidence, gather, observe, score_answers
from algoscope.measures.examination import Examination, examination
from algoscope.measures.explanation import explanation
from algoscope.measures.references import exact_programs
from algoscope.measures.thresholds import CRITERIA, NEAR, RARE, SOLVES, short
from algoscope.networks import Network
from algoscope.programs.compiler import Compiled
from algoscope.recording import Recording
from algoscope.statistics import beside
from algoscope.table import Table
from algoscope.tasks import Task, transforms
from algoscope.verdict import (
    APPROXIMATES,
    FAILS,
    RUNS,
    RUNS_UP_TO,
    SHORTCUT,
    UNDECIDED,
    Condition,
    Verdict,
)


class Judgement(NamedTuple):
    verdict: Verdict
    evidence: Evidence
    recordings: dict[str, Recording]
    """What it was made from: the subject on the small and the large problems; none of a subject
    that gives answers alone."""

    @property
    def numbers(self) -> dict[str, float]:
        """Accuracy and the values of `CRITERIA`, by label; NaN where one does not apply."""
        evidence = self.evidence
        accuracy = {f"accuracy {place}": value for place, value in evidence.accuracy.items()}
        return accuracy | {CRITERIA[key].label: value for key, value in evidence.tested.items()}

    @property
    def near(self) -> list[str]:
        """Which numbers are so near to a threshold that the word hangs on it, a sentence each."""
        return near_thresholds(self.evidence, self.verdict.word)

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and the numbers against their thresholds."""
        rows = [
            [c.label, c.text(self.evidence.tested[c.key]), *c.limits, c.meaning]
            for c in CRITERIA.values()
        ]
        accuracy = ", ".join(f"{n} {short(a, SOLVES)}" for n, a in self.evidence.accuracy.items())
        columns = ["number", "value", "runs from", "shortcut below", "what it is"]
        return (
            self.verdict._repr_html_()
            + "".join(markup.element("p", markup.escape(text)) for text in self.near)
            + markup.element("p", markup.escape(f"accuracy {accuracy}"))
            + markup.table(Table("", columns, rows))
        )


def judge(
    subject: Subject | Compiled,
    task: Task | str,
    seed: int = 0,
    *,
    problems: int = falsify.PROBLEMS,
    report: Callable[[str], None] = lambda text: None,
) -> Judgement:
    """Examines a network, or a function from batch to recording, tries to falsify it on about so
    many problems, and decides.

    A function is judged without interchange, for which one has to go into a network, and by what
    it records: attention, states and hints may be left out, but then it is not said to run the
    algorithm. One that gives the outputs alone by name can never be said to run it: answers do not
    show how they come about. A function is tried on two problems before
    any work is done. A compiled program is judged inside its certificate.
    """
    task = tasks.get(task)
    exact_programs(task)
    network = subject.network if isinstance(subject, Compiled) else subject
    if isinstance(network, Network):
        check_features(network, task)
    elif missing := try_first(network, task):
        report(
            f"shows no {', no '.join(missing)}: judged without, and cannot be said to run "
            f"{task.name}"
        )
    with progress.job("preparing the examination"):
        exam = examination(task, seed)
    return examine(subject, exam, problems=problems, seed=seed, report=report)


def check_features(network: Network, task: Task) -> None:
    forms = transforms.forms(task)
    if network.features not in forms:
        got = ", ".join(f.name for f in network.features)
        needed = ", or ".join(", ".join(f.name for f in features) for features in forms)
        raise ValueError(
            f"network: got one with the features {got}; needed those of {task.name}: {needed}"
        )
    if size := network.config.attention_bias:
        raise ValueError(
            f"network: got one for {size} nodes alone (attention_bias), needed one for any size, "
            "since an examination has two; falsify.falsify tries it at its own size"
        )


def examine(
    subject: Subject | Compiled,
    exam: Examination,
    *,
    problems: int = falsify.PROBLEMS,
    seed: int = 0,
    report: Callable[[str], None] = lambda text: None,
) -> Judgement:
    """The judgement on the problems of an examination, and on those of the falsifier."""
    certified = None
    if isinstance(subject, Compiled):
        subject, certified = subject.network, subject.certified
        exam = exam.within(certified)
    with progress.job("running the subject on the examination"):
        small, large = observe(subject, exam.small), observe(subject, exam.large)
    if isinstance(small, Recording) and isinstance(large, Recording):
        recordings = {"small": small, "large": large}
        with progress.job("measuring"):
            evidence = gather(subject, exam, small, large)
    elif isinstance(small, dict) and isinstance(large, dict):
        recordings, evidence = {}, score_answers(exam, small, large)
    else:
        raise ValueError("subject: got a recording and outputs alone, needed one of them always")
    tried = falsify.falsify(
        subject,
        exam.small.task,
        problems=problems,
        seed=seed,
        certified=certified,
        report=report,
    )
    return conclude(evidence, tried, recordings)


def conclude(
    evidence: Evidence, tried: Falsification, recordings: dict[str, Recording]
) -> Judgement:
    """The judgement on what was measured and what the falsifier found."""
    evidence = dataclasses.replace(evidence, falsification=tried)
    verdict = _decide_by(evidence, tried, evidence.accuracy, evidence.tested)
    return Judgement(verdict, evidence, recordings)


def near_thresholds(evidence: Evidence, word: str) -> list[str]:
    """The numbers within `NEAR` of a threshold beyond which the word would be another."""
    tried = evidence.falsification
    if tried is None:
        return []
    accuracy, tested = evidence.accuracy, evidence.tested
    score = max(accuracy["small"], accuracy["large"])
    moved = _beyond(score, SOLVES)
    both = accuracy | dict.fromkeys(("small", "large"), moved)
    others = [("accuracy", score, SOLVES, _decide_by(evidence, tried, both, tested).word)]
    for criterion in CRITERIA.values():
        value = tested[criterion.key]
        if criterion.key == "agreement":
            continue  # A disagreement was found or not.
        for limit in (criterion.runs_from, criterion.shortcut_below):
            changed = tested | {criterion.key: _beyond(value, limit)}
            changed_word = _decide_by(evidence, tried, accuracy, changed).word
            others.append((criterion.label, value, limit, changed_word))
    rate = tried.rate.value
    moved_rate = RARE if rate > RARE else math.nextafter(RARE, math.inf)
    changed_word = _decide_by(evidence, tried, accuracy, tested, moved_rate).word
    others.append(("share of disagreements", rate, RARE, changed_word))
    return [
        f"{label} {beside(value, limit)} is near {limit:g}, beyond which the word is {other}"
        for label, value, limit, other in others
        if abs(value - limit) < NEAR and other != word
    ]


def _beyond(value: float, limit: float) -> float:
    """The nearest number on the other side of the limit."""
    return math.nextafter(limit, -math.inf) if value >= limit else limit


def _decide_by(
    evidence: Evidence,
    tried: Falsification,
    accuracy: Mapping[str, float],
    tested: Mapping[str, float],
    rate: float | None = None,
) -> Verdict:
    reference = evidence.nearest.reference if evidence.internal else tried.task
    explained_by = explanation(evidence.followed)
    not_compared = _not_compared(evidence, tried)
    return decide(accuracy, tested, reference, tried, explained_by, not_compared, rate)


def _not_compared(evidence: Evidence, tried: Falsification) -> list[str]:
    """The hints that the subject left out of the trace that it shows."""
    compared = {hint for trace in evidence.external.values() for hint in trace.by_hint}
    hints = [feature.name for feature in transforms.hints_to_predict(tasks.get(tried.task))]
    return [name for name in hints if compared and name not in compared]


def decide(
    accuracy: Mapping[str, float],
    tested: Mapping[str, float],
    reference: str,
    falsification: Falsification,
    explained_by: str | None = None,
    not_compared: Sequence[str] = (),
    rate: float | None = None,
) -> Verdict:
    """From the scores of the answers, the values of `CRITERIA`, NaN where one does not apply, and
    what the falsifier found. The reference is named if the subject runs it or comes near, a wrong
    program if that explains the subject. Hints that were not compared with the algorithm's may be
    wrong: without them there is no `runs`. The rate of disagreements is the falsifier's unless
    another is given."""
    answers = _condition("accuracy", "accuracy", max(accuracy["small"], accuracy["large"]), SOLVES)
    if not answers.met:
        return Verdict(FAILS, explained_by, [answers])
    measured = [c for c in CRITERIA.values() if not math.isnan(tested[c.key])]
    missing = [
        Condition(f"{c.label} was not measured", False, c.key)
        for c in CRITERIA.values()
        if c.needed and c not in measured
    ]
    missing += [Condition(f"the hint {name} was not recorded", False) for name in not_compared]
    if falsification.certified and falsification.left_out > falsification.problems:
        missing.append(Condition("more problems lie beyond the certificate than within it", False))
    tests = [_condition(c.key, c.label, tested[c.key], c.runs_from) for c in measured]
    conditions = [answers, *missing, *tests]
    if not falsification.wrong:
        agrees = not missing and all(test.met for test in tests)
        word, which = (RUNS, reference) if agrees else (UNDECIDED, None)
        return Verdict(word, which, conditions, str(falsification))
    # Where a region has no disagreement, moves and flips fall short only outside it.
    mechanism = [test.met for test in tests if CRITERIA[test.measure].is_mechanism]
    if falsification.region and not missing and all(mechanism):
        return Verdict(RUNS_UP_TO, reference, conditions, str(falsification.region))
    against = [_condition(c.key, c.label, tested[c.key], c.shortcut_below) for c in measured]
    against.append(rare(falsification.rate.value if rate is None else rate))
    if not all(test.met for test in against):
        return Verdict(SHORTCUT, explained_by, [answers, *against], str(falsification))
    return Verdict(APPROXIMATES, reference, conditions, str(falsification))


def rare(rate: float) -> Condition:
    """Whether disagreements on this share of the families' problems are rare enough for a subject
    that approximates."""
    met = not rate > RARE
    text = f"disagreements on {beside(rate, RARE)} of the families' problems"
    return Condition(f"{text}, {'at most' if met else 'above'} {RARE:g}", met)


def _condition(measure: str, label: str, value: float, least: float) -> Condition:
    met = value >= least
    text = f"{label} {beside(value, least)}, {'at least' if met else 'below'} {least:g}"
    return Condition(text, met, measure)
