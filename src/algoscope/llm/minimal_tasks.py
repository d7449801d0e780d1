"""Minimal tasks: the shortest prompts in which a head has a reason to do one low-level operation.

A task has a token that looks (the query), tokens that it looks at if the head does the operation
(the target), and matched tokens that it has no reason to look at (the controls): of the same kind,
in the same role. Beside the prompt there are donors:

    changed   what the target says is another; so is the right answer
    matched   as much is changed where a control stands, one for each control; the right answer does
              not change, or changes without the operation

What a head writes at some tokens is taken from a donor (`primitives`): if it does the operation and
the model uses that, the answer follows `changed` and not `matched`.

| primitive        | looks from        | at                              | the answer is       |
|------------------|-------------------|---------------------------------|---------------------|
| previous token   | a word            | the word before it              | what followed, next |
| induction        | a word said again | what followed it                | that, next          |
| copy             | the end           | the word that is to be repeated | that, next          |
| memory update    | a key             | its latest value                | that, next          |
| comparison       | the end           | the larger of two numbers       | that, next          |
| edge lookup      | an edge's end     | its start                       | Yes or No           |
| goal match       | the question      | the goal in the description     | Yes or No           |
| previous mention | a word said again | its earlier mention             | nothing is asked    |
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope.llm import forms, prompts
from algoscope.llm.forms import Span, Text
from algoscope.llm.prompts import Item, Mention


class Donor(NamedTuple):
    """A prompt from which is taken what a head writes, and at which tokens."""

    prompt: str
    writes: tuple[Span, ...]
    """The last token of each; empty: where the head looks from."""


class Donors(NamedTuple):
    changed: Donor
    matched: tuple[Donor, ...]
    """One for each control."""
    answers: tuple[Span, Span] | None
    """The word that is right in the prompt, and the one that is right in `changed`, each where it
    stands in its prompt; None where they are Yes and No."""


class MinimalTask(NamedTuple):
    prompt: str
    query: Span
    target: Span
    controls: tuple[Span, ...]
    donors: Donors | None = None
    anywhere: bool = False
    """Whether every token of the query may be the one that looks; else it is the last."""


class Primitive(NamedTuple):
    name: str
    summary: str
    make: Callable[[np.random.Generator, str], MinimalTask]
    """By a surface form's name."""


def _words(rng: np.random.Generator, form: str, count: int) -> list[str]:
    names = forms.form(form).names
    return [names[i] for i in rng.permutation(len(names))[:count]]


def _previous_mention(rng: np.random.Generator, form: str) -> MinimalTask:
    text, words = Text(), _words(rng, form, 8)
    spans = [text.add(word) for word in words]
    target, control = rng.permutation(8)[:2]
    query = text.add(words[target])
    return MinimalTask(text.text, query, spans[target], (spans[control],))


_PAIRS = 5


class _Repeated(NamedTuple):
    """Pairs of words, and one of the first of them once more."""

    text: str
    spans: list[Span]
    query: Span


def _repeated(words: Sequence[str], again: str) -> _Repeated:
    text = Text()
    spans = [text.add(word) for word in words]
    query = text.add(again)
    return _Repeated(text.text, spans, query)


def _with(words: Sequence[str], changes: dict[int, str]) -> list[str]:
    return [changes.get(number, word) for number, word in enumerate(words)]


def _induction(rng: np.random.Generator, form: str) -> MinimalTask:
    *words, new = _words(rng, form, 2 * _PAIRS + 1)
    target, control = 2 * (1 + rng.permutation(_PAIRS - 1)[:2]) + 1
    again = words[target - 1]
    base = _repeated(words, again)
    changed = _repeated(_with(words, {target: new}), again)
    matched = _repeated(_with(words, {control: new}), again)
    return MinimalTask(
        base.text,
        base.query,
        base.spans[target],
        (base.spans[control],),
        Donors(
            Donor(changed.text, ()),
            (Donor(matched.text, ()),),
            (base.spans[target], changed.spans[target]),
        ),
    )


