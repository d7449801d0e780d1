"""Solvers that were written after the verdict on domains, and judged once: mechanisms that no
machine describes, and known ones in disguise."""

from typing import Any

import torch

from algoscope.llm.scripted import adders, reasoners, sorters
from algoscope.llm.scripted.parts import Head, Inbox, Mechanism, State, Step, found, together
from algoscope.llm.scripted.solving import shifted

# All columns are loaded into one token; the carry is taken over them there, one a layer.


def _load_columns(state: State, inbox: Inbox) -> None:
    adders.read_own(state, inbox)
    here = state.has("last")
    for part in ("all make", "all pass"):
        state.add(part, found(inbox["load", part]) & here)


def _tell_columns(state: State, words: Any) -> None:
    adders.FROM_BELOW.tell(state, words)
    state["all make"] = state["place"] * state["makes"]
    state["all pass"] = state["place"] * state["passes"]


def _over_loaded(state: State, inbox: Inbox) -> None:
    reading = (state.has("at").any(-1) & ~state.overlap("at", "asked"))[..., None]
    makes, passes = (state.overlap("at", part)[..., None] for part in ("all make", "all pass"))
    carry = makes | (passes & state.has("carry"))
    state["carry"] = torch.where(reading, carry.float(), state["carry"])
    state["at"] = torch.where(reading, shifted(state["at"], 1), state["at"])


def _loaded_plan(layers: int) -> list[Step]:
    load = Head("load", (("last", "column", 1.0),), ("all make", "all pass"))
    return [Step((load, adders.OWN), _load_columns), *[Step((), _over_loaded)] * (layers - 1)]


def _tell_flags(state: State, words: Any) -> None:
    _tell_columns(state, words)
    state["column"] = state["place"].sum(-1, keepdim=True)


# Two columns a layer: two heads, one of which points a column higher.


def _tell_two(state: State, words: Any) -> None:
    adders.FROM_BELOW.tell(state, words)
    state["next"] = shifted(state["at"], 1)


def _two_plan(layers: int) -> list[Step]:
    heads = (
        Head("below", (("at", "place", 1.0),), ("makes", "passes")),
        Head("next", (("next", "place", 1.0),), ("makes", "passes")),
        adders.OWN,
    )

    def update(state: State, inbox: Inbox) -> None:
        adders.read_own(state, inbox)
        for name in ("below", "next"):
            reading = (state.has("at").any(-1) & ~state.overlap("at", "asked"))[..., None]
            makes, passes = inbox[name, "makes"] > 0.5, inbox[name, "passes"] > 0.5
            carry = makes | (passes & state.has("carry"))
            state["carry"] = torch.where(reading, carry.float(), state["carry"])
            state["at"] = torch.where(reading, shifted(state["at"], 1), state["at"])
        state["next"] = shifted(state["at"], 1)

    return [Step(heads, update)] * layers


ADDERS = (
    adders.FROM_BELOW._replace(
        name="loaded",
        runs="all columns loaded into one token, then carry from below inside it",
        algorithm=False,
        plan=_loaded_plan,
        parts={
            **adders.FROM_BELOW.parts,
            "all make": adders.MOST,
            "all pass": adders.MOST,
            "column": 1,
        },
        tell=_tell_flags,
    ),
    adders.FROM_BELOW._replace(
        name="two_columns",
        runs="carry from below, two columns a layer",
        plan=_two_plan,
        parts={**adders.FROM_BELOW.parts, "next": adders.MOST},
        tell=_tell_two,
    ),
)

# All letters are loaded into one token; the smallest is struck out there, one a layer.


def _strike(state: State, inbox: Inbox) -> None:
    left = state.has("smallest left").any(-1, keepdim=True)
    remain = state.has("seen") & ~state.has("smallest done")
    first = remain & (remain.cumsum(-1) == 1)
    active = left & first.any(-1, keepdim=True)
    state["smallest found"] = torch.where(active, first.float(), state["smallest found"])
    state.add("smallest done", first & active)
    moved = shifted(state["smallest left"], -1)
    state["smallest left"] = torch.where(active, moved, state["smallest left"])


def _struck_plan(layers: int) -> list[Step]:
    def load(state: State, inbox: Inbox) -> None:
        state.add("seen", found(inbox["all", "token"]) & state.has("last"))

    head = Head("all", (("last", "item", 1.0),), ("token",))
    return [Step((head,), load), *[Step((), _strike)] * (layers - 1)]


def _nearer_end() -> Mechanism:
    """From the end that is nearer to the number."""
    small, large = sorters.SMALLEST, sorters.LARGEST

    def tell(state: State, words: Any) -> None:
        small.tell(state, words)
        large.tell(state, words)
        both = [state[part].argmax(-1, keepdim=True) for part in ("smallest left", "largest left")]
        state["nearer"] = (both[0] <= both[1]) * state["last"]

    def answer(state: State) -> torch.Tensor:
        return torch.where(state["nearer"] > 0.5, small.answer(state), large.answer(state))

    return small._replace(
        name="nearer_end",
        runs="selection from the end that is nearer",
        plan=lambda layers: [
            together(*steps) for steps in zip(small.plan(layers), large.plan(layers), strict=True)
        ],
        answer=answer,
        parts={**small.parts, **large.parts, "nearer": 1},
        tell=tell,
    )


SORTERS = (
    sorters.SMALLEST._replace(
        name="loaded",
        runs="all letters loaded into one token, then selection inside it",
        algorithm=False,
        plan=_struck_plan,
        parts={**sorters.SMALLEST.parts, "seen": sorters.LETTERS},
    ),
    _nearer_end(),
)


def _met(state: State) -> torch.Tensor:
    """All that is left to be shown is known."""
    shown = ~(state.has("left") & ~state.has("known")).any(-1)
    return torch.stack([~shown, shown], -1)


def _tell_both(state: State, words: Any) -> None:
    reasoners.FORWARD.tell(state, words)
    reasoners.BACKWARD.tell(state, words)


def _converse_too() -> Step:
    """Rules are used in both directions: a conclusion that is known makes its premises known."""
    forward = reasoners.firing()
    back = Head("converse", (("known", "conclusion", 1.0), ("last", "fact", -1.0)), ("premises",))

    def update(state: State, inbox: Inbox) -> None:
        state.add("known", found(inbox["converse", "premises"]) & state.has("last"))
        forward.update(state, inbox)

    return Step((*forward.heads, back), update)


REASONERS = (
    reasoners.FORWARD._replace(
        name="meeting",
        runs="forward and backward chaining until they meet",
        plan=lambda layers: [
            together(*steps)
            for steps in zip(
                reasoners.FORWARD.plan(layers), reasoners.BACKWARD.plan(layers), strict=True
            )
        ],
        answer=_met,
        parts={**reasoners.FORWARD.parts, **reasoners.BACKWARD.parts},
        tell=_tell_both,
    ),
    reasoners.FORWARD._replace(
        name="both_ways",
        runs="rules used in both directions",
        algorithm=False,
        scope="no conclusion is given as a fact",
        plan=lambda layers: [_converse_too()] * layers,
    ),
)
DISGUISED = {
    "addition": ("from_above", "doubling", "from_below"),
    "sorting": ("insertion", "merging", "at_once"),
    "modus-ponens": ("backward", "forward"),
}
"""Known mechanisms that are judged in disguise, too."""
