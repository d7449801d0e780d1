"""Through which tokens does a change of the maze reach the answer, and when?

One edge of the path is crossed in the donor, so that its answer is another. After each layer, the
states of some tokens are replaced by the donor's; the *effect* is how much of the way to the
donor's answer that goes. Whatever has to pass through these tokens later has an effect of 1 there,
what has passed already, or never does, 0.

| tokens    | are                                                                          |
|-----------|------------------------------------------------------------------------------|
| question  | those of the question and the answer                                         |
| others    | those of the description but for the two sentences in which words differ     |

A search reads sentences from the question, so *others* have no effect. If the description finds out
by itself who is connected, they have.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.capture import Patch, Request
from algoscope.llm.exchange import Layout, Scale, layout, path_edges, read
from algoscope.llm.prompts import Item, crossed
from algoscope.llm.subjects import Subject
from algoscope.statistics import Estimate

GROUPS: dict[str, Callable[[Layout, set[int]], list[int]]] = {
    "question": lambda layout, changed: layout.question,
    "others": lambda layout, changed: [t for t in layout.description if t not in changed],
}
"""(where the words are, the tokens of the sentences that differ) -> tokens."""


class Change(NamedTuple):
    """An edge of the path is crossed in one of two prompts, and not in the other."""

    maze: int
    place: int
    base: Layout
    donor: Layout
    crossed: list[int]
    """The numbers of the sentences that differ."""
    to_yes: bool
    item: Item
    """Whose edge is crossed in base or donor."""

    def tokens(self) -> dict[str, list[int]]:
        """Of each group."""
        changed = {token for n in self.crossed for token in self.base.sentences[n]}
        return {group: choose(self.base, changed) for group, choose in GROUPS.items()}


class Flow(NamedTuple):
    place: np.ndarray
    """Which edge of the path is crossed, from 1: [change]."""
    maze: np.ndarray
    to_yes: np.ndarray
    """Whether the donor's answer is Yes: sets that are joined keep what they had, so that a way can
    be brought in where it cannot be taken away."""
    effects: dict[str, np.ndarray]
    """[change, layer + 1] for each group of tokens."""

    def by_layer(self, group: str, to_yes: bool) -> list[Estimate]:
        """The mean over mazes after each layer."""
        effects, maze = self.effects[group][self.to_yes == to_yes], self.maze[self.to_yes == to_yes]
        means = np.array([effects[maze == number].mean(0) for number in np.unique(maze)])
        return [statistics.bootstrap(column) for column in means.T]

    def peak(self, group: str) -> Estimate:
        """At the layer, and to the answer, where it is largest."""
        every = [*self.by_layer(group, True), *self.by_layer(group, False)]
        return max(every, key=lambda estimate: estimate.value, default=Estimate(np.nan, 0, 1))

    def passed(self, group: str) -> dict[int, list[float]]:
        """Mean effect after each layer, by the edge's place on the path."""
        return {
            int(place): self.effects[group][self.place == place].mean(0).tolist()
            for place in np.unique(self.place)
        }


def flow(subject: Subject, items: Sequence[Item], scale: Scale) -> Flow:
    """Two changes for each edge of each item's path, from the item and to it; items whose goal can
    be reached. Changes of which either prompt is answered wrong are left out."""
    kept = right_changes(subject, items)
    effects = patched(subject, kept, [c.change.tokens() for c in kept], scale)
    return Flow(
        np.array([c.change.place for c in kept], int),
        np.array([c.change.maze for c in kept], int),
        np.array([c.change.to_yes for c in kept], bool),
        {group: effects[:, number] for number, group in enumerate(GROUPS)},
    )


class Donated(NamedTuple):
    """Two that follow each other are each the other's base."""

    change: Change
    odds: float
    """Of the donor."""
    states: np.ndarray
    """Of all tokens of the donor: [layer + 1, token, width]."""


def right_changes(subject: Subject, items: Sequence[Item]) -> list[Donated]:
    """Two changes for each edge of each item's path, of which both prompts are answered right."""
    changes = [c for item in items for c in _changes(subject, item)]
    plain = read(
        subject, [Request(c.donor.ids, positions=range(len(c.donor.ids))) for c in changes]
    )
    right = [(given.odds > 0) == c.to_yes for given, c in zip(plain, changes, strict=True)]
    # Changes come in pairs, each the other's base.
    kept = [k for k in range(len(changes)) if right[k] and right[k ^ 1]]
    return [Donated(changes[k], plain[k].odds, plain[k].states) for k in kept]


def patched(
    subject: Subject,
    kept: Sequence[Donated],
    tokens: Sequence[dict[str, list[int]]],
    scale: Scale,
) -> np.ndarray:
    """The effect of taking the states of each group of tokens from the donor after each layer:
    [change, group, layer + 1]."""
    groups = len(tokens[0]) if tokens else len(GROUPS)
    odds = np.zeros((len(kept), groups, subject.depth + 1))
    cells, requests = [], []
    for k, (one, places) in enumerate(zip(kept, tokens, strict=True)):
        base = kept[k ^ 1]
        odds[k] = base.odds
        for g, some in enumerate(places.values()):
            for layer, states in enumerate(one.states):
                # What is the same in both prompts changes nothing.
                if (states[some] != base.states[layer][some]).any():
                    cells.append((k, g, layer))
                    patch = Patch(layer, some, states[some])
                    requests.append(Request(one.change.base.ids, changes=[patch]))
    for cell, answered in zip(cells, read(subject, requests), strict=True):
        odds[cell] = answered.odds
    return towards_donor(kept, scale(odds))


def towards_donor(kept: Sequence[Donated], yes: np.ndarray) -> np.ndarray:
    """How far answers [change, ...] from No (0) to Yes (1) have gone to the donor's."""
    to_yes = np.array([one.change.to_yes for one in kept], bool)
    return np.where(to_yes.reshape(-1, *[1] * (yes.ndim - 1)), yes, 1 - yes)


def _changes(subject: Subject, item: Item) -> Iterator[Change]:
    own = layout(subject, item)
    for place, edge in enumerate(path_edges(item), 1):
        other = crossed(item, [edge])
        its = layout(subject, other)
        if own.aligned_with(its):
            pairs = enumerate(zip(item.edges, other.edges, strict=True))
            crossings = [number for number, (a, b) in pairs if a != b]
            yield Change(item.pair, place, own, its, crossings, False, item)
            yield Change(item.pair, place, its, own, crossings, True, item)
