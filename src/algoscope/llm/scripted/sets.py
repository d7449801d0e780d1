"""Searches that keep sets of nodes in one token: breadth first, backward, undirected, from both
ends, side by side, and all of them for a few steps only.

A side of a search has two parts of the stream: whom it has visited, and whom it expands next.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import torch

from algoscope.llm.scripted.parts import (
    LETTERS,
    Head,
    Inbox,
    Mechanism,
    State,
    Step,
    found,
)

TREES = "one parent a node, "
EVERYWHERE = "depth at most the number of steps"


class Side(NamedTuple):
    """One end's search: where it begins, whom it looks for, along which ends of edges it goes."""

    name: str
    begins: str
    wanted: str
    ways: tuple[tuple[str, str], ...]
    """(end of an edge that is matched, end that is taken)"""

    @property
    def visited(self) -> str:
        return f"{self.name} visited"

    @property
    def frontier(self) -> str:
        return f"{self.name} frontier"

    def heads(self) -> tuple[Head, ...]:
        return tuple(
            Head(f"{self.name} {taken}", ((self.frontier, matched, 1.0),), (taken,))
            for matched, taken in self.ways
        )

    def came(self, inbox: Inbox) -> torch.Tensor:
        """Whom the heads have brought: bool [..., letter]."""
        sets = [found(inbox[f"{self.name} {taken}", taken]) for _, taken in self.ways]
        return functools.reduce(torch.logical_or, sets)

    def begin(self, state: State) -> None:
        here = state[self.begins] * state["worker"]
        state[self.visited] = state[self.frontier] = here

    def expand(self, state: State, came: torch.Tensor, everybody: bool = False) -> None:
        new = came & ~state.has(self.visited)
        state.add(self.visited, new)
        state[self.frontier] = state[self.visited] if everybody else new

    def arrived(self, state: State) -> torch.Tensor:
        return state.overlap(self.visited, self.wanted)


_ALONG, _AGAINST = ("sender", "receiver"), ("receiver", "sender")
FORWARD = Side("forward", "source", "goal", (_ALONG,))
BACKWARD = Side("backward", "goal", "source", (_AGAINST,))
ANY_MENTION = BACKWARD._replace(ways=(("token", "sender"),))
"""Attends to all mentions of those that it expands; only ends of edges have a sender to bring."""
UNDIRECTED = FORWARD._replace(ways=(_ALONG, _AGAINST))
UNDIRECTED_BACKWARD = BACKWARD._replace(ways=(_ALONG, _AGAINST))


def parts(*sides: Side) -> dict[str, int]:
    return {part: LETTERS for side in sides for part in (side.visited, side.frontier)}


def begin_all(*sides: Side) -> Callable[[State], None]:
    def begin(state: State) -> None:
        for side in sides:
            side.begin(state)

    return begin


def step(*sides: Side, everybody: bool = False) -> Step:
    """All sides expand once, at the same time."""

    def update(state: State, inbox: Inbox) -> None:
        for side in sides:
            side.expand(state, side.came(inbox), everybody)

    return Step(tuple(head for side in sides for head in side.heads()), update)


def _set_search(
    name: str,
    runs: str,
    side: Side,
    scope: str = EVERYWHERE,
    limit: int | None = None,
    everybody: bool = False,
    algorithm: bool = True,
) -> Mechanism:
    return Mechanism(
        name,
        runs,
        algorithm,
        scope,
        plan=lambda layers: [step(side, everybody=everybody)] * _within(layers, limit),
        answer=side.arrived,
        parts=parts(side),
        begin=side.begin,
        result=(side.visited,),
    )


def _within(layers: int, limit: int | None) -> int:
    return layers if limit is None else min(layers, limit)


def counted(steps: int) -> str:
    return f"{steps} step{'s' if steps > 1 else ''}"


def _limited(name: str, runs: str, side: Side, limit: int) -> Mechanism:
    return _set_search(
        f"{name}_{limit}",
        f"{runs} for {counted(limit)} only",
        side,
        f"depth at most {limit}",
        limit,
        algorithm=False,
    )


