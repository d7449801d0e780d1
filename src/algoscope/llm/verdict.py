"""The verdict, in the words that all subjects get, and why.

| word          | if                                                                              |
|---------------|---------------------------------------------------------------------------------|
| shortcut      | answers are a heuristic's: 90 % of its Yes and of its No, and where it is wrong, |
|               | too; or those of a search that ignores arrows, where that is wrong               |
| fails         | answers are not surely better than chance for both truth values                 |
| runs X        | no question was found that is answered wrong, and X is *shown* (below)           |
| runs X up to  | the same in a region that a rule names; outside, answers are wrong, but not      |
|               | because arrows are ignored there                                                 |
| approximates X| X is shown, there is no such region, and of questions like the items at most     |
|               | 10 % are answered wrong, of no kind and of no family of mazes surely more than   |
|               | 1/4: wrong answers to some kind of question are another mechanism's              |
| undecided     | anything else; a mechanism in brackets is a lead, not shown                      |

X is shown if, on mazes that its clock was not fitted on, it predicts what exchanges of states
between prompts do: at each of its steps surely more than half of the answer goes through its
variables, over all steps surely more than 3/4; where others predict something else, exchanges do
what it says in surely more than 9 of 10 cases, and it is surely better than every single one; what
it has visited can be read off the token that carries it; and surely less than 1/4 goes through
tokens of the description where it keeps nothing. Attention that follows X's order is a lead and no
condition.

Every condition that was looked at is in the evidence, met or not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.behaviour import Behaviour
from algoscope.llm.candidates import IN_DESCRIPTION, MACHINES
from algoscope.llm.causal import Causal
from algoscope.llm.mechanism import FEWEST, Fit, Rival
from algoscope.llm.order import BY_HEADS, Match
from algoscope.llm.questions import Examined, Scope
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

SIGNIFICANT = 0.05
FOLLOWS = 0.9
STEP, SHARE, AGREES, ELSE, READ, WRONG = 0.5, 0.75, 0.9, 0.25, 0.5, 0.1


class Standing(NamedTuple):
    """A hypothesis on one channel, against its nulls and its rivals."""

    match: Match
    corrected_p: float
    control: statistics.Estimate
    """The score of random weights of the same architecture."""
    above_control: statistics.Estimate
    rival: str
    """The other algorithm that comes closest on this channel."""
    above_rival: statistics.Estimate

    @property
    def conditions(self) -> list[Condition]:
        m, p = self.match, self.corrected_p
        written = statistics.beside(p, SIGNIFICANT, digits=2, form="g")
        follows = f"layers follow its steps on held-out mazes ({m.hypothesis}, {m.channel})"
        return [
            Condition(f"{follows}: {m.score.beside(0)}", m.score.low > 0),
            Condition(f"corrected p = {written}", p < SIGNIFICANT),
            Condition(
                f"above random weights by {self.above_control.beside(0)}",
                self.above_control.low > 0,
            ),
            Condition(
                f"above {self.rival} by {self.above_rival.beside(0)}", self.above_rival.low > 0
            ),
            Condition(f"{m.matched} of {m.steps} steps found", m.matched > max(1, m.steps // 2)),
        ]

    @property
    def holds(self) -> bool:
        return all(condition.met for condition in self.conditions)


def standings(matches: Sequence[Match], controls: Sequence[Match]) -> list[Standing]:
    """All hypotheses on all channels, the best score first; p corrected for all of them.

    The controls are matches on the first mazes, as many as there are.
    """
    corrected = statistics.holm([m.p for m in matches])
    control_matches = {(m.hypothesis, m.channel): m for m in controls}
    ranked = []
    for match, p in zip(matches, corrected, strict=True):
        control = control_matches[match.hypothesis, match.channel]
        rivals = [
            (statistics.bootstrap(match.by_maze - np.nan_to_num(m.by_maze)), m.hypothesis)
            for m in matches
            if m.channel == match.channel and m.hypothesis != match.hypothesis
        ]
        above, rival = min(rivals, key=lambda r: r[0].low)
        common = len(control.by_maze)
        difference = statistics.bootstrap(match.by_maze[:common] - np.nan_to_num(control.by_maze))
        ranked.append(Standing(match, float(p), control.score, difference, rival, above))
    return sorted(ranked, key=lambda s: -np.nan_to_num(s.match.score.value, nan=-np.inf))


def leader(ranked: Sequence[Standing]) -> Standing:
    """The hypothesis to be tested causally: the best that holds, or else the best, of those that
    name heads."""
    testable = [s for s in ranked if s.match.channel in BY_HEADS]
    return next((s for s in testable if s.holds), testable[0])


def decide(behaviour: Behaviour, causal: Causal | None) -> Verdict:
    """`causal` is None if the examination was not made."""
    for a in behaviour.agreements:
        if (
            a.p < SIGNIFICANT
            and min(a.says_yes, a.says_no) >= FOLLOWS
            and a.against_truth.value >= FOLLOWS
        ):
            reasons = [
                Condition(f"answers are those of “{a.heuristic}”: {a.agreement}", True),
                Condition(f"also where it is wrong: {a.against_truth}, p = {a.p:.2g}", True),
            ]
            return Verdict(SHORTCUT, a.heuristic, reasons)
    worst = behaviour.worst
    above_chance = f"surely better than chance for both truth values: {worst.beside(0.5)}"
    evidence = [Condition(above_chance, behaviour.above_chance)]
    if not behaviour.above_chance:
        return Verdict(FAILS, None, evidence)
    if causal is None:
        return Verdict(UNDECIDED, None, [*evidence, Condition("causal tests were made", False)])
    evidence += about_answers(causal.examined)
    other = _another_problem(causal)
    if other is not None:
        return Verdict(SHORTCUT, other[0], [*evidence, other[1]], causal.examined.tried)
    if not causal.fits:
        tried = len(causal.outcomes) + causal.left_out
        text = f"of {tried} exchanges, enough are between prompts that are both answered right"
        return Verdict(UNDECIDED, None, [*evidence, Condition(text, False)])
    best = _algorithms(causal)[0]
    evidence += shown(best, causal)
    if not all(condition.met for condition in evidence):
        return Verdict(UNDECIDED, _lead(causal), evidence, causal.examined.tried)
    examined = causal.examined
    if examined.scope is None:
        rate = f"{examined.wrong} of {len(examined.inside)} answers up to {examined.home} are wrong"
        return Verdict(APPROXIMATES, best.name, evidence, rate)
    if examined.scope == Scope():
        return Verdict(RUNS, best.name, evidence, f"no wrong answer to {examined.tried}")
    return Verdict(RUNS_UP_TO, best.name, evidence, str(examined.scope))


def about_answers(examined: Examined) -> list[Condition]:
    if examined.scope is None:
        text = f"at most 10 % of answers up to {examined.home} are wrong"
        rate = f"{examined.wrong.beside(WRONG)}; {len(examined.inside)} of {examined.tried}"
        where, worst = examined.worst
        spread = f"of no kind, the worst being “{where}”, surely more than {worst.beside(ELSE)}"
        return [
            Condition(f"{text}: {rate}", examined.wrong.value <= WRONG),
            Condition(spread, worst.low <= ELSE),
        ]
    inside = len(examined.inside)
    where = f"up to {examined.scope}" if examined.scope != Scope() else "anywhere"
    text = f"no wrong answer {where}: {inside} questions there, of {examined.tried}"
    conditions = [Condition(text, True)]
    if examined.scope.apart:
        text = "arrows are followed one way: goals of the start's own part that cannot be reached"
        conditions.append(Condition(f"{text} get a Yes in {examined.against}", False))
    return conditions


def _another_problem(causal: Causal) -> tuple[str, Condition] | None:
    """A machine that is no algorithm for the question, and whose answers these are."""
    steps = max(q.item.nodes for q in causal.examined.questions)
    ranked = {fit.name: number for number, fit in enumerate(causal.fits)}
    others = [m for m in MACHINES if not m.algorithm]
    for machine in sorted(others, key=lambda m: ranked.get(m.name, 0)):
        same, count = causal.examined.follows(machine, steps)
        if count >= FEWEST and same.value >= FOLLOWS:
            text = f"answers are those of {machine.name} where that is wrong: {same}, n = {count}"
            return machine.name, Condition(text, True)
    return None


def _algorithms(causal: Causal) -> list[Fit]:
    return [fit for fit in causal.fits if fit.machine.algorithm]


def shown(fit: Fit, causal: Causal) -> list[Condition]:
    """What it takes to say that the mechanism is the machine's."""
    deepest = max(o.exchange.base.depth for o in causal.outcomes)
    conditions = predicts(fit, len(causal.outcomes))
    conditions += stepwise(fit, min(2, deepest - 1))
    conditions += better(causal.rivals)
    if causal.flow is not None:
        through, rests = causal.flow.peak("others"), fit.machine.rests
        text = f"through other tokens of the description goes {'at most' if rests else 'up to'}"
        met = through.high < ELSE if rests else through.low > ELSE
        conditions.append(Condition(f"{text} {through.beside(ELSE)}", met))
    if causal.variables:
        worst = min(causal.variables, key=lambda v: v.read.low)
        text = f"visited nodes can be read off {worst.token} after layer {worst.layer}, not images"
        conditions.append(Condition(f"{text}: {worst.read.beside(READ)}", worst.read.low > READ))
    return conditions


