"""Which algorithm does a language model run on a domain's problems (`llm.domains`), if any?

The words are those of navigation (`llm.verdict`), and so are the numbers that they ask for:

| word           | if                                                                             |
|----------------|--------------------------------------------------------------------------------|
| shortcut       | answers are a heuristic's in every case, where it is wrong, and where it does   |
|                | not say what it says most often                                                |
| fails          | answers are not surely more than half right in every case                       |
| runs X         | no problem was found that is answered wrong, and X is *shown*                   |
| runs X up to   | the same in a region that a rule names                                          |
| approximates X | X is shown, there is no such region, and at most 10 % of answers are wrong      |
| undecided      | anything else; a mechanism in brackets is a lead                                |

X is shown if exchanges of states do what it says and others do not, its variables carry the answer
at each step and can be read, and other tokens of the description do nothing. An algorithm whose
work is one step has no states between steps; it is shown by exchanges of sentences before that
step, and by nothing being left to do after it.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import progress, statistics
from algoscope.llm import scopes, trials, verdict
from algoscope.llm.candidates import IN_DESCRIPTION
from algoscope.llm.domains import Domain, Problem
from algoscope.llm.mechanism import FEWEST, Fit, Rival, compared, ranked
from algoscope.llm.scopes import Broken, Limits
from algoscope.llm.subjects import Subject
from algoscope.llm.trials import Others, Reader, Tried, Variable
from algoscope.statistics import Estimate
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

_PROBLEMS, _EACH, _TWINS = 40, 2, 12


class Case(NamedTuple):
    case: str
    accuracy: Estimate
    count: int


class Agreement(NamedTuple):
    heuristic: str
    agreement: Estimate
    lowest: float
    """In the case where answers are least often the heuristic's."""
    apart: Estimate
    """How often, of the items where the heuristic does not say what it says most: a constant answer
    is not a heuristic's."""
    said: int
    """How many these are."""
    where_wrong: Estimate
    """How often, of the items where the heuristic is wrong."""
    wrong: int
    """How many these are."""

    @property
    def followed(self) -> bool:
        rates = (self.agreement.value, self.lowest, self.apart.value, self.where_wrong.value)
        enough = min(self.wrong, self.said) >= FEWEST
        return enough and min(rates) >= verdict.FOLLOWS


class Answers(NamedTuple):
    cases: list[Case]
    agreements: list[Agreement]
    random_weights: Estimate
    """Accuracy of random weights of the same architecture."""

    @property
    def worst(self) -> Case:
        return min(self.cases, key=lambda case: case.accuracy.value)


class Causal(NamedTuple):
    tried: list[Tried]
    """Exchanges whose base and donor are answered right."""
    left_out: int
    fits: list[Fit]
    """The best first; empty where too few exchanges are left."""
    rivals: list[Rival]
    shared: int = 0
    """In how many problems the share of the best was measured."""
    others: Others | None = None
    variables: Sequence[Variable] = ()
    ready: Estimate | None = None
    """Of an algorithm of one step: how much of the answer is there after it."""


@dataclasses.dataclass(frozen=True, eq=False)
class Examination:
    subject: str
    task: str
    asks: str
    seed: int
    items: list[Problem]
    odds: np.ndarray
    """[item, option]"""
    options: tuple[str, ...]
    answers: Answers
    broken: Broken | None
    """None where answers are no better than half right."""
    causal: Causal | None
    verdict: Verdict
    seconds: float


def examine(
    subject: Subject,
    domain: Domain,
    items: int = 60,
    seed: int = 0,
    report: Callable[[str], None] = lambda line: None,
) -> Examination:
    """`seed` draws the problems, the random weights and all resampling."""
    started = time.perf_counter()
    drawn, reader = domain.items(items, seed), Reader(subject, domain)
    report("answers")
    odds = reader.answers(drawn)
    control = Reader(subject.with_random_weights(seed), domain).answers(drawn)
    found = _answers(domain, drawn, odds, control)
    broken = causal = None
    if found.worst.accuracy.low > 0.5 and not any(a.followed for a in found.agreements):
        report("problems to break it")
        with progress.job("problems to break it"):
            broken = scopes.break_it(reader, drawn, seed)
        report("exchanges of states")
        with progress.job("exchanges of states"):
            causal = _causal(reader, broken.around, seed)
    return Examination(
        subject.name,
        domain.name,
        domain.asks,
        seed,
        drawn,
        odds,
        domain.options,
        found,
        broken,
        causal,
        decide(found, broken, causal),
        round(time.perf_counter() - started, 2),
    )


