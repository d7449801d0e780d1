"""The causal examination of a language model: where its answers are right, which machine predicts
what exchanges of states do there, through which tokens that goes, and where the variables are."""

import dataclasses
from collections.abc import Sequence

from algoscope.llm import exchange, questions
from algoscope.llm.candidates import MACHINES
from algoscope.llm.exchange import Outcome
from algoscope.llm.flow import Flow, flow
from algoscope.llm.mechanism import Fit, Rival, fits, rivals
from algoscope.llm.places import Knowledge, knowledge
from algoscope.llm.prompts import Item
from algoscope.llm.questions import Examined
from algoscope.llm.subjects import Subject
from algoscope.llm.variables import Variable, variables

_DEEPEST, _MAZES, _EACH, _FLOW_MAZES, _PLACES_MAZES = 5, 36, 3, 6, 4


@dataclasses.dataclass(frozen=True, eq=False)
class Causal:
    examined: Examined
    outcomes: list[Outcome]
    """Exchanges whose base and donor are answered right."""
    left_out: int
    """Exchanges of which one is not."""
    fits: list[Fit]
    """The algorithms, the best first; empty where too few exchanges are left."""
    rivals: list[Rival]
    """Of the best, the closest first."""
    flow: Flow | None = None
    variables: list[Variable] = dataclasses.field(default_factory=list)
    knowledge: Knowledge | None = None


def examine(subject: Subject, items: Sequence[Item], seed: int = 0) -> Causal:
    examined = questions.examine(subject, items, seed)
    mazes = questions.paths(items, examined.around, deepest=_DEEPEST, count=_MAZES, seed=seed)
    steps = min(subject.depth, max((item.nodes for item in mazes), default=0))
    tried = exchange.run(subject, exchange.bank(mazes, steps, _EACH, MACHINES, seed))
    outcomes = [o for o in tried if o.right]
    if len(outcomes) < len(tried) / 2 or len({o.exchange.base.pair for o in outcomes}) < 8:
        return Causal(examined, outcomes, len(tried) - len(outcomes), [], [])
    scale = exchange.scale(outcomes)
    ranked = fits(outcomes, scale)
    best = ranked[0]
    deep = sorted(mazes, key=lambda item: -item.depth)[:_FLOW_MAZES]
    return Causal(
        examined,
        outcomes,
        len(tried) - len(outcomes),
        ranked,
        rivals(best, ranked, outcomes),
        flow(subject, deep, scale),
        variables(subject, best, outcomes, scale),
        knowledge(subject, deep[:_PLACES_MAZES], scale),
    )
