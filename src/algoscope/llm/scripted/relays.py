"""Searches in several tokens of the question: one that is handed on from token to token, and one
that many tokens make at the same time."""

import torch

from algoscope.llm.scripted.parts import Head, Inbox, Mechanism, State, Step
from algoscope.llm.scripted.reading import ASKED, Prompt
from algoscope.llm.scripted.sets import BACKWARD, FORWARD, Side, parts, step

_POSTS = ASKED + 1


def _tell_posts(state: State, prompt: Prompt) -> None:
    """From the question mark on, every token knows how many follow it."""
    state["post"] = torch.stack([prompt.at(post) for post in range(_POSTS)], -1)


def _only_at(post: int, side: Side) -> Step:
    """One token expands; the others' heads attend for nothing."""
    searching = step(side)

    def update(state: State, inbox: Inbox) -> None:
        here = state[("post", post)] > 0.5
        side.expand(state, side.came(inbox) & here)

    return Step(searching.heads, update)


def _hand_over(post: int, side: Side) -> Step:
    """A token takes over what the one before it has found."""
    sets = (side.visited, side.frontier)
    head = Head("take over", ((("post", post), ("post", post + 1), 2.0),), sets)

    def update(state: State, inbox: Inbox) -> None:
        here = state[("post", post)] > 0.5
        for part in sets:
            state.add(part, (inbox["take over", part] > 0.5) & here)

    return Step((head,), update)


def _relay(name: str, runs: str, side: Side) -> Mechanism:
    steps = [_only_at(ASKED, side)]
    for post in reversed(range(ASKED)):
        steps += [_hand_over(post, side), _only_at(post, side)]
    return Mechanism(
        name,
        runs,
        True,
        f"depth at most {_POSTS}",
        plan=lambda layers: steps,
        answer=side.arrived,
        parts=parts(side) | {"post": _POSTS},
        begin=side.begin,
        tell=_tell_posts,
        worker=ASKED,
    )


def _choir_tell(state: State, prompt: Prompt) -> None:
    """All tokens from the question mark on sing, but the last; each knows the question."""
    state["singer"] = torch.stack([prompt.at(place) for place in range(1, _POSTS)], -1).any(
        -1, True
    )


def _choir(name: str, runs: str, side: Side) -> Mechanism:
    """Seven tokens search; the last one hears them all, and believes what most of them say."""

    def begin(state: State) -> None:
        state[side.visited] = state[side.frontier] = state[side.begins] * state["singer"]

    listen = Head("listen", (("last", "singer", 1.0),), (side.visited,))
    ask = [Head(what, (("singer", "worker", 1.0),), (what,)) for what in ("source", "goal")]

    def begin_singing(state: State, inbox: Inbox) -> None:
        """The question mark, which knows the question, tells the others."""
        for what in ("source", "goal"):
            state.add(what, (inbox[what, what] > 0.5) & state.has("singer"))
        begin(state)

    def hear(state: State, inbox: Inbox) -> None:
        state.add(side.visited, (inbox["listen", side.visited] > 0.5) & state.has("last"))

    return Mechanism(
        name,
        runs,
        True,
        "depth at most the number of steps less two",
        plan=lambda layers: [
            Step(tuple(ask), begin_singing),
            *[step(side)] * (layers - 2),
            Step((listen,), hear),
        ],
        answer=side.arrived,
        parts=parts(side) | {"singer": 1},
        tell=_choir_tell,
        worker=ASKED,
    )


RELAYS = (
    _relay("relay", "BFS, a step a token of the question", FORWARD),
    _relay("relay_backward", "backward search, a step a token of the question", BACKWARD),
    _choir("choir", "BFS, in seven tokens of the question at once", FORWARD),
)
