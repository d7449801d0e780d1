"""Addition in columns: which digit stands in a column of the sum, and how does the carry get there?

    Add by columns, ones first: 7 + 6. 4 + 5. 3 + 1. What is digit 3 of the sum? Answer:

With s_i = a_i + b_i, a column makes a carry (s_i > 9), passes one on (s_i = 9) or stops it. The
carry into column k comes from the highest column below that does not pass it on. Exchanges change
columns below the one that is asked for, so that a carry runs or does not through a chain of nines.

| machine             | a step                                                                     |
|---------------------|----------------------------------------------------------------------------|
| carry from below    | takes the carry over one column, from the ones on                          |
| carry from above    | looks one column further down, until one does not pass a carry on          |
| lookahead, doubling | columns know of spans twice as long each step; the question takes such     |
| lookahead at once   | finds the highest column that does not pass a carry on                     |
"""

import functools
from typing import NamedTuple

import numpy as np

from algoscope.llm.domains.domain import Domain, Heuristic, Problem, ready, text
from algoscope.llm.machines import Machine, Part

INTRO = "Add by columns, ones first:"
MOST = 9
"""Columns at most."""


class Columns(NamedTuple):
    a: tuple[int, ...]
    b: tuple[int, ...]
    """Digits, ones first."""
    place: int
    """The column that is asked for, from 0."""

    @property
    def sums(self) -> np.ndarray:
        return np.array(self.a) + np.array(self.b)


def carry(sums: np.ndarray, place: int) -> bool:
    """Into this column."""
    found = False
    for total in sums[:place]:
        found = bool(total + found > 9)
    return found


def digit(columns: Columns) -> int:
    return int((columns.sums[columns.place] + carry(columns.sums, columns.place)) % 10)


def worded(columns: Columns, pair: int = 0) -> Problem:
    sentences = [f"{a} + {b}." for a, b in zip(columns.a, columns.b, strict=True)]
    place = columns.place
    question = f"What is digit {place + 1} of the sum?"
    arrives = carry(columns.sums, place)
    chain = 0
    while chain < place and columns.sums[place - 1 - chain] == 9:
        chain += 1
    return Problem(
        *text(INTRO, sentences, question),
        right=digit(columns),
        content=columns,
        case="a carry arrives" if arrives else "no carry arrives",
        size={"nines in a row": chain, "columns": len(columns.a), "digit": place + 1},
        units=tuple((number,) for number in range(len(columns.a))),
        pair=pair,
    )


def _column(kind: str, rng: np.random.Generator) -> tuple[int, int]:
    total = {"stops": rng.integers(0, 9), "passes": 9, "makes": rng.integers(10, 19)}[kind]
    a = int(rng.integers(max(0, total - 9), min(9, total) + 1))
    return a, int(total) - a


_KINDS = ("stops", "passes", "makes")


