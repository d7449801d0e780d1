"""Transformers that add in columns: where a carry comes from, and where it is worked out."""

import functools
from typing import Any

import torch

from algoscope.llm.domains.addition import INTRO, MOST, Columns, digit
from algoscope.llm.scripted.parts import Head, Inbox, Mechanism, State, Step, found, together
from algoscope.llm.scripted.reading import before
from algoscope.llm.scripted.solving import Words, half_and_half, leaks, onehot, shifted
from algoscope.llm.vocabulary import split

DIGITS = tuple(map(str, range(10)))
_FIRST = len(split(INTRO)) + 2
"""The token of the second digit of the first column; columns are four tokens apart."""
_ASKED = 6
"""Tokens from the number of the digit that is asked for to the last one."""
PARTS = {
    "makes": 1,
    "passes": 1,
    "sum": 10,
    "place": MOST,
    "asked": MOST,
    "below": MOST,
    "own": 10,
}
"""At the end of each column: whether it makes a carry or passes one on, its last digit, its place.
At the last token: the place that is asked for, those below it, the digit of its own column."""


def tell(state: State, words: Words) -> None:
    digits = words.among(DIGITS)
    values = torch.arange(10, device=digits.device).float()
    column = before(words.here("+"), 1)
    total = ((digits + before(digits, 2)) @ values).round().long()
    state["makes"] = (column & (total > 9))[..., None]
    state["passes"] = (column & (total == 9))[..., None]
    state["sum"] = onehot(total % 10, 10, column)
    places = ((words.places - _FIRST) // 4).expand(words.ids.shape)
    state["place"] = onehot(places, MOST, column)
    number = (before(digits, _ASKED) @ values).round().long() - 1
    state["asked"] = onehot(number, MOST, words.last)
    every = torch.arange(MOST, device=digits.device)
    state["below"] = (every < number[..., None]) & words.last[..., None]


OWN = Head("own", (("asked", "place", 1.0),), ("sum",))


def read_own(state: State, inbox: Inbox) -> None:
    state.add("own", found(inbox["own", "sum"]) & state.has("last"))


def written(carry: str, state: State) -> torch.Tensor:
    """The digit of the own column, one more with a carry: [..., digit]."""
    return torch.where(state[carry] > 0.5, state["own"].roll(1, -1), state["own"])


def _tell_pointer(part: str, from_below: bool, state: State, words: Any) -> None:
    tell(state, words)
    if from_below:
        at = torch.zeros_like(state["asked"])
        at[..., 0] = 1
        state[part] = at * state["last"]
    else:
        state[part] = shifted(state["asked"], -1)


def _over(state: State, inbox: Inbox) -> None:
    read_own(state, inbox)
    reading = (state.has("at").any(-1) & ~state.overlap("at", "asked"))[..., None]
    makes, passes = inbox["below", "makes"] > 0.5, inbox["below", "passes"] > 0.5
    carry = makes | (passes & state.has("carry"))
    state["carry"] = torch.where(reading, carry.float(), state["carry"])
    state["at"] = torch.where(reading, shifted(state["at"], 1), state["at"])


def _down(head: str, makes: str, passes: str, by: int, state: State, inbox: Inbox) -> None:
    """Looks so far down if a carry passes."""
    read_own(state, inbox)
    made, passed = inbox[head, makes] > 0.5, inbox[head, passes] > 0.5
    looking = state.has("down at").any(-1, keepdim=True)
    state.add("down carry", made & looking)
    state["down at"] = shifted(state["down at"], -by) * (passed & ~made)


_BELOW = Step((Head("below", (("at", "place", 1.0),), ("makes", "passes")), OWN), _over)
_ABOVE = Step(
    (Head("above", (("down at", "place", 1.0),), ("makes", "passes")), OWN),
    functools.partial(_down, "above", "makes", "passes", 1),
)


def _limited(one: Mechanism, limit: int, scope: str) -> Mechanism:
    return one._replace(
        name=f"{one.name}_{limit}",
        runs=f"{one.runs} for {limit} steps only",
        algorithm=False,
        scope=scope,
        plan=lambda layers: ([*one.plan(layers)][:limit] + [Step()] * layers)[:layers],
    )


FROM_BELOW = Mechanism(
    "from_below",
    "carry from below",
    True,
    "as many columns below as there are layers",
    plan=lambda layers: [_BELOW] * layers,
    answer=functools.partial(written, "carry"),
    parts=PARTS | {"at": MOST, "carry": 1},
    tell=functools.partial(_tell_pointer, "at", True),
)
FROM_ABOVE = Mechanism(
    "from_above",
    "carry from above",
    True,
    "as many nines in a row as there are layers, less one",
    plan=lambda layers: [_ABOVE] * layers,
    answer=functools.partial(written, "down carry"),
    parts=PARTS | {"down at": MOST, "down carry": 1},
    tell=functools.partial(_tell_pointer, "down at", False),
)

# Spans in the columns: whether the columns that end here make a carry, or pass one on.


def tell_spans(state: State, words: Any) -> None:
    _tell_pointer("down at", False, state, words)
    state["span makes"], state["span passes"] = state["makes"], state["passes"]
    state["look"] = shifted(state["place"], -1)


_SPANS = {"span makes": 1, "span passes": 1, "look": MOST}
_LOOK = Head("look", (("look", "place", 1.0),), ("span makes", "span passes"))


def _lengthen(length: int, state: State, inbox: Inbox) -> None:
    """From spans of this length to spans twice as long."""
    makes, passes = inbox["look", "span makes"] > 0.5, inbox["look", "span passes"] > 0.5
    state["span makes"] = state.has("span makes") | (state.has("span passes") & makes)
    state["span passes"] = state.has("span passes") & passes
    state["look"] = shifted(state["place"], -2 * length)


def lengthened(layers: int) -> list[Step]:
    """The first four layers; no span is longer then than there are columns."""
    return [Step((_LOOK,), functools.partial(_lengthen, 2**n)) for n in range(min(layers, 4))]


def _by_spans(layers: int) -> list[Step]:
    takes = ("span makes", "span passes")
    steps = []
    for number, longer in enumerate(lengthened(layers)):
        take = functools.partial(_down, "above", *takes, 2**number)
        head = Head("above", (("down at", "place", 1.0),), takes)
        steps.append(together(Step((head, OWN), take), longer))
    return (steps + [Step()] * layers)[:layers]


def _read_at_the_end(layers: int) -> list[Step]:
    takes = ("span makes", "span passes")
    head = Head("above", (("down at", "place", 1.0),), takes)
    read = Step((head, OWN), functools.partial(_down, "above", *takes, 1))
    idle = [Step()] * max(layers - 5, 0)
    return [*lengthened(layers - 1), *idle, read]


DOUBLING = FROM_ABOVE._replace(
    name="doubling",
    runs="lookahead, doubling",
    scope="",
    plan=_by_spans,
    parts={**FROM_ABOVE.parts, **_SPANS},
    tell=tell_spans,
)


def _at_once(late: int, layers: int) -> list[Step]:
    """The highest column below that passes no carry on."""
    head = Head(
        "once", (("below", "place", 1.0), ("last", "passes", -1.0)), ("makes",), prefers=1.5
    )

    def update(state: State, inbox: Inbox) -> None:
        read_own(state, inbox)
        state.add("down carry", (inbox["once", "makes"] > 0.5) & state.has("last"))

    return [*[Step()] * late, Step((head, OWN), update), *[Step()] * (layers - 1 - late)]


AT_ONCE = FROM_ABOVE._replace(
    name="at_once",
    runs="lookahead at once",
    scope="",
    plan=functools.partial(_at_once, 3),
)


def _next_only(layers: int) -> list[Step]:
    return [_ABOVE, *[Step()] * (layers - 1)]


def solve(words: list[str]) -> int:
    """A plain program that reads the prompt; -1 where it is none."""
    plus = [n for n, word in enumerate(words) if word == "+"]
    pairs = [(words[n - 1], words[n + 1]) for n in plus if 0 < n < len(words) - 1]
    if "digit" not in words or not pairs or not all(x.isdigit() for p in pairs for x in p):
        return -1
    asked = words[words.index("digit") + 1 :][:1]
    if not asked or not asked[0].isdigit() or not 0 < int(asked[0]) <= len(pairs):
        return -1
    a, b = ([int(pair[n]) for pair in pairs] for n in (0, 1))
    return digit(Columns(tuple(a), tuple(b), int(asked[0]) - 1))


ADDERS = (
    FROM_BELOW,
    FROM_ABOVE,
    DOUBLING,
    AT_ONCE,
    DOUBLING._replace(
        name="ready",
        runs="spans in the columns that double, read by the question at the end",
        plan=_read_at_the_end,
    ),
    _limited(FROM_BELOW, 3, "digits up to 4"),
    _limited(FROM_ABOVE, 2, "one nine in a row"),
    FROM_ABOVE._replace(
        name="no_carry",
        runs="no carry",
        algorithm=False,
        scope="no carry arrives",
        answer=lambda state: state["own"],
    ),
    FROM_ABOVE._replace(
        name="next_only",
        runs="carry from the next column only",
        algorithm=False,
        scope="no nine below",
        plan=_next_only,
    ),
    *leaks(FROM_BELOW),
    half_and_half("half", FROM_BELOW, FROM_ABOVE),
    FROM_BELOW._replace(name="noisy", algorithm=False, scope="19 of 20 prompts", wrong=0.05),
)
