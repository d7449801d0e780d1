"""What hand-written Transformers are made of: parts of the residual stream, heads, steps.

A mechanism says which parts the stream has beside the common ones, what is in them at the
embedding, which heads each step has, what a token makes of what its heads bring, and what the last
token answers. A step is a layer. Nothing else is remembered from layer to layer.
"""

import types
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch

from algoscope.llm.scripted.reading import LETTERS, Prompt

THRESHOLD = 0.02
"""What a head brings counts from here: one of 30 that were attended brings 0.03."""
COMMON = {
    "token": LETTERS,
    "sender": LETTERS,
    "receiver": LETTERS,
    "source": LETTERS,
    "goal": LETTERS,
    "first": 1,
    "position": 1,
    "one": 1,
    "edge": 1,
    "last": 1,
    "worker": 1,
}
"""token: who is here, or whose edge ends here. sender, receiver: the ends of an edge, at its end.
source, goal: who is asked for, at the worker and the last token. Then flags: the first token, the
place in the text, 1, the end of an edge, the last token, the token that does the work."""

Part = str | tuple[str, int]
"""A part of the stream, or one place in it."""


class Layout:
    """Which places of the residual stream are which part."""

    def __init__(self, widths: dict[str, int]):
        self.places, self.width = {}, 0
        for name, width in widths.items():
            self.places[name] = slice(self.width, self.width + width)
            self.width += width

    def __getitem__(self, part: Part) -> slice:
        if isinstance(part, str):
            return self.places[part]
        name, place = part
        start = self.places[name].start + place
        return slice(start, start + 1)

    def size(self, part: Part) -> int:
        place = self[part]
        return place.stop - place.start


class State:
    """The residual stream [..., width] by its parts. Writing changes the tensor."""

    def __init__(self, hidden: torch.Tensor, layout: Layout):
        self.hidden, self.layout = hidden, layout

    def __getitem__(self, part: Part) -> torch.Tensor:
        return self.hidden[..., self.layout[part]]

    def __setitem__(self, part: Part, value: torch.Tensor) -> None:
        self.hidden[..., self.layout[part]] = value.to(self.hidden.dtype)

    def has(self, part: str) -> torch.Tensor:
        """The part as a set: bool [..., place]."""
        return self[part] > 0.5

    def add(self, part: str, new: torch.Tensor) -> None:
        """Puts bool [..., place] into a set."""
        self[part] = torch.where(new, torch.ones_like(self[part]), self[part])

    def overlap(self, one: str, other: str) -> torch.Tensor:
        """Whether two sets have a member in common: bool [...]."""
        return (self.has(one) & self.has(other)).any(-1)


FIRST, LAST = -1.5, 1.5


class Head(NamedTuple):
    """score(i, j) = sum of weight <own part of i, other part of j>, plus rest where j is the first
    token; brings the mean of parts of those attended."""

    name: str
    asks: tuple[tuple[Part, Part, float], ...]
    """(own part, other part, weight), weights in units of the strength of a match."""
    takes: tuple[str, ...]
    prefers: float = 0.0
    """By how much the score rises from token to token. FIRST, LAST: of several that match the
    first in the text alone, or the last; 0: all alike."""


Inbox = dict[tuple[str, str], torch.Tensor]
"""What came, by (head, part)."""


def _nothing(state: State, inbox: Inbox) -> None:
    pass


class Step(NamedTuple):
    heads: tuple[Head, ...] = ()
    update: Callable[[State, Inbox], None] = _nothing


def together(*steps: Step) -> Step:
    """Several steps in one layer."""

    def update(state: State, inbox: Inbox) -> None:
        for step in steps:
            step.update(state, inbox)

    return Step(tuple(head for step in steps for head in step.heads), update)


class Mechanism(NamedTuple):
    name: str
    runs: str
    """What it does, in words: the truth about the subject."""
    algorithm: bool
    """Whether it finds the answer itself and is right on all mazes of its scope."""
    scope: str
    """Where it is right."""
    plan: Callable[[int], list[Step]]
    """The steps, for so many layers; at most as many as there are layers."""
    answer: Callable[[State], torch.Tensor]
    """Whether the goal is reached, according to the last token: [...], 0 to 1."""
    parts: Mapping[str, int] = types.MappingProxyType({})
    """Further parts of the stream and how wide they are."""
    begin: Callable[[State], None] = lambda state: None
    """What is in them as soon as the ends of edges, the source and the goal are known."""
    tell: Callable[[State, Prompt], None] = lambda state, prompt: None
    """What is in them at the embedding by the words next to a token, or by an oracle."""
    result: tuple[str, ...] = ()
    """What the last token needs of the worker for its answer, where it is another token."""
    leak: float = 0.0
    """The share of the answer that an oracle gives."""
    leaks_in: str = "stream"
    """Whether the oracle speaks in the last token's "stream" from the embedding on, or is added to
    the "logits"."""
    wrong: float = 0.0
    """The share of prompts that are answered the wrong way round."""
    worker: int = 0
    """How many tokens before the last one the work is done."""


def found(inbox: torch.Tensor) -> torch.Tensor:
    """Whom a head has brought, as a set."""
    return inbox > THRESHOLD
