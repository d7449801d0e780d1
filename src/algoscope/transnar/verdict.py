"""The verdict on a hybrid: does it answer with what its reasoner computed?

Scores are mean CLRS scores over tasks, at sizes that no tower was trained on unless said otherwise.
A difference is *sure* if the lowest seed is above the rival's highest by more than the 95 %
interval over problems. What is *kept* of a score is on the scale on which one answer for all
problems has 0 and the hybrid 1.

| word              | if                                                                          |
|-------------------|-----------------------------------------------------------------------------|
| not judged        | the hybrid has not learnt: below 0.9 at sizes that it was trained on        |
| fails             | it is not surely above one answer for all problems                          |
| shortcut          | 0.9 is kept with gates shut (the text alone), with another problem's states |
|                   | (node numbers alone), or with an untrained reasoner                         |
| runs the reasoner | it is surely above the base Transformer and above the hybrid with an        |
|                   | untrained reasoner, and has 0.9 of the score of the reasoner alone; nothing |
|                   | is kept with gates shut or another problem's states; its tokens read the    |
|                   | node that they answer for, and the pair of it and its answer, more than     |
|                   | uniform attention does                                                      |
| undecided         | anything else, or something was not measured                                |
"""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from algoscope.measures.thresholds import SOLVES
from algoscope.statistics import Estimate, apart, beside
from algoscope.transnar.mechanism import GATES_SHUT, OTHER_STATES, Reads
from algoscope.transnar.scores import Scores, mean_clrs, sizes_text
from algoscope.verdict import FAILS, NOT_JUDGED, RUNS, SHORTCUT, UNDECIDED, Condition, Verdict

_MOST = 0.9
"""A hybrid that keeps so much of its score without its reasoner does not need it."""
_Z = 1.96


class Evidence(NamedTuple):
    """Scores of towers and rivals, one for each seed, none where something was not measured."""

    hybrid: Sequence[Scores]
    base: Sequence[Scores]
    untrained: Sequence[Scores]
    """The hybrid with an untrained reasoner."""
    reasoner: Sequence[Scores]
    """The reasoner alone."""
    one_answer: Sequence[Scores]
    """One answer for all problems."""
    gates_shut: Sequence[Scores]
    """The first hybrid with its gates shut."""
    other_states: Sequence[Scores]
    """The first hybrid with another problem's states."""
    reads: Reads | None
    trained_sizes: Sequence[int]
    """Sizes of the test that the hybrid was trained on."""
    unseen_sizes: Sequence[int]


class Kept(NamedTuple):
    """What is left of the hybrid's score when it is deprived of its reasoner."""

    shortcut: str
    """What the hybrid relies on, if most of the score is left."""
    change: str
    share: float
    """NaN if it was not measured."""

    @property
    def condition(self) -> Condition:
        """That nothing is left, as `runs` needs."""
        if math.isnan(self.share):
            return _not_measured(f"the score with {self.change}")
        share = beside(self.share, 0, digits=2)
        text = f"with {self.change} nothing is kept above one answer: {share}"
        return Condition(text, self.share <= 0)


def decide(evidence: Evidence) -> Verdict:
    learnt = _learnt(evidence)
    if not learnt.met:
        return Verdict(NOT_JUDGED, None, [learnt])
    useful = _surely_above(evidence, evidence.one_answer, "one answer for all problems")
    if not useful.met:
        return Verdict(FAILS if evidence.one_answer else UNDECIDED, None, [learnt, useful])
    first, every = evidence.hybrid[:1], evidence.hybrid
    shut, other = evidence.gates_shut, evidence.other_states
    gates_shut = Kept("the text alone", GATES_SHUT, _share(evidence, shut, first))
    other_states = Kept("node numbers alone", OTHER_STATES, _share(evidence, other, first))
    control = "an untrained reasoner"
    untrained = Kept(control, control, _share(evidence, evidence.untrained, every))
    for kept in (gates_shut, other_states, untrained):
        if kept.share >= _MOST:
            share = beside(kept.share, _MOST, digits=2)
            text = f"with {kept.change} less than {_MOST:g} is kept: {share}"
            return Verdict(SHORTCUT, kept.shortcut, [learnt, useful, Condition(text, False)])
    conditions = [
        learnt,
        useful,
        _surely_above(evidence, evidence.base, "the base Transformer"),
        _surely_above(evidence, evidence.untrained, "the hybrid with an untrained reasoner"),
        _near_the_reasoner(evidence),
        gates_shut.condition,
        other_states.condition,
        *_reading(evidence.reads),
    ]
    if all(condition.met for condition in conditions):
        return Verdict(RUNS, "the reasoner", conditions)
    return Verdict(UNDECIDED, None, conditions)


