"""Sorting: which letter is number k in order, and how is it found?

    Letters: D. A. C. B. Which is number 3 in alphabetical order? Answer:

| machine                             | a step                                                     |
|-------------------------------------|------------------------------------------------------------|
| selection, smallest first           | finds the smallest letter above the last that was found    |
| selection, largest first            | the same from the other end                                |
| insertion, in the order of the text | puts the next letter into its place among those seen       |
| insertion, last first               | the same from the end of the text                          |
| merging, doubling                   | letters know of longer runs; the question takes such       |
| counting at once                    | compares all letters with all others                       |

Neighbours that are exchanged in the tokens of the list, as in bubble sort, are no candidate: a
causal model cannot give a token what stands behind it.
"""

import functools
import string
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algoscope.llm.domains.domain import Domain, Heuristic, Problem, ready, text
from algoscope.llm.machines import Machine, Part

INTRO = "Letters:"
LETTERS = 26
MOST = 9
"""Letters of a list at most."""


class List(NamedTuple):
    letters: tuple[int, ...]
    """Different ones, in the order of the text."""
    number: int
    """Which is asked for, from 1."""


def nth(seen: np.ndarray, number: int) -> int:
    """The letter of this number among a set, bool [letter]; -1 if there are fewer."""
    members = np.flatnonzero(seen)
    return int(members[number - 1]) if number <= len(members) else -1


def right(content: List) -> int:
    return sorted(content.letters)[content.number - 1]


def worded(content: List, pair: int = 0) -> Problem:
    names, count = string.ascii_uppercase, len(content.letters)
    sentences = [f"{names[letter]}." for letter in content.letters]
    question = f"Which is number {content.number} in alphabetical order?"
    return Problem(
        *text(INTRO, sentences, question),
        right=right(content),
        content=content,
        case="in the first half" if 2 * content.number <= count else "in the second half",
        size={
            "letters": count,
            "number": content.number,
            "number from the end": count + 1 - content.number,
        },
        units=tuple((place,) for place in range(count)),
        pair=pair,
    )


def draw(rng: np.random.Generator, hard: bool) -> Problem:
    count = int(rng.integers(4, MOST + 1 if hard else 8))
    letters = tuple(map(int, rng.permutation(LETTERS)[:count]))
    if hard and rng.random() < 0.3:
        start = int(rng.integers(0, LETTERS - count))
        letters = tuple(start + int(letter) for letter in rng.permutation(count))
    return worded(List(letters, int(rng.integers(1, count + 1))))


def twin(problem: Problem, rng: np.random.Generator) -> Problem:
    """Another letter in one place."""
    content: List = problem.content
    while True:
        letters = list(content.letters)
        free = [letter for letter in range(LETTERS) if letter not in letters]
        letters[int(rng.integers(len(letters)))] = int(rng.choice(free))
        changed = content._replace(letters=tuple(letters))
        if right(changed) != right(content):
            return worded(changed, problem.pair)


def _other(problem: Problem, rng: np.random.Generator) -> Problem:
    content: List = problem.content
    letters = list(content.letters)
    for place in range(len(letters)):
        if rng.random() < 0.7:
            free = [letter for letter in range(LETTERS) if letter not in letters]
            letters[place] = int(rng.choice(free))
    return worded(content._replace(letters=tuple(letters)), problem.pair)


def pair(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Problem]:
    return _other(problem, rng), _other(problem, rng)


def _values(content: List) -> Part:
    return (np.array(content.letters),)


# Selection: asked is (the last letter that was found, how many are still to be found).


def _select_first(largest: bool, content: List) -> Part:
    left = len(content.letters) + 1 - content.number if largest else content.number
    return np.array(LETTERS if largest else -1), np.array(left)


def _select(largest: bool, asked: Part, told: Part) -> Part:
    last, left = asked
    remain = told[0][told[0] < last] if largest else told[0][told[0] > last]
    if not left or not len(remain):
        return asked
    return remain.max() if largest else remain.min(), left - 1


def _selected(asked: Part) -> int:
    return -1 if asked[1] else int(asked[0])


def _named(asked: Part) -> np.ndarray:
    return np.arange(LETTERS) == asked[0]


def _selection(name: str, largest: bool) -> Machine:
    return Machine(
        name,
        "a letter a step",
        functools.partial(_select_first, largest),
        functools.partial(_select, largest),
        _selected,
        _values,
        visited=_named,
    )


# Insertion, merging, counting: asked is (letters seen, which is asked for, the next place to read).


def _unseen(last: bool, content: List) -> Part:
    place = len(content.letters) - 1 if last else 0
    return np.zeros(LETTERS, bool), np.array(content.number), np.array(place)


def _insert(last: bool, asked: Part, told: Part) -> Part:
    seen, number, place = asked
    if not 0 <= place < len(told[0]):
        return asked
    return seen | (np.arange(LETTERS) == told[0][place]), number, place + (-1 if last else 1)


def _runs(content: List) -> Part:
    return np.arange(LETTERS) == np.array(content.letters)[:, None], np.array(1)


def _merged(told: Part) -> Part:
    runs, length = told
    before = np.zeros_like(runs)
    before[int(length) :] = runs[: -int(length)]
    return runs | before, length * 2


def _take_run(asked: Part, told: Part) -> Part:
    seen, number, place = asked
    if place < 0:
        return asked
    return seen | told[0][place], number, np.maximum(place - told[1], -1)


def _all_at_once(asked: Part, told: Part) -> Part:
    _, number, place = asked
    if place < 0:
        return asked
    return np.isin(np.arange(LETTERS), told[0]), number, np.array(-1)


def _reading(name: str, keeps: str, last: bool, step: Callable) -> Machine:
    return Machine(
        name,
        keeps,
        functools.partial(_unseen, last),
        step,
        lambda asked: nth(asked[0], int(asked[1])),
        _values,
    )


_INSERT, _INSERT_LAST = (functools.partial(_insert, last) for last in (False, True))
MACHINES = (
    _selection("selection, smallest first", False),
    _selection("selection, largest first", True),
    _reading("insertion, in the order of the text", "a letter a step", False, _INSERT),
    _reading("insertion, last first", "a letter a step", True, _INSERT_LAST),
    _reading("merging, doubling", "runs in the list", True, _take_run)._replace(
        told=_runs, merge=_merged
    ),
    _reading("counting at once", "", False, _all_at_once)._replace(once=True),
    ready(right),
)


def _by_value(content: List) -> int:
    expected = LETTERS * content.number / (len(content.letters) + 1)
    return min(content.letters, key=lambda letter: abs(letter - expected))


HEURISTICS = (
    Heuristic("the order of the text", lambda content: content.letters[content.number - 1]),
    Heuristic("the last in the text", lambda content: content.letters[-1]),
    Heuristic("always the first", lambda content: min(content.letters)),
    Heuristic("always the last", lambda content: max(content.letters)),
    Heuristic("the letter nearest to where it would be", _by_value),
)

SORTING = Domain(
    "sorting",
    "the letter of a number in alphabetical order",
    tuple(string.ascii_uppercase),
    MACHINES,
    HEURISTICS,
    draw,
    twin,
    pair,
    f"{INTRO} . Which is number in alphabetical order? Answer: "
    f"{' '.join(string.ascii_uppercase)} {' '.join(map(str, range(1, MOST + 1)))}",
)