def _previous_token(rng: np.random.Generator, form: str) -> MinimalTask:
    """What stood before two words is exchanged, so that the word said again was followed by the
    other one."""
    words = _words(rng, form, 2 * _PAIRS)
    own, other, *idle = 2 * (1 + rng.permutation(_PAIRS - 1)[:4]) + 1
    again = words[own - 1]
    base = _repeated(words, again)

    def exchanged(a: int, b: int) -> Donor:
        prompt = _repeated(_with(words, {a - 1: words[b - 1], b - 1: words[a - 1]}), again)
        return Donor(prompt.text, (base.spans[a], base.spans[b]))

    earlier = int(rng.integers(own - 1))
    return MinimalTask(
        base.text,
        base.spans[own],
        base.spans[own - 1],
        (base.spans[earlier],),
        Donors(exchanged(own, other), (exchanged(*idle),), (base.spans[own], base.spans[other])),
    )


def _copy(rng: np.random.Generator, form: str) -> MinimalTask:
    *words, new = _words(rng, form, 3)
    marked = int(rng.integers(2))

    def told(words: Sequence[str]) -> tuple[Text, list[Span]]:
        text, spans = Text(), []
        for number, word in enumerate(words):
            text.add("Repeat" if number == marked else "Ignore")
            spans.append(text.add(word))
            text.add(".", before="")
        return text, spans

    text, spans = told(words)
    query = text.add("Answer:")
    changed, matched = (told(_with(words, {n: new}))[0] for n in (marked, 1 - marked))
    for donor in (changed, matched):
        donor.add("Answer:")
    new_span = told(_with(words, {marked: new}))[1][marked]
    return MinimalTask(
        text.text,
        query,
        spans[marked],
        (spans[1 - marked],),
        Donors(Donor(changed.text, ()), (Donor(matched.text, ()),), (spans[marked], new_span)),
    )


def _memory_update(rng: np.random.Generator, form: str) -> MinimalTask:
    """Two keys get a value each, and then another; the controls are the key's own old value and the
    other key's new one, so that neither the key nor the place in the text is enough."""
    key, other, old, others_old, value, others, new = _words(rng, form, 7)
    rounds = [
        [pairs[i] for i in rng.permutation(2)]
        for pairs in ([(key, old), (other, others_old)], [(key, value), (other, others)])
    ]
    template = forms.form(form).one_way

    def told(replaced: str = "") -> tuple[str, dict[str, Span], Span]:
        text, places = Text(), {}
        for name, word in (pair for pairs in rounds for pair in pairs):
            said = new if word == replaced else word
            places[word] = text.fill(template, a=name, b=said)["b"]
        query = text.add(template.partition("{b}")[0].strip().format(a=key))
        return text.text, places, query

    prompt, places, query = told()
    changed, moved, _ = told(value)
    matched = tuple(Donor(told(word)[0], ()) for word in (old, others))
    return MinimalTask(
        prompt,
        query,
        places[value],
        (places[old], places[others]),
        Donors(Donor(changed, ()), matched, (places[value], moved[value])),
    )


def _comparison(rng: np.random.Generator, form: str) -> MinimalTask:
    lower, upper = np.split(np.sort(rng.permutation(9)[:4] + 1), 2)
    small, small_too = rng.permutation(lower).tolist()
    large, large_too = rng.permutation(upper).tolist()
    first = bool(rng.integers(2))

    def told(small: int, large: int) -> tuple[str, dict[int, Span], Span]:
        text, spans = Text(), {}
        numbers = (large, small) if first else (small, large)
        for introduction, number in zip(("Of the numbers", "and"), numbers, strict=True):
            text.add(introduction)
            spans[number] = text.add(str(number))
        query = text.add("the larger is")
        return text.text, spans, query

    prompt, spans, query = told(small, large)
    changed, moved, _ = told(small, large_too)
    matched = told(small_too, large)[0]
    return MinimalTask(
        prompt,
        query,
        spans[large],
        (spans[small],),
        Donors(Donor(changed, ()), (Donor(matched, ()),), (spans[large], moved[large_too])),
    )


