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


class _Change(NamedTuple):
    maze: int
    place: int
    base: Layout
    donor: Layout
    tokens: dict[str, list[int]]
    to_yes: bool


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
    changes = [c for item in items for c in _changes(subject, item)]
    plain = read(
        subject, [Request(c.donor.ids, positions=range(len(c.donor.ids))) for c in changes]
    )
    right = [(given.odds > 0) == c.to_yes for given, c in zip(plain, changes, strict=True)]
    # Changes come in pairs, each the other's base.
    kept = [k for k in range(len(changes)) if right[k] and right[k ^ 1]]
    requests = [
        Request(changes[k].base.ids, changes=[Patch(layer, tokens, states[tokens])])
        for k in kept
        for tokens in changes[k].tokens.values()
        for layer, states in enumerate(plain[k].states)
    ]
    yes = scale(np.array([answered.odds for answered in read(subject, requests)]))
    yes = yes.reshape(len(kept), len(GROUPS), -1)
    to_yes = np.array([changes[k].to_yes for k in kept], bool)
    effects = np.where(to_yes[:, None, None], yes, 1 - yes)
    return Flow(
        np.array([changes[k].place for k in kept], int),
        np.array([changes[k].maze for k in kept], int),
        to_yes,
        {group: effects[:, number] for number, group in enumerate(GROUPS)},
    )


def _changes(subject: Subject, item: Item) -> Iterator[_Change]:
    own = layout(subject, item)
    for place, edge in enumerate(path_edges(item), 1):
        other = crossed(item, [edge])
        its = layout(subject, other)
        if own.aligned_with(its):
            pairs = enumerate(zip(item.edges, other.edges, strict=True))
            changed = {token for n, (a, b) in pairs if a != b for token in own.sentences[n]}
            tokens = {group: choose(own, changed) for group, choose in GROUPS.items()}
            yield _Change(item.pair, place, own, its, tokens, to_yes=False)
            yield _Change(item.pair, place, its, own, tokens, to_yes=True)
