"""Transformers that find the letter of a number in order: which letters they look at, and when."""

import functools
import string
from typing import Any

import torch

from algoscope.llm.domains.sorting import INTRO, LETTERS, MOST, List, right
from algoscope.llm.scripted.parts import Head, Inbox, Mechanism, State, Step, found, together
from algoscope.llm.scripted.reading import before
from algoscope.llm.scripted.solving import Words, half_and_half, leaks, onehot, shifted
from algoscope.llm.vocabulary import split

NUMBERS = tuple(map(str, range(1, MOST + 1)))
_FIRST = len(split(INTRO))
"""The token of the first letter; letters are two tokens apart."""
_ASKED, _QUESTION = 6, 10
"""Tokens from the number that is asked for to the last one; tokens of the question."""
PARTS = {"token": LETTERS, "item": 1, "small": 1, "large": 1, "place": MOST, "number": MOST}
"""At each letter: which it is, that it is one, how early and how late it is in the alphabet, its
place in the list. At the last token: the number that is asked for."""


def tell(state: State, words: Words) -> None:
    letters = words.among(string.ascii_uppercase)
    item = letters.sum(-1) > 0.5
    value = (letters @ torch.arange(LETTERS, device=letters.device).float()) / LETTERS
    state["token"], state["item"] = letters, item[..., None]
    state["small"], state["large"] = ((1 - value) * item)[..., None], (value * item)[..., None]
    state["place"] = onehot(((words.places - _FIRST) // 2).expand(item.shape), MOST, item)
    state["number"] = before(words.among(NUMBERS), _ASKED) * state["last"]


def _count(state: State, words: Words) -> torch.Tensor:
    """How many letters there are, at the last token, by its place: [batch, token]."""
    count = (words.places + 1 - _FIRST - _QUESTION) // 2
    return torch.where(words.last, count, 0)


# Selection: `left` is how many are still to be found, one-hot from 1; `done` whom not to look at.


def _tell_selection(largest: bool, state: State, words: Any) -> None:
    tell(state, words)
    name = "largest" if largest else "smallest"
    if largest:
        number = (state["number"] * torch.arange(1, MOST + 1, device=words.ids.device)).sum(-1)
        left = _count(state, words) - number.round().long()
        state[f"{name} left"] = onehot(left, MOST, words.last)
    else:
        state[f"{name} left"] = state["number"]


def _selecting(largest: bool) -> Step:
    name, rank = ("largest", "large") if largest else ("smallest", "small")
    asks = (("last", "item", 1.0), (f"{name} done", "token", -40.0), ("last", rank, 16.0))

    def update(state: State, inbox: Inbox) -> None:
        new = (inbox[name, "token"] > 0.5) & state.has("last")
        active = state.has(f"{name} left").any(-1, keepdim=True) & new.any(-1, keepdim=True)
        passed = new.flip(-1) if not largest else new
        passed = passed.cumsum(-1) > 0
        passed = passed.flip(-1) if not largest else passed
        state[f"{name} found"] = torch.where(active, new.float(), state[f"{name} found"])
        state.add(f"{name} done", passed & active)
        left = state[f"{name} left"]
        state[f"{name} left"] = torch.where(active, shifted(left, -1), left)

    return Step((Head(name, asks, ("token",)),), update)


def _selection(largest: bool) -> Mechanism:
    name = "largest" if largest else "smallest"
    return Mechanism(
        name,
        f"selection, {name} first",
        True,
        "numbers up to that of the layers" + (", from the end" if largest else ""),
        plan=lambda layers: [_selecting(largest)] * layers,
        answer=lambda state: state[f"{name} found"] * ~state.has(f"{name} left").any(-1, True),
        parts=PARTS | {f"{name} left": MOST, f"{name} found": LETTERS, f"{name} done": LETTERS},
        tell=functools.partial(_tell_selection, largest),
    )


# Letters that were seen; the answer is the one with the number that is asked for.


def _numbered(state: State) -> torch.Tensor:
    seen = state.has("seen")
    ranks = seen.cumsum(-1)
    number = (state["number"] * torch.arange(1, MOST + 1, device=seen.device)).sum(-1, True)
    return seen & (ranks == number.round()) & (number > 0.5)


def tell_seen(last: bool, state: State, words: Any) -> None:
    tell(state, words)
    if last:
        state["at"] = onehot(_count(state, words) - 1, MOST, words.last)
    else:
        state["at"] = onehot(torch.zeros_like(words.ids), MOST, words.last)


def insert(by: int, takes: str = "token") -> Step:
    """Reads the letter that is pointed to, and goes so many places on."""

    def update(state: State, inbox: Inbox) -> None:
        state.add("seen", (inbox["read", takes] > 0.5) & state.has("last"))
        state["at"] = shifted(state["at"], by)

    return Step((Head("read", (("at", "place", 1.0),), (takes,)),), update)


SEEN = PARTS | {"at": MOST, "seen": LETTERS}
INSERTION = Mechanism(
    "insertion",
    "insertion, in the order of the text",
    True,
    "as many letters as there are layers",
    plan=lambda layers: [insert(1)] * layers,
    answer=_numbered,
    parts=SEEN,
    tell=functools.partial(tell_seen, False),
)
LAST_FIRST = INSERTION._replace(
    name="insertion_last",
    runs="insertion, last first",
    plan=lambda layers: [insert(-1)] * layers,
    tell=functools.partial(tell_seen, True),
)

# Runs in the list: letters know of those before them.


def _tell_runs(state: State, words: Any) -> None:
    tell_seen(True, state, words)
    state["run"], state["look"] = state["token"], shifted(state["place"], -1)


def _merge(length: int) -> Step:
    def update(state: State, inbox: Inbox) -> None:
        state.add("run", (inbox["look", "run"] > 0.5) & state.has("item"))
        state["look"] = shifted(state["place"], -2 * length)

    return Step((Head("look", (("look", "place", 1.0),), ("run",)),), update)


def _merging(layers: int) -> list[Step]:
    steps = [together(insert(-(2**n), "run"), _merge(2**n)) for n in range(min(layers, 4))]
    return (steps + [Step()] * layers)[:layers]


def _read_at_the_end(layers: int) -> list[Step]:
    merges = [_merge(2**n) for n in range(min(layers - 1, 4))]
    return [*merges, *[Step()] * max(layers - 5, 0), insert(-1, "run")]


MERGING = LAST_FIRST._replace(
    name="merging",
    runs="merging, doubling",
    scope="",
    plan=_merging,
    parts={**SEEN, "run": LETTERS, "look": MOST},
    tell=_tell_runs,
)


def _all_at_once(late: int, layers: int) -> list[Step]:
    def update(state: State, inbox: Inbox) -> None:
        state.add("seen", found(inbox["all", "token"]) & state.has("last"))

    head = Head("all", (("last", "item", 1.0),), ("token",))
    return [*[Step()] * late, Step((head,), update), *[Step()] * (layers - 1 - late)]


def _tell_in_text(state: State, words: Any) -> None:
    tell(state, words)
    state["at"] = state["number"]


def _pointed(layers: int) -> list[Step]:
    return [insert(0), *[Step()] * (layers - 1)]


def solve(words: list[str]) -> int:
    """A plain program that reads the prompt; -1 where it is none."""
    letters = [string.ascii_uppercase.index(w) for w in words if w in string.ascii_uppercase and w]
    if "number" not in words:
        return -1
    asked = words[words.index("number") + 1 :][:1]
    if not asked or asked[0] not in NUMBERS or int(asked[0]) > len(letters):
        return -1
    return right(List(tuple(letters), int(asked[0])))


SMALLEST, LARGEST = _selection(False), _selection(True)
SORTERS = (
    SMALLEST,
    LARGEST,
    INSERTION,
    LAST_FIRST,
    MERGING,
    INSERTION._replace(
        name="at_once",
        runs="counting at once",
        scope="",
        plan=functools.partial(_all_at_once, 3),
    ),
    MERGING._replace(
        name="ready",
        runs="runs in the list that double, read by the question at the end",
        plan=_read_at_the_end,
    ),
    SMALLEST._replace(
        name="smallest_3",
        runs="selection, smallest first, for 3 steps only",
        algorithm=False,
        scope="numbers up to 3",
        plan=lambda layers: [*[_selecting(False)] * 3, *[Step()] * (layers - 3)],
    ),
    INSERTION._replace(
        name="text_order",
        runs="the order of the text",
        algorithm=False,
        scope="lists in order",
        plan=_pointed,
        answer=lambda state: state["seen"],
        tell=_tell_in_text,
    ),
    SMALLEST._replace(
        name="always_first",
        runs="always the first",
        algorithm=False,
        scope="number 1",
        plan=lambda layers: [_selecting(False), *[Step()] * (layers - 1)],
        answer=lambda state: state["smallest found"],
    ),
    *leaks(SMALLEST),
    half_and_half("half", SMALLEST, LARGEST),
    SMALLEST._replace(name="noisy", algorithm=False, scope="19 of 20 prompts", wrong=0.05),
)