def _answers(
    domain: Domain, items: Sequence[Problem], odds: np.ndarray, control: np.ndarray
) -> Answers:
    said, right = odds.argmax(1), np.array([item.right for item in items])
    case = np.array([item.case for item in items])
    cases = [
        Case(name, statistics.proportion((said == right)[case == name].tolist()), sum(case == name))
        for name in sorted({*case})
    ]
    agreements = []
    for heuristic in domain.heuristics:
        its = np.array([heuristic.answer(item.content) for item in items])
        same, wrong = said == its, its != right
        lowest = min(float(same[case == name].mean()) for name in {*case})
        other = its != np.bincount(its).argmax()
        agreements.append(
            Agreement(
                heuristic.name,
                statistics.proportion(same.tolist()),
                lowest,
                statistics.proportion(same[other].tolist()),
                int(other.sum()),
                statistics.proportion(same[wrong].tolist()),
                int(wrong.sum()),
            )
        )
    chance = statistics.proportion((control.argmax(1) == right).tolist())
    return Answers(cases, agreements, chance)


def _causal(reader: Reader, limits: Limits, seed: int) -> Causal:
    domain = reader.domain
    problems = scopes.within(domain, limits, _PROBLEMS, seed)
    tried = trials.run(reader, trials.bank(domain, problems, reader.subject.depth, _EACH, seed))
    kept = [one for one in tried if one.right]
    left_out = len(tried) - len(kept)
    if len(kept) < len(tried) / 2 or len({one.trial.base.pair for one in kept}) < FEWEST:
        return Causal(kept, left_out, [], [])
    plain = np.concatenate([one.plain for one in kept])
    scale = trials.levels(plain, np.array([one.trial.answers for one in kept]).ravel())
    found = trials.evidence(kept, scale)
    told = {m: np.array([one.trial.predicted[m] for one in kept]) for m in domain.machines}
    fits = ranked(found, told)
    shares = [trials.share(fit, found) for fit in fits]
    fits = [fit._replace(share=share) for fit, (share, _) in zip(fits, shares, strict=True)]
    best = fits[0]
    rng = np.random.default_rng([seed, 4])
    long = sorted(problems, key=lambda problem: -next(iter(problem.size.values())))[:_TWINS]
    twins = [(problem, domain.twin(problem, rng)) for problem in long]
    read_at = best.clock.index(1) if best.machine.once and 1 in best.clock else None
    plain_ones = list({one.trial.base.prompt: one.trial.base for one in kept}.values())
    return Causal(
        kept,
        left_out,
        fits,
        compared(best, fits, found.groups),
        shares[0][1],
        trials.others(reader, twins, scale),
        trials.variables(reader, best, kept),
        None if read_at is None else trials.ready_after(reader, plain_ones, read_at, scale),
    )


