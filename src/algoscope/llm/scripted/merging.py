"""Mechanisms that search in the description: every edge keeps who leads to it and where it leads.

`above` are nodes that lead to an edge's sender (itself first), `below` nodes to which its receiver
leads. A token sees what stands before it, so a path is put together at its latest edge in the text.

    up      above |= above of the edges that lead into it       (set asked, one node offered)
    join    above |= above of the edges below which the sender is (one node asked, set offered)

and the same for below. With `hop` an edge offers its own ends only: one hop a layer.
"""

import torch

from algoscope.llm.scripted.parts import (
    LETTERS,
    Head,
    Inbox,
    Mechanism,
    State,
    Step,
    found,
    together,
)
from algoscope.llm.scripted.reading import ASKED
from algoscope.llm.scripted.sets import BACKWARD, FORWARD, Side, parts

_UP = Head("up", (("above", "receiver", 1.0),), ("above",))
_DOWN = Head("down", (("below", "sender", 1.0),), ("below",))
_JOIN_UP = Head("join up", (("sender", "below", 1.0),), ("above",))
_JOIN_DOWN = Head("join down", (("receiver", "above", 1.0),), ("below",))
_HOP_UP, _HOP_DOWN = _UP._replace(takes=("sender",)), _DOWN._replace(takes=("receiver",))
_SETS = {"above": LETTERS, "below": LETTERS}


def _begin(state: State) -> None:
    state["above"], state["below"] = state["sender"], state["receiver"]


def _merge(state: State, inbox: Inbox) -> None:
    edge = state.has("edge")
    for head, part in (
        (_UP, "above"),
        (_JOIN_UP, "above"),
        (_DOWN, "below"),
        (_JOIN_DOWN, "below"),
    ):
        if (came := inbox.get((head.name, part))) is not None:
            state.add(part, found(came) & edge)


def _hop(state: State, inbox: Inbox) -> None:
    edge = state.has("edge")
    state.add("above", found(inbox["up", "sender"]) & edge)
    state.add("below", found(inbox["down", "receiver"]) & edge)


MERGE = Step((_UP, _DOWN, _JOIN_UP, _JOIN_DOWN), _merge)
HOP = Step((_HOP_UP, _HOP_DOWN), _hop)
_READ_HEAD = Head("read", (("source", "above", 1.0), ("goal", "below", 1.0)), ("above", "below"))


def _read_update(state: State, inbox: Inbox) -> None:
    """An edge with the source above and the goal below is attended alone if there is one; it gives
    2 in sum, and all others at most 1."""
    led = (inbox["read", "above"] * state["source"]).sum(-1, keepdim=True)
    leads = (inbox["read", "below"] * state["goal"]).sum(-1, keepdim=True)
    state.add("found", led + leads > 1.5)


READ = Step((_READ_HEAD,), _read_update)


def _found(state: State) -> torch.Tensor:
    return state.has("found")[..., 0]


def _merging(name: str, runs: str, step: Step) -> Mechanism:
    return Mechanism(
        name,
        runs,
        True,
        "depth at most the number of steps",
        plan=lambda layers: [step] * (layers - 1) + [READ],
        answer=_found,
        parts=_SETS | {"found": 1},
        begin=_begin,
        result=("found",),
    )


def _mimic(side: Side, carries: bool = False) -> Step:
    """Heads attend as a search of this side would; nothing but their own next step depends on it.

    `carries`: they attend to the token that has read the result as well, and bring it.
    """
    heads = side.heads()
    if carries:
        heads = tuple(
            head._replace(asks=(*head.asks, ("last", "worker", 1.0)), takes=(*head.takes, "found"))
            for head in heads
        )

    def update(state: State, inbox: Inbox) -> None:
        side.expand(state, side.came(inbox))
        if carries:
            for head in heads:
                state.add("found", found(inbox[head.name, "found"]) & state.has("last"))

    return Step(heads, update)


def _begin_mimic(side: Side):
    def begin(state: State) -> None:
        _begin(state)
        state[side.visited] = state[side.frontier] = state[side.begins] * state["last"]

    return begin


def _mimicking(name: str, step: Step, side: Side, runs: str) -> Mechanism:
    """Merging, and beside it heads of the last token that attend as a search does."""
    mimic = _mimic(side)
    return _merging(name, runs, step)._replace(
        plan=lambda layers: [together(step, mimic)] * (layers - 1) + [together(READ, mimic)],
        parts=_SETS | {"found": 1} | parts(side),
        begin=_begin_mimic(side),
    )


def _carried(name: str, step: Step, side: Side, runs: str) -> Mechanism:
    """Merging that the question mark reads; heads that attend as a search does pass it on."""

    def plan(layers: int) -> list[Step]:
        merging = (layers + 1) // 2
        carrying = layers - merging - 1
        return [step] * merging + [READ] + [_mimic(side, carries=True)] * carrying

    return _mimicking(name, step, side, runs)._replace(
        plan=plan,
        scope="depth at most half the number of layers",
        worker=ASKED,
        result=(),
    )


def _walk_steps(layers: int, side: Side, part: str, head: Head) -> list[Step]:
    """The description's sets double, and the worker's set takes in those of all its members."""
    walk = Head("walk", ((side.visited, side.ways[0][0], 1.0),), (part,))

    def update(state: State, inbox: Inbox) -> None:
        state.add(side.visited, found(inbox["walk", part]) & state.has("worker"))

    return [together(Step((walk,), update), Step((head,), _merge))] * layers


def _doubling(name: str, runs: str, side: Side, part: str, head: Head) -> Mechanism:
    def begin(state: State) -> None:
        _begin(state)
        state[side.visited] = state[side.begins] * state["worker"]

    return Mechanism(
        name,
        runs,
        True,
        "depth at most the number of steps",
        plan=lambda layers: _walk_steps(layers, side, part, head),
        answer=side.arrived,
        parts=_SETS | {side.visited: LETTERS},
        begin=begin,
        result=(side.visited,),
    )


_PATHS = "path merging in the description"
MERGING = (
    _merging("merging", _PATHS, MERGE),
    _merging("hops", f"{_PATHS}, one hop a layer", HOP),
    _mimicking("hops_mimic_bfs", HOP, FORWARD, f"{_PATHS}, one hop a layer, beside an idle BFS"),
    _mimicking(
        "hops_mimic_backward",
        HOP,
        BACKWARD,
        f"{_PATHS}, one hop a layer, beside an idle backward search",
    ),
    _mimicking("merging_mimic_bfs", MERGE, FORWARD, f"{_PATHS} beside an idle BFS"),
    _carried("hops_carried", HOP, FORWARD, f"{_PATHS}, one hop a layer, passed on by an idle BFS"),
    _carried("merging_carried", MERGE, FORWARD, f"{_PATHS}, passed on by an idle BFS"),
    _doubling("doubling", "doubling of reachable sets", FORWARD, "below", _DOWN),
    _doubling("doubling_backward", "doubling of sets of ancestors", BACKWARD, "above", _UP),
)
