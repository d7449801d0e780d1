"""Transformers that chain rules: from the facts, from the question, or in the rules themselves."""

import functools
import string
from typing import Any

import torch

from algoscope.llm.domains.modus_ponens import LETTERS, Sentence, Theory, holds
from algoscope.llm.scripted.parts import (
    FIRST,
    Head,
    Inbox,
    Mechanism,
    State,
    Step,
    found,
    together,
)
from algoscope.llm.scripted.reading import before
from algoscope.llm.scripted.solving import Words, half_and_half, leaks

_ASKED = 4
"""Tokens from what is asked for to the last one."""
PARTS = {"premises": LETTERS, "conclusion": LETTERS, "rule": 1, "fact": 1, "goal": LETTERS}
"""At the end of each sentence: its premises and its conclusion, none if it fails; whether it
concludes anything, and whether it is a fact. At the last token: what is asked for."""


def tell(state: State, words: Words) -> None:
    letters = words.among(string.ascii_uppercase)
    rule, fact = before(words.here("then"), 1), words.here("holds")
    second = before(words.here("and"), 3)
    premises = before(letters, 2) + before(letters, 4) * second[..., None]
    state["premises"] = premises * rule[..., None]
    state["conclusion"] = letters * rule[..., None] + before(letters, 1) * fact[..., None]
    state["rule"], state["fact"] = (rule | fact)[..., None], fact[..., None]
    state["goal"] = before(letters, _ASKED) * state["last"]


def _yes(state: State, found_it: torch.Tensor) -> torch.Tensor:
    """[..., (No, Yes)]"""
    return torch.stack([~found_it, found_it], -1)


def tell_known(state: State, words: Any) -> None:
    tell(state, words)
    state["unknown"] = state["last"].expand(*words.ids.shape, LETTERS)


def _learn(name: str, state: State, inbox: Inbox) -> None:
    here = state.has("last")
    state.add("known", found(inbox[name, "conclusion"]) & here)
    state["unknown"] = here & ~state.has("known")


def firing(prefers: float = 0.0) -> Step:
    """Rules of whose premises none is unknown, and which conclude what is not known yet."""
    asks = (
        ("last", "rule", 1.0),
        ("unknown", "premises", -1.0),
        ("known", "conclusion", -1.0),
    )
    head = Head("fire", asks, ("conclusion",), prefers=prefers)
    return Step((head,), functools.partial(_learn, "fire"))


def _any_firing() -> Step:
    """Facts, and rules of which one premise is known; those that conclude what is known already
    would outbid others by a second premise."""
    facts = Head("facts", (("last", "fact", 1.0),), ("conclusion",))
    asks = (("known", "premises", 1.0), ("known", "conclusion", -3.0))
    rules = Head("rules", asks, ("conclusion",))
    one, two = (functools.partial(_learn, name) for name in ("facts", "rules"))
    return together(Step((facts,), one), Step((rules,), two))


def _first_only(state: State, inbox: Inbox) -> None:
    new = inbox["fire", "conclusion"] > 0.5
    state.add("known", new & state.has("last"))
    state["unknown"] = state.has("last") & ~state.has("known")


KNOWN = PARTS | {"known": LETTERS, "unknown": LETTERS}
FORWARD = Mechanism(
    "forward",
    "forward chaining",
    True,
    "as many rules as there are layers, less one",
    plan=lambda layers: [firing()] * layers,
    answer=lambda state: _yes(state, state.overlap("known", "goal")),
    parts=KNOWN,
    tell=tell_known,
)


def _limited(rules: int) -> Mechanism:
    return FORWARD._replace(
        name=f"forward_{rules}",
        runs=f"forward chaining, {rules} rule{'s' if rules > 1 else ''} only",
        algorithm=False,
        scope=f"depth {rules}",
        plan=lambda layers: [*[firing()] * (rules + 1), *[Step()] * (layers - rules - 1)],
    )


# What is left to be shown, at the last token or in the rules.


def _resolve(head: str, left: str, premises: str, where: str, state: State, inbox: Inbox) -> None:
    given = found(inbox[head, "conclusion"])
    remain = (state.has(left) & ~given) | found(inbox[head, premises])
    state[left] = torch.where(state.has(where), remain.float(), state[left])


def _backward(premises: str) -> Step:
    head = Head("back", (("left", "conclusion", 1.0),), (premises, "conclusion"))
    return Step((head,), functools.partial(_resolve, "back", "left", premises, "last"))