def decide(answers: Answers, broken: Broken | None, causal: Causal | None) -> Verdict:
    for a in answers.agreements:
        if a.followed:
            reasons = [
                Condition(f"answers are those of “{a.heuristic}”: {a.agreement}", True),
                Condition(f"also where it is wrong: {a.where_wrong}, n = {a.wrong}", True),
            ]
            return Verdict(SHORTCUT, a.heuristic, reasons)
    worst = answers.worst
    text = f"surely more than half right in every case, the worst being “{worst.case}”"
    met = worst.accuracy.low > 0.5
    evidence = [Condition(f"{text}: {worst.accuracy.beside(0.5)}", met)]
    if not met or broken is None or causal is None:
        return Verdict(FAILS, None, evidence)
    for heuristic, where_wrong, wrong in broken.as_heuristics:
        if wrong >= FEWEST and where_wrong.value >= verdict.FOLLOWS:
            text = (
                f"answers are those of “{heuristic}” where it is wrong: {where_wrong}, n = {wrong}"
            )
            return Verdict(SHORTCUT, heuristic, [*evidence, Condition(text, True)], broken.tried)
    evidence.append(_about(broken))
    if not causal.fits:
        tried = len(causal.tried) + causal.left_out
        text = f"of {tried} exchanges, enough are between prompts that are both answered right"
        return Verdict(UNDECIDED, None, [*evidence, Condition(text, False)])
    best = causal.fits[0]
    evidence += shown(best, causal)
    if not all(condition.met for condition in evidence):
        return Verdict(UNDECIDED, _lead(best, causal), evidence, broken.tried)
    if broken.region is None:
        rate = f"{broken.wrong} of {len(broken.inside)} answers up to {broken.home} are wrong"
        return Verdict(APPROXIMATES, best.name, evidence, rate)
    if broken.region == Limits():
        return Verdict(RUNS, best.name, evidence, f"no wrong answer to {broken.tried}")
    return Verdict(RUNS_UP_TO, best.name, evidence, str(broken.region))


def _about(broken: Broken) -> Condition:
    inside = len(broken.inside)
    if broken.region is None:
        rate = f"{broken.wrong.beside(verdict.WRONG)}; {inside} of {broken.tried}"
        text = f"at most 10 % of answers up to {broken.home} are wrong: {rate}"
        return Condition(text, broken.wrong.value <= verdict.WRONG)
    where = f"up to {broken.region}" if broken.region != Limits() else "anywhere"
    return Condition(f"no wrong answer {where}: {inside} problems there, of {broken.tried}", True)


def shown(fit: Fit, causal: Causal) -> list[Condition]:
    """What it takes to say that the mechanism is the machine's."""
    conditions = verdict.predicts(fit, len(causal.tried))
    if fit.machine.once:
        conditions += _in_one_step(fit, causal)
    else:
        conditions += verdict.stepwise(fit, 2)
    conditions += verdict.better(causal.rivals, "problems")
    if causal.others is not None:
        beside = causal.others.beside(fit)
        text = f"through other tokens of the description goes at most {beside.beside(verdict.ELSE)}"
        conditions.append(Condition(text, beside.high < verdict.ELSE))
        if not fit.machine.rests:
            told = causal.others.as_said(fit)
            text = f"and where it says that it does so, {told.beside(verdict.SHARE)}"
            conditions.append(Condition(text, told.low > verdict.SHARE))
    else:
        conditions.append(Condition("twins are answered right", False))
    worst = min(causal.variables, key=lambda variable: variable.read.low, default=None)
    if worst is None:
        conditions.append(Condition("its variables differ often enough to be read", False))
    else:
        text = f"its variables can be read off the question after layer {worst.layer}"
        met = worst.read.low > verdict.READ
        conditions.append(Condition(f"{text}: {worst.read.beside(verdict.READ)}", met))
    return conditions


def _in_one_step(fit: Fit, causal: Causal) -> list[Condition]:
    text = f"sentences were exchanged before its step in {causal.shared} problems"
    met = causal.shared >= FEWEST and fit.name != IN_DESCRIPTION
    conditions = [Condition(f"{text}, at least {FEWEST} needed", met)]
    if causal.ready is None:
        return [*conditions, Condition("its step is taken after some layer", False)]
    done = f"nothing is left to do after its step: {causal.ready.beside(verdict.AGREES)}"
    return [*conditions, Condition(done, causal.ready.low > verdict.AGREES)]


def _lead(best: Fit, causal: Causal) -> str | None:
    """A name for what is not shown to be an algorithm, where there is one."""
    if not best.machine.once or best.contested.low <= verdict.AGREES:
        return None
    if best.name == IN_DESCRIPTION:
        return IN_DESCRIPTION
    told = causal.shared >= FEWEST and best.share.low > verdict.SHARE
    return "everything is read in one step" if told else None
