"""In which tokens a changed edge is known after each layer, and which of them inform which.

All tokens of description, question and answer are candidates. One edge of the path is crossed in
the donor (`flow`), so that its answer is another; *crossed* are the two sentences that differ.

| place                  | tokens                                                          |
|------------------------|-----------------------------------------------------------------|
| crossed, sender        | the sender's name in the crossed sentences                      |
| crossed, receiver      | the receiver's                                                  |
| mention as sender      | names of nodes as senders, in other sentences                   |
| mention as receiver    | as receivers                                                    |
| last mention           | each node's last mention in other sentences, whatever its role  |
| words between          | what else is in the description                                 |
| start, goal            | their names in the question                                     |
| question               | what else is in the question, but for the last token            |
| last token             | where the answer is given                                       |

*known* is the share of the way to the donor's answer that one goes if the states of a place alone
are the donor's after a layer. A *link* is path patching: the states of one place, the sender, are
the donor's after every layer, those of all others but the receiver are the prompt's own; what the
receiver's become is put into the prompt, after every layer, and alone. So nothing can have got from
one to the other but directly, and a link is who informs whom.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.capture import Patch, Request
from algoscope.llm.exchange import Scale, read
from algoscope.llm.flow import Donated, patched, right_changes, towards_donor
from algoscope.llm.prompts import Item
from algoscope.llm.subjects import Subject
from algoscope.statistics import Estimate

LEAST = 0.1
"""The share of the answer below which a place is not said to know, nor to inform."""
PLACES = (
    "crossed, sender",
    "crossed, receiver",
    "mention as sender",
    "mention as receiver",
    "last mention",
    "words between",
    "start",
    "goal",
    "question",
    "last token",
)


class Link(NamedTuple):
    sender: str
    receiver: str
    share: Estimate
    """Of the way to the donor's answer; mean over mazes."""

    @property
    def shown(self) -> bool:
        return self.share.low > LEAST


class Knowledge(NamedTuple):
    known: dict[str, list[Estimate]]
    """By place, after each layer, the embedding first; mean over mazes."""
    links: list[Link]
    """Between places that know at some time, the strongest first."""
    changes: int

    @property
    def shown(self) -> list[Link]:
        return [link for link in self.links if link.shown]


def tokens_of(subject: Subject, item: Item, crossed: Sequence[int]) -> dict[str, list[int]]:
    """The tokens of each place."""
    encoded = subject.encode(item.prompt)
    spans = [(m, encoded.tokens(m.start, m.end, item.names[m.node])) for m in item.mentions]
    first = encoded.tokens(item.asks, item.asks + 1, "the question")[0]
    found: dict[str, set[int]] = {place: set() for place in PLACES}
    last: dict[int, list[int]] = {}
    roles = {"from": "sender", "to": "receiver"}
    for mention, tokens in spans:
        if mention.edge < 0:
            found["start" if mention.role == "source" else "goal"].update(tokens)
        elif mention.edge in crossed:
            found[f"crossed, {roles[mention.role]}"].update(tokens)
        else:
            found[f"mention as {roles[mention.role]}"].update(tokens)
            last[mention.node] = tokens
    found["last mention"] = {token for tokens in last.values() for token in tokens}
    end = len(encoded.ids) - 1
    found["last token"] = {end}
    named = set().union(*found.values())
    found["words between"] = set(range(first)) - named
    found["question"] = set(range(first, end)) - named
    return {place: sorted(tokens) for place, tokens in found.items()}


def knowledge(subject: Subject, items: Sequence[Item], scale: Scale) -> Knowledge:
    """Items whose goal can be reached; changes of which either prompt is answered wrong are left
    out."""
    kept = right_changes(subject, items)
    if not kept:
        return Knowledge({}, [], 0)
    tokens = [tokens_of(subject, one.change.item, one.change.crossed) for one in kept]
    effects = patched(subject, kept, tokens, scale)
    mazes = np.array([one.change.maze for one in kept])
    known = {
        place: [statistics.bootstrap(_by_maze(column, mazes)) for column in effects[:, k].T]
        for k, place in enumerate(PLACES)
    }
    return Knowledge(known, _links(subject, kept, tokens, effects, scale), len(kept))


def _by_maze(values: np.ndarray, mazes: np.ndarray) -> np.ndarray:
    return np.array([values[mazes == maze].mean() for maze in np.unique(mazes)])


def _links(
    subject: Subject,
    kept: Sequence[Donated],
    tokens: Sequence[dict[str, list[int]]],
    effects: np.ndarray,
    scale: Scale,
) -> list[Link]:
    most = effects.mean(0).max(-1)
    knowing = [place for place, share in zip(PLACES, most, strict=True) if share > LEAST]
    pairs = [(a, b) for a in knowing for b in knowing if a != b]
    told = read(
        subject,
        [
            Request(
                one.change.base.ids,
                positions=(receiving := _without(places[b], places[a])),
                # Changes come in pairs, each the other's base.
                changes=_informed(one.states, kept[number ^ 1].states, places[a], receiving),
            )
            for a, b in pairs
            for number, (one, places) in enumerate(zip(kept, tokens, strict=True))
        ],
    )
    heard = iter(told)
    requests = [
        Request(
            one.change.base.ids,
            changes=_everywhere(_without(places[b], places[a]), next(heard).states),
        )
        for a, b in pairs
        for one, places in zip(kept, tokens, strict=True)
    ]
    odds = np.array([a.odds for a in read(subject, requests)]).reshape(len(pairs), len(kept))
    shares = towards_donor(kept, scale(odds).T).T
    mazes = np.array([one.change.maze for one in kept])
    links = [
        Link(a, b, statistics.bootstrap(_by_maze(row, mazes)))
        for (a, b), row in zip(pairs, shares, strict=True)
    ]
    return sorted(links, key=lambda link: -link.share.value)


def _without(some: Sequence[int], others: Sequence[int]) -> list[int]:
    """Tokens of both places would carry the sender's own states on."""
    return [token for token in some if token not in others]


def _informed(
    donor: np.ndarray, own: np.ndarray, sender: Sequence[int], receiver: Sequence[int]
) -> list[Patch]:
    """After every layer, the sender's states are the donor's, and those of all others but the
    receiver's are the prompt's own: states [layer + 1, token, width]."""
    states = own.copy()
    states[:, sender] = donor[:, sender]
    held = _without(range(states.shape[1]), receiver)
    return _everywhere(held, states[:, held])


def _everywhere(tokens: Sequence[int], states: np.ndarray) -> list[Patch]:
    """After every layer: states [layer + 1, token, width]."""
    return [Patch(layer, tokens, values) for layer, values in enumerate(states)]