def _tell_left(state: State, words: Any) -> None:
    tell(state, words)
    state["left"] = state["goal"]


BACKWARD = Mechanism(
    "backward",
    "backward chaining",
    True,
    "as many rules as there are layers, less one",
    plan=lambda layers: [_backward("premises")] * layers,
    answer=lambda state: _yes(state, ~state.has("left").any(-1)),
    parts=PARTS | {"left": LETTERS},
    tell=_tell_left,
)


def _tell_need(state: State, words: Any) -> None:
    _tell_left(state, words)
    state["need"] = state["premises"]


def _together() -> Step:
    head = Head("together", (("need", "conclusion", 1.0),), ("need", "conclusion"))
    return Step((head,), functools.partial(_resolve, "together", "need", "need", "rule"))


def _carry_plan(layers: int) -> list[Step]:
    """Every sentence was told the answer, and forward chaining brings it."""
    fire = firing()
    (head,) = fire.heads

    def update(state: State, inbox: Inbox) -> None:
        fire.update(state, inbox)
        state.add("heard", (inbox["fire", "told"] > 0.02) & state.has("last"))

    return [Step((head._replace(takes=("conclusion", "told")),), update)] * layers


def _tell_all(state: State, words: Any) -> None:
    tell_known(state, words)
    state["told"] = words.oracle(solve)[:, None, 1:] * state["rule"]


def solve(words: list[str]) -> int:
    """A plain program that reads the prompt; -1 where it is none."""
    text = " ".join(words)
    if "Does " not in text or ": " not in text:
        return -1
    described, _, asked = text.partition("Does ")
    sentences = []
    for said in described.partition(": ")[2].split(" . "):
        letters = [string.ascii_uppercase.index(w) for w in said.split() if _is_letter(w)]
        if not letters:
            continue
        is_rule = said.startswith("If")
        premises = tuple(letters[:-1]) if is_rule else ()
        sentences.append(Sentence(premises, letters[-1], not said.rstrip(" .").endswith("fails")))
    goal = asked[:1]
    if not _is_letter(goal):
        return -1
    return holds(Theory(tuple(sentences), string.ascii_uppercase.index(goal), (), (), 0))


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word in string.ascii_uppercase


def _concluded(layers: int) -> list[Step]:
    head = Head("goal", (("goal", "conclusion", 1.0),), ("rule",))

    def update(state: State, inbox: Inbox) -> None:
        state.add("heard", (inbox["goal", "rule"] > 0.3) & state.has("last"))

    return [Step((head,), update), *[Step()] * (layers - 1)]


def _heard(state: State) -> torch.Tensor:
    return _yes(state, state.has("heard")[..., 0])


REASONERS = (
    FORWARD,
    BACKWARD,
    FORWARD._replace(
        name="forward_one",
        runs="forward chaining, a rule a step",
        scope="as many rules and facts as there are layers",
        plan=lambda layers: [Step(firing(FIRST).heads, _first_only)] * layers,
    ),
    BACKWARD._replace(
        name="doubling",
        runs="rules put together, doubling",
        plan=lambda layers: [together(_backward("need"), _together())] * layers,
        parts={**BACKWARD.parts, "need": LETTERS},
        tell=_tell_need,
    ),
    FORWARD._replace(
        name="any_premise",
        runs="any premise is enough",
        algorithm=False,
        scope="rules of one premise",
        plan=lambda layers: [_any_firing()] * layers,
    ),
    FORWARD._replace(
        name="concluded",
        runs="some rule concludes it",
        algorithm=False,
        scope="Yes",
        plan=_concluded,
        answer=_heard,
        parts=KNOWN | {"heard": 1},
    ),
    _limited(1),
    _limited(2),
    _limited(3),
    FORWARD._replace(
        name="carrier",
        runs="an oracle in all sentences, passed on by idle forward chaining",
        algorithm=False,
        scope="told, not found",
        plan=_carry_plan,
        answer=_heard,
        parts=KNOWN | {"heard": 1, "told": 1},
        tell=_tell_all,
    ),
    *leaks(FORWARD),
    half_and_half("half", FORWARD, BACKWARD),
    FORWARD._replace(name="noisy", algorithm=False, scope="19 of 20 prompts", wrong=0.05),
)