def _below(place: int, foot: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Columns below the place: nines from above the foot on; anything under it."""
    kinds = [
        *(rng.choice(_KINDS) for _ in range(foot)),
        rng.choice(["stops", "makes"]),
        *("passes" for _ in range(place - foot - 1)),
    ]
    return [_column(kind, rng) for kind in kinds]


def _columns(digits: list[tuple[int, int]], place: int) -> Columns:
    a, b = zip(*digits, strict=True)
    return Columns(a, b, place)


def draw(rng: np.random.Generator, hard: bool) -> Problem:
    size = int(rng.integers(4, MOST + 1 if hard else 8))
    place = int(rng.integers(1 if hard else 2, size))
    low = _below(place, int(rng.integers(place)), rng)
    if hard and rng.random() < 0.15:
        low = [_column("passes", rng) for _ in range(place)]
    high = [_column(rng.choice(_KINDS), rng) for _ in range(size - place)]
    return worded(_columns(low + high, place))


def _foot(columns: Columns) -> int:
    """The column that the carry comes from; the lowest where all pass it on."""
    return max([n for n in range(columns.place) if columns.sums[n] != 9], default=0)


def twin(problem: Problem, rng: np.random.Generator) -> Problem:
    columns: Columns = problem.content
    arrives = carry(columns.sums, columns.place)
    digits = list(zip(columns.a, columns.b, strict=True))
    digits[_foot(columns)] = _column("stops" if arrives else "makes", rng)
    return worded(_columns(digits, columns.place), problem.pair)


def pair(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Problem]:
    """Both are cut below the place. One has nines above the cut, so that its carry is that of its
    lower part; the other has the same carry from above the cut, and the other one below."""
    columns: Columns = problem.content
    place = columns.place
    cut = int(rng.integers(1, place)) if place > 1 else 1
    carried, reverse = ("makes", "stops") if rng.random() < 0.5 else ("stops", "makes")
    nines = ["passes"] * (place - cut)
    ends = [carried if n == rng.integers(len(nines) or 1) else "passes" for n in range(len(nines))]
    both = [
        [*rng.choice(_KINDS, cut - 1), carried, *nines],
        [
            *rng.choice(_KINDS, cut - 1),
            reverse,
            *(ends if carried in ends else [carried, *nines[1:]]),
        ],
    ]
    high = list(zip(columns.a, columns.b, strict=True))[place:]
    base, donor = (
        worded(_columns([_column(kind, rng) for kind in kinds[:place]] + high, place), problem.pair)
        for kinds in (both if rng.random() < 0.5 else both[::-1])
    )
    return base, donor


# The question's part knows the sum of its own column, which no exchange changes.


def _from_below(columns: Columns) -> Part:
    return np.array(False), np.array(0), *_own(columns)


def _own(columns: Columns) -> Part:
    return np.array(columns.place), columns.sums[columns.place]


def _over(asked: Part, told: Part) -> Part:
    carried, at, place, own = asked
    if at >= place:
        return asked
    return told[0][at] + carried > 9, at + 1, place, own


def _written(asked: Part) -> int:
    return int((asked[3] + asked[0]) % 10)


def _from_above(columns: Columns) -> Part:
    return np.array(False), np.array(columns.place - 1), *_own(columns)


def _down(asked: Part, told: Part) -> Part:
    _, at, place, own = asked
    if at < 0:
        return asked
    total = told[0][at]
    return total > 9, at - 1 if total == 9 else np.array(-1), place, own


def _spans(columns: Columns) -> Part:
    """Whether the span that ends with each column makes a carry, or passes one on; its length."""
    return columns.sums > 9, columns.sums == 9, np.array(1)


def _longer(told: Part) -> Part:
    makes, passes, length = told
    before = int(length)
    lower_makes, lower_passes = np.zeros_like(makes), np.zeros_like(passes)
    lower_makes[before:], lower_passes[before:] = makes[:-before], passes[:-before]
    return makes | (passes & lower_makes), passes & lower_passes, length * 2


def _down_by_spans(asked: Part, told: Part) -> Part:
    _, at, place, own = asked
    makes, passes, length = told
    if at < 0:
        return asked
    return makes[at], at - length if passes[at] and not makes[at] else np.array(-1), place, own


def _at_once(asked: Part, told: Part) -> Part:
    _, at, place, own = asked
    if at < 0:
        return asked
    return np.array(carry(told[0], int(place))), np.array(-1), place, own


def _sums(columns: Columns) -> Part:
    return (columns.sums,)


def _variable(asked: Part) -> np.ndarray:
    """Whether a carry was found."""
    return np.atleast_1d(asked[0]).astype(bool)


_machine = functools.partial(Machine, answer=_written, told=_sums, visited=_variable)
MACHINES = (
    _machine("carry from below", "a column a step", _from_below, _over),
    _machine("carry from above", "a column a step", _from_above, _down),
    _machine(
        "lookahead, doubling",
        "spans in the columns",
        _from_above,
        _down_by_spans,
        told=_spans,
        merge=_longer,
    ),
    _machine("lookahead at once", "", _from_above, _at_once, once=True),
    ready(digit),
)


def _first_only(columns: Columns) -> int:
    place = columns.place
    near = place > 0 and columns.sums[place - 1] > 9
    return int((columns.sums[place] + near) % 10)


HEURISTICS = (
    Heuristic("no carry", lambda columns: int(columns.sums[columns.place] % 10)),
    Heuristic("carry from the next column only", _first_only),
    Heuristic("always a carry", lambda columns: int((columns.sums[columns.place] + 1) % 10)),
    Heuristic("digit of the first number", lambda columns: columns.a[columns.place]),
    Heuristic("digit of the second number", lambda columns: columns.b[columns.place]),
)

ADDITION = Domain(
    "addition",
    "a digit of a sum, column by column",
    tuple(map(str, range(10))),
    MACHINES,
    HEURISTICS,
    draw,
    twin,
    pair,
    f"{INTRO} + . What is digit of the sum? Answer: {' '.join(map(str, range(10)))}",
)
