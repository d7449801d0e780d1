"""The verdict: *runs X*, *shortcut (which)*, *fails* or *undecided*, and why.

| word      | if                                                                                  |
|-----------|-------------------------------------------------------------------------------------|
| shortcut  | answers are a heuristic's: 90 % of its Yes and of its No, and where it is wrong, too |
| fails     | answers are not surely better than chance for both truth values                     |
| runs X    | it solves the task, and the attention of heads follows X: held-out score above 0     |
|           | with corrected p < 0.05, above random weights and above every other algorithm, most  |
|           | steps found by themselves; and every causal test holds                               |
| undecided | anything else                                                                       |

Every condition that was looked at is in the evidence, met or not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.behaviour import Behaviour
from algoscope.llm.causal import Effect
from algoscope.llm.order import BY_HEADS, Match
from algoscope.verdict import Condition, Verdict

_SIGNIFICANT = 0.05
_FOLLOWS = 0.9


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
        written = statistics.beside(p, _SIGNIFICANT, digits=2, form="g")
        follows = f"layers follow its steps on held-out mazes ({m.hypothesis}, {m.channel})"
        return [
            Condition(f"{follows}: {m.score.beside(0)}", m.score.low > 0),
            Condition(f"corrected p = {written}", p < _SIGNIFICANT),
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


def decide(
    behaviour: Behaviour, ranked: Sequence[Standing], effects: Sequence[Effect] | None
) -> Verdict:
    """`effects` are the causal tests of the leader; None if they were not made."""
    for a in behaviour.agreements:
        if (
            a.p < _SIGNIFICANT
            and min(a.says_yes, a.says_no) >= _FOLLOWS
            and a.against_truth.value >= _FOLLOWS
        ):
            reasons = [
                Condition(f"answers are those of “{a.heuristic}”: {a.agreement}", True),
                Condition(f"also where it is wrong: {a.against_truth}, p = {a.p:.2g}", True),
            ]
            return Verdict("shortcut", a.heuristic, reasons)
    worst = behaviour.worst
    above_chance = f"surely better than chance for both truth values: {worst.beside(0.5)}"
    evidence = [Condition(above_chance, behaviour.above_chance)]
    if not behaviour.above_chance:
        return Verdict("fails", None, evidence)
    solved = f"at least 90 % right for both truth values: {worst.beside(0.9)}"
    best = leader(ranked)
    evidence += [Condition(solved, behaviour.solved), *best.conditions]
    if effects is None:
        evidence.append(Condition("causal tests were made", False))
    evidence += [
        Condition(f"{e.test}: {e.measure} {e.effect}, control {e.control}", e.holds)
        for e in effects or ()
    ]
    if all(condition.met for condition in evidence):
        return Verdict("runs", best.match.hypothesis, evidence)
    return Verdict("undecided", None, evidence)