_SIZE, _DEPTH = 5, 2
"""Of the mazes: trees with two children a node, and goals two steps away."""


class _Maze(NamedTuple):
    item: Item
    edge: int
    """The sentence of the edge that leads to the goal."""
    beside: int
    """That of the edge that leads to its sibling."""

    def mention(self, edge: int, role: str) -> Span:
        [found] = [m for m in self.item.described if (m.edge, m.role) == (edge, role)]
        return _span(found)

    def image(self, edge: int) -> int:
        """The sentence of an edge's mirror image."""
        a, b = self.item.edges[edge]
        return self.item.edges.index((self.item.mirror[a], self.item.mirror[b]))

    def other_senders(self, edge: int) -> str:
        """The prompt with the senders of an edge and of its image exchanged."""
        edges = list(self.item.edges)
        image = self.image(edge)
        (a, b), (c, d) = edges[edge], edges[image]
        edges[edge], edges[image] = (c, b), (a, d)
        changed = dataclasses.replace(self.item, edges=tuple(edges))
        return prompts.asked(changed, self.item.source, self.item.goal).prompt


def _span(mention: Mention) -> Span:
    return Span(mention.start, mention.end)


def _maze(rng: np.random.Generator, form: str) -> _Maze:
    """Of which the goal's sentence is not the first."""
    while True:
        item = prompts.navigation(
            2,
            families=("tree",),
            size=_SIZE,
            depths=(_DEPTH,),
            form=form,
            seed=int(rng.integers(2**31)),
        )[0]
        before, goal = item.path()[-2:]
        sibling = next(b for a, b in item.edges if a == before and b != goal)
        edge = item.edges.index((before, goal))
        if any(a != before for a, _ in item.edges[:edge]):
            return _Maze(item, edge, item.edges.index((before, sibling)))


def _edge_lookup(rng: np.random.Generator, form: str) -> MinimalTask:
    maze = _maze(rng, form)
    own = maze.item.edges[maze.edge][0]
    earlier = [n for n, (a, _) in enumerate(maze.item.edges[: maze.edge]) if a != own]
    control = int(rng.choice(earlier))

    def donor(edge: int) -> Donor:
        ends = tuple(maze.mention(n, "to") for n in (edge, maze.image(edge)))
        return Donor(maze.other_senders(edge), ends)

    return MinimalTask(
        maze.item.prompt,
        maze.mention(maze.edge, "to"),
        maze.mention(maze.edge, "from"),
        (maze.mention(control, "from"),),
        Donors(donor(maze.edge), (donor(maze.beside),), None),
    )


def _goal_match(rng: np.random.Generator, form: str) -> MinimalTask:
    """With another start the answer is No as well, and the goal is as it was."""
    maze = _maze(rng, form)
    item = maze.item
    [named] = [m for m in item.mentions if m.role == "goal"]
    another_goal = prompts.asked(item, item.source, item.mirror[item.goal])
    another_start = prompts.asked(item, item.mirror[item.source], item.goal)
    return MinimalTask(
        item.prompt,
        Span(named.start, len(item.prompt)),
        maze.mention(maze.edge, "to"),
        (maze.mention(maze.image(maze.edge), "to"),),
        Donors(Donor(another_goal.prompt, ()), (Donor(another_start.prompt, ()),), None),
        anywhere=True,
    )


PRIMITIVES = (
    Primitive("previous mention", "looks at the earlier mention of its word", _previous_mention),
    Primitive("previous token", "looks at the word before", _previous_token),
    Primitive("induction", "looks at what followed the same word earlier", _induction),
    Primitive("copy", "looks at the word that is to be repeated", _copy),
    Primitive("memory update", "looks at the latest value of a key", _memory_update),
    Primitive("comparison", "looks at the larger of two numbers", _comparison),
    Primitive("edge lookup", "looks from an edge's end at its start", _edge_lookup),
    Primitive("goal match", "looks from the question at the goal in the description", _goal_match),
)