def predicts(fit: Fit, exchanges: int) -> list[Condition]:
    """Exchanges do what the machine says, and the answer goes through its variables."""
    return [
        Condition(
            f"exchanged states lead where {fit.name} says and others do not: "
            f"{fit.contested.beside(AGREES)}; {exchanges} exchanges after each layer",
            fit.contested.low > AGREES,
        ),
        Condition(
            f"share of the answer that goes through its variables: {fit.share.beside(SHARE)}",
            fit.share.low > SHARE,
        ),
    ]


def stepwise(fit: Fit, needed: int) -> list[Condition]:
    """So at each of its steps, of which so many have to be tried."""
    text = f"{len(fit.steps)} of its steps were tried, at least {needed} needed"
    met = len(fit.steps) >= needed and fit.name != IN_DESCRIPTION
    lowest = min(fit.steps, key=lambda step: step.share.low, default=None)
    if lowest is None:
        return [Condition(text, met)]
    at_each = f"at each step, the lowest being step {lowest.number}: {lowest.share.beside(STEP)}"
    return [Condition(text, met), Condition(at_each, lowest.share.low > STEP)]


def better(rivals: Sequence[Rival], things: str = "mazes") -> list[Condition]:
    """Than the algorithm that comes closest."""
    algorithms = [r for r in rivals if r.fit.machine.algorithm]
    return [
        Condition(
            f"better than {rival.fit.name} where they differ, in {rival.mazes} {things}: "
            f"{rival.above.beside(0)}",
            rival.mazes >= FEWEST and rival.above.low > 0,
        )
        for rival in algorithms[:1]
    ]


def _lead(causal: Causal) -> str | None:
    """A name for what is not shown to be an algorithm, where there is one."""
    best = _algorithms(causal)[0]
    ready = best.name == IN_DESCRIPTION and best.contested.low > AGREES
    return IN_DESCRIPTION if ready else None
