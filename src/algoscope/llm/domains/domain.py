"""A domain: problems in words, candidate algorithms as machines, heuristics, and what tells them
apart.

A problem is a description in sentences and a question behind it; its answer is one of the domain's
options, a word each. Machines (`llm.machines`) read its `content`. Twins differ in the fewest words
that change the right answer; an exchange is between two problems that ask the same about
descriptions of the same shape, which differ in what the question does not name.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope.llm.candidates import IN_DESCRIPTION
from algoscope.llm.machines import Machine


@dataclasses.dataclass(frozen=True)
class Problem:
    prompt: str
    starts: tuple[int, ...]
    """The character with which each sentence of the description begins."""
    asks: int
    """The character with which the question begins."""
    right: int
    """The number of the right option."""
    content: Any
    """What machines read."""
    case: str
    """Accuracy is asked for in every case, so that a constant answer is visible."""
    size: Mapping[str, int]
    """How large the problem is, by name: a scope is a limit to some of these."""
    units: tuple[tuple[int, ...], ...]
    """The numbers of sentences that only mean something together."""
    pair: int = 0
    """Twins have the same number."""

    def __hash__(self) -> int:
        return hash(self.prompt)

    def changed(self, other: "Problem") -> list[int]:
        """The numbers of the sentences that another problem of the same shape has otherwise."""
        own, its = self.sentences, other.sentences
        return [
            number for number, pair in enumerate(zip(own, its, strict=True)) if len({*pair}) > 1
        ]

    @property
    def sentences(self) -> list[str]:
        ends = (*self.starts[1:], self.asks)
        return [self.prompt[a:b].strip() for a, b in zip(self.starts, ends, strict=True)]


class Text(NamedTuple):
    prompt: str
    starts: tuple[int, ...]
    asks: int


def text(intro: str, sentences: Sequence[str], question: str) -> Text:
    """Where everything is in a prompt."""
    prompt, starts = intro, []
    for sentence in sentences:
        starts.append(len(prompt) + 1)
        prompt += f" {sentence}"
    return Text(f"{prompt} {question} Answer:", tuple(starts), len(prompt) + 1)


class Heuristic(NamedTuple):
    name: str
    answer: Callable[[Any], int]
    """The option, from a problem's content."""


class Domain(NamedTuple):
    name: str
    asks: str
    """What is asked, in a line."""
    options: tuple[str, ...]
    """The answers, a word each."""
    machines: tuple[Machine, ...]
    heuristics: tuple[Heuristic, ...]
    """Answers that need no algorithm, or that are those of another problem."""
    draw: Callable[[np.random.Generator, bool], Problem]
    """A problem; a hard one is larger, or of a kind that breaks models."""
    twin: Callable[[Problem, np.random.Generator], Problem]
    """With the fewest words changed that change the right answer."""
    pair: Callable[[Problem, np.random.Generator], tuple[Problem, Problem]]
    """Base and donor of an exchange: of the same shape and with the same question, but otherwise
    drawn anew, so that together they have answers that neither has alone."""
    words: str
    """All words of its prompts, for tokenizers that are made on the spot."""

    def items(self, count: int, seed: int = 0) -> list[Problem]:
        """So many problems, in twins."""
        if count < 2 or count % 2:
            raise ValueError(f"items: got {count}, needed an even number, since they come in twins")
        rng = np.random.default_rng(seed)
        found: list[Problem] = []
        for pair in range(count // 2):
            first = dataclasses.replace(self.draw(rng, False), pair=pair)
            found += [first, dataclasses.replace(self.twin(first, rng), pair=pair)]
        return found


def ready(asked: Callable[[Any], int]) -> Machine:
    """The description's part holds the answer, and the question's part reads it."""
    return Machine(
        IN_DESCRIPTION,
        "",
        lambda content: (np.array(-1),),
        lambda asked, told: (told[0],),
        lambda asked: int(asked[0]),
        lambda content: (np.array(asked(content)),),
        visited=lambda asked: np.zeros(0, bool),
        once=True,
    )