def _two_sides(name: str, runs: str, together, scope: str = EVERYWHERE) -> Mechanism:
    """Forward and backward at the same time; `together` makes the answer of both."""
    sides = FORWARD, BACKWARD
    return Mechanism(
        name,
        runs,
        True,
        scope,
        plan=lambda layers: [step(*sides)] * layers,
        answer=together,
        parts=parts(*sides),
        begin=begin_all(*sides),
        result=tuple(side.visited for side in sides),
    )


def _met(state: State) -> torch.Tensor:
    return state.overlap(FORWARD.visited, BACKWARD.visited)


def _out_of_step(layers: int) -> list[Step]:
    """Two steps from the start, then all others from the goal."""
    return ([step(FORWARD)] * 2 + [step(BACKWARD)] * max(layers - 2, 0))[:layers]


def _one_head_for_both(layers: int) -> list[Step]:
    """A single head attends to edges that either end may take next, and brings both their ends.

    Who is new to both sides is where they meet. If an edge leads from one side to the other, both
    ends match and it is attended alone: then the attention to edges into the backward side,
    sum over backward of receiver, is not made up for by new senders.
    """
    head = Head(
        "both",
        ((FORWARD.frontier, "sender", 1.0), (BACKWARD.frontier, "receiver", 1.0)),
        ("sender", "receiver"),
    )

    def update(state: State, inbox: Inbox) -> None:
        senders, receivers = inbox["both", "sender"], inbox["both", "receiver"]
        ahead, behind = state.has(FORWARD.visited), state.has(BACKWARD.visited)
        excess = (receivers * behind).sum(-1) - (senders * ~ahead).sum(-1)
        state.add("met", (excess > 0.3)[..., None])
        known = ahead | behind
        FORWARD.expand(state, found(receivers) & ~known)
        BACKWARD.expand(state, found(senders) & ~known)

    return [Step((head,), update)] * layers


_TWICE = "depth at most twice the number of steps"
_UNDIRECTED_SCOPE = "starts from which all of their undirected component can be reached"
SETS = (
    _set_search("bfs", "BFS", FORWARD),
    _set_search("bfs_visited", "BFS", FORWARD, everybody=True),
    _set_search("backward", "backward search", ANY_MENTION),
    _set_search("backward_edges", "backward search", BACKWARD),
    _set_search("backward_visited", "backward search", BACKWARD, everybody=True),
    _set_search(
        "undirected",
        "search that ignores the arrows, from the start",
        UNDIRECTED,
        _UNDIRECTED_SCOPE,
        algorithm=False,
    ),
    _set_search(
        "undirected_backward",
        "search that ignores the arrows, from the goal",
        UNDIRECTED_BACKWARD,
        _UNDIRECTED_SCOPE,
        algorithm=False,
    ),
    _two_sides("bidirectional", "bidirectional search", _met, _TWICE),
    _two_sides("bidirectional_one_head", "bidirectional search", _met, _TWICE)._replace(
        plan=_one_head_for_both,
        answer=lambda state: _met(state) | state.has("met")[..., 0],
        parts=parts(FORWARD, BACKWARD) | {"met": 1},
        result=(FORWARD.visited, BACKWARD.visited, "met"),
    ),
    _two_sides(
        "two_then_backward", "two steps of BFS, then backward search until they meet", _met
    )._replace(plan=_out_of_step),
    _two_sides(
        "either",
        "BFS beside backward search, Yes if either arrives",
        lambda state: FORWARD.arrived(state) | BACKWARD.arrived(state),
    ),
    _two_sides(
        "both",
        "BFS beside backward search, Yes if both arrive",
        lambda state: FORWARD.arrived(state) & BACKWARD.arrived(state),
    ),
    _set_search("constant", "constant", FORWARD, "Yes", algorithm=False)._replace(
        answer=lambda state: torch.ones_like(state["one"][..., 0])
    ),
    *(_limited("bfs", "BFS", FORWARD, limit) for limit in (1, 2, 3, 4)),
    *(_limited("backward", "backward search", BACKWARD, limit) for limit in (1, 2, 3, 4)),
)