def _not_measured(what: str) -> Condition:
    return Condition(f"{what} was not measured", False)


def _mean(scores: Sequence[Scores], sizes: Sequence[int]) -> float:
    """Over seeds, tasks and sizes; NaN of nothing."""
    if not scores or not sizes:
        return math.nan
    return statistics.fmean(mean_clrs(each, sizes) for each in scores)


def _learnt(evidence: Evidence) -> Condition:
    sizes = evidence.trained_sizes
    score = _mean(evidence.hybrid, sizes)
    if math.isnan(score):
        return _not_measured("the hybrid at sizes of its training")
    text = f"the hybrid has learnt: its score at {sizes_text(sizes)} is at least {SOLVES:g}"
    return Condition(f"{text} ({beside(score, SOLVES)})", score >= SOLVES)


def _surely_above(evidence: Evidence, rival: Sequence[Scores], name: str) -> Condition:
    if not rival:
        return _not_measured(name)
    sizes = evidence.unseen_sizes
    lowest = min(evidence.hybrid, key=lambda scores: mean_clrs(scores, sizes))
    highest = max(rival, key=lambda scores: mean_clrs(scores, sizes))
    difference = mean_clrs(lowest, sizes) - mean_clrs(highest, sizes)
    half = _Z * math.hypot(_error(lowest, sizes), _error(highest, sizes))
    above = Estimate(difference, difference - half, difference + half)
    return Condition(f"above {name} at {sizes_text(sizes)} by {above.beside(0)}", above.low > 0)


def _error(scores: Scores, sizes: Sequence[int]) -> float:
    """The standard error of `mean_clrs`, problems being independent."""
    errors = [by[size].clrs_error for by in scores.values() for size in sizes if size in by]
    return math.hypot(*errors) / len(errors)


def _share(evidence: Evidence, changed: Sequence[Scores], whole: Sequence[Scores]) -> float:
    """(changed - one answer) / (whole - one answer), of mean scores."""
    one_answer, left, before = (
        _mean(scores, evidence.unseen_sizes) for scores in (evidence.one_answer, changed, whole)
    )
    return (left - one_answer) / (before - one_answer)


def _near_the_reasoner(evidence: Evidence) -> Condition:
    if not evidence.reasoner:
        return _not_measured("the reasoner alone")
    sizes = evidence.unseen_sizes
    score, reasoner = _mean(evidence.hybrid, sizes), _mean(evidence.reasoner, sizes)
    text = f"at least {SOLVES:g} of the score of the reasoner alone at {sizes_text(sizes)}"
    return Condition(
        f"{text}: {beside(score, SOLVES * reasoner)} of {reasoner:.3f}", score >= SOLVES * reasoner
    )


def _reading(reads: Reads | None) -> list[Condition]:
    """Means over layers against uniform attention."""
    if reads is None or not reads.answer_edge:
        return [_not_measured("what tokens read")]
    shares = {
        "the node that they answer for": (reads.own, reads.uniform),
        "the pair of it and its answer": (reads.answer_edge, reads.uniform_answer_edge),
    }
    conditions = []
    for entry, (by_layer, uniform) in shares.items():
        mean = statistics.fmean(by_layer)
        text = f"tokens read {entry} more than uniform attention does"
        numbers = ", uniform ".join(apart(mean, uniform))
        conditions.append(Condition(f"{text}: {numbers}", mean > uniform))
    return conditions
