"""Exchanges of states between two prompts, and what candidate algorithms say must follow.

Base and donor are the same maze with the same question, but for edges of the path that are crossed
(`prompts.crossed`): a crossed edge leads to the mirror image of where it led. Whether the goal is
reached is the parity of the crossings. After some layer, the states of the question's tokens are
replaced by the donor's. A search from the source that has taken t steps by then has passed the
donor's first t edges and goes on along the base's others; one from the goal has passed the last t;
an answer that was copied is the donor's. So the answer can be one that neither prompt has.

Exchanges are chosen because machines disagree about them: of many that are drawn for a maze, those
that tell apart what the chosen ones do not tell apart yet.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope.llm.candidates import MACHINES
from algoscope.llm.capture import Patch, Request, read_all
from algoscope.llm.machines import Machine, exchanged, maze_of
from algoscope.llm.observe import answer_tokens, log_odds
from algoscope.llm.prompts import Item, crossed
from algoscope.llm.subjects import Subject

_DRAWN = 6
"""Exchanges that are drawn for each one that is chosen, at most."""


class Exchange(NamedTuple):
    base: Item
    donor: Item
    predicted: dict[Machine, np.ndarray]
    """What each machine answers if the question's part is the donor's after t steps, and r more
    follow: bool [t, r]."""

    @property
    def answers(self) -> tuple[bool, bool]:
        """The right ones, of base and donor."""
        return self.base.reachable, self.donor.reachable


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """Where in the tokens of a prompt description and question are."""

    ids: list[int]
    question: list[int]
    sentences: list[list[int]]
    """The tokens of each edge's sentence."""

    @property
    def description(self) -> list[int]:
        return list(range(self.question[0]))

    def aligned_with(self, other: "Layout") -> bool:
        return self.question == other.question and self.sentences == other.sentences


def layout(subject: Subject, item: Item) -> Layout:
    starts = [min(m.start for m in item.described if m.edge == n) for n in range(len(item.edges))]
    return layout_of(subject, item.prompt, starts, item.asks)


def layout_of(subject: Subject, prompt: str, starts: Sequence[int], asks: int) -> Layout:
    """Of a prompt whose sentences begin with these characters, and its question with `asks`."""
    encoded = subject.encode(prompt)
    ends = [*starts[1:], asks]
    first = encoded.tokens(asks, asks + 1, "the question")[0]
    return Layout(
        encoded.ids,
        list(range(first, len(encoded.ids))),
        [
            encoded.tokens(start, end - 1, "a sentence")
            for start, end in zip(starts, ends, strict=True)
        ],
    )


def path_edges(item: Item) -> list[int]:
    """The numbers of the sentences of the way from source to goal."""
    numbers = {edge: number for number, edge in enumerate(item.edges)}
    return [numbers[edge] for edge in itertools.pairwise(item.path())]


def bank(
    items: Sequence[Item],
    steps: int,
    each: int = 3,
    machines: Sequence[Machine] = MACHINES,
    seed: int = 0,
) -> list[Exchange]:
    """So many exchanges for each maze whose goal is at least two steps away; `steps` is how many
    steps a machine may have taken when states are exchanged."""
    rng = np.random.default_rng(seed)
    drawn = (
        [_draw(item, steps, machines, rng) for _ in range(_DRAWN)]
        for item in items
        if item.mirror and item.reachable and item.depth >= 2
    )
    return telling(drawn, each, machines)


def telling(
    drawn: Iterable[list[Any]], each: int, machines: Sequence[Machine], new: float = 1.0
) -> list[Any]:
    """So many of those that were drawn for each problem: they tell apart what the others that were
    chosen do not tell apart yet. They have `answers`, of base and donor, and `predicted`; `new` is
    what an answer counts that neither has."""
    weights = np.append(np.ones(len(machines) + 2), new)[:, None, None]
    told_apart: np.ndarray | float = 0.0
    chosen: list[Any] = []
    for left in drawn:
        for _ in range(each):
            gains = [weights * _differences(e, machines) for e in left]
            best = max(range(len(left)), key=lambda k: float((gains[k] / (1 + told_apart)).sum()))
            told_apart += gains[best]
            chosen.append(left.pop(best))
    return chosen


def _draw(item: Item, steps: int, machines: Sequence[Machine], rng) -> Exchange:
    path = path_edges(item)
    base, donor = (crossed(item, [n for n in path if rng.random() < 0.5]) for _ in range(2))
    own, given = maze_of(base), maze_of(donor)
    return Exchange(base, donor, {m: exchanged(m, own, given, steps) for m in machines})


def _differences(exchange: Any, machines: Sequence[Machine]) -> np.ndarray:
    """Where each two machines differ, whoever answers as base or donor among them, by step; and
    where a machine predicts an answer that neither has: [machine + 3, machine + 2, step]."""
    told = np.array([exchange.predicted[m][:, -1] for m in machines])
    plain = np.array(exchange.answers)[:, None].repeat(told.shape[1], 1)
    rows = np.concatenate([told, plain])
    new = (rows >= 0) & (rows != plain[0]) & (rows != plain[1])
    return np.concatenate([rows[:, None] != rows[None], new[None]]).astype(float)


class Outcome(NamedTuple):
    """What came of an exchange."""

    exchange: Exchange
    plain: np.ndarray
    """log P(Yes) - log P(No) of base and donor: [2]."""
    patched: np.ndarray
    """With the question's states of the donor after so many layers: [layer + 1]."""

    @property
    def right(self) -> bool:
        """Whether base and donor are answered right."""
        return bool(((self.plain > 0) == np.array(self.exchange.answers)).all())


def run(subject: Subject, exchanges: Sequence[Exchange]) -> list[Outcome]:
    """Exchanges whose prompts have their words at other tokens are left out."""
    kept = []
    for exchange in exchanges:
        base, donor = (layout(subject, item) for item in (exchange.base, exchange.donor))
        if base.aligned_with(donor):
            kept.append((exchange, base, donor))
    plain = read(
        subject,
        [r for _, b, d in kept for r in (Request(b.ids), Request(d.ids, positions=d.question))],
    )
    patched = read(
        subject,
        [
            Request(base.ids, changes=[Patch(layer, base.question, states)])
            for (_, base, _), donated in zip(kept, plain[1::2], strict=True)
            for layer, states in enumerate(donated.states)
        ],
    )
    odds = np.array([answered.odds for answered in patched]).reshape(len(kept), -1)
    both = np.array([answered.odds for answered in plain]).reshape(len(kept), 2)
    return [Outcome(e, p, o) for (e, _, _), p, o in zip(kept, both, odds, strict=True)]


class Answered(NamedTuple):
    odds: float
    """log P(Yes) - log P(No)."""
    states: np.ndarray
    """[layer + 1, position, width]"""


def read(subject: Subject, requests: Sequence[Request]) -> list[Answered]:
    yes, no = answer_tokens(subject)
    readings = read_all(subject.model, subject.anatomy, requests)
    return [Answered(log_odds(r.logits, yes, no), r.states) for r in readings]


class Scale(NamedTuple):
    """From log-odds to how far an answer is from No (0) to Yes (1)."""

    no: float
    yes: float

    def __call__(self, odds: np.ndarray) -> np.ndarray:
        return np.clip((odds - self.no) / (self.yes - self.no), 0, 1)


def scale(outcomes: Sequence[Outcome]) -> Scale:
    """By the medians of plain prompts of either truth value."""
    odds = np.array([o.plain for o in outcomes])
    right = np.array([o.exchange.answers for o in outcomes])
    return Scale(float(np.median(odds[~right])), float(np.median(odds[right])))
