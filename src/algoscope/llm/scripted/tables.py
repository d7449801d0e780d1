"""Mechanisms that load the whole maze into one token at once, as a table [sender, receiver], and
search it there without any attention: what a network does whose MLPs do the work."""

import torch

from algoscope.llm.scripted.parts import LETTERS, Head, Inbox, Mechanism, State, Step, together
from algoscope.llm.scripted.sets import BACKWARD, FORWARD, Side, begin_all, parts, step

_LEAST = 0.004
"""What an edge brings if all of up to 250 are attended alike."""
_LOAD_HEAD = Head("load", (("worker", "edge", 1.0),), ("table",))


def _table(state: State) -> torch.Tensor:
    """bool [..., sender, receiver]"""
    return (state["table"] > 0.5).unflatten(-1, (LETTERS, LETTERS))


def _begin_table(state: State) -> None:
    """An edge has a table of its own, with one entry."""
    state["table"] = (state["sender"][..., :, None] * state["receiver"][..., None, :]).flatten(-2)


def _load(state: State, inbox: Inbox) -> None:
    state.add("table", (inbox["load", "table"] > _LEAST) & state.has("worker"))


def _search(state: State, inbox: Inbox) -> None:
    frontier, table = state[FORWARD.frontier], _table(state).to(state.hidden.dtype)
    FORWARD.expand(state, torch.einsum("...s,...sr->...r", frontier, table) > 0.5)


def _square(state: State, inbox: Inbox) -> None:
    """Who leads to whom in up to twice as many steps as before."""
    table = _table(state).to(state.hidden.dtype)
    state.add("table", ((table @ table) > 0.5).flatten(-2))


def _leads(state: State) -> torch.Tensor:
    way = state.has("source")[..., :, None] & _table(state) & state.has("goal")[..., None, :]
    return way.flatten(-2).any(-1)


_LOAD = Step((_LOAD_HEAD,), _load)
_ROOM = {"table": LETTERS * LETTERS}


def _bfs_plan(layers: int) -> list[Step]:
    return [_LOAD, *[Step((), _search)] * (layers - 1)]


def _mimicking(side: Side):
    """BFS in the table, while heads attend as another search does, for nothing."""

    def plan(layers: int) -> list[Step]:
        return [together(one, step(side)) for one in _bfs_plan(layers)]

    return plan


def _begin_bfs(*mimics: Side):
    def begin(state: State) -> None:
        _begin_table(state)
        begin_all(FORWARD, *mimics)(state)

    return begin


_BFS = Mechanism(
    "table_bfs",
    "BFS",
    True,
    "depth at most the number of steps less one",
    plan=_bfs_plan,
    answer=FORWARD.arrived,
    parts=_ROOM | parts(FORWARD),
    begin=_begin_bfs(),
    result=(FORWARD.visited,),
)
TABLES = (
    _BFS,
    _BFS._replace(
        name="table_bfs_mimic_backward",
        runs="BFS beside an idle backward search",
        plan=_mimicking(BACKWARD),
        parts=_ROOM | parts(FORWARD, BACKWARD),
        begin=_begin_bfs(BACKWARD),
    ),
    Mechanism(
        "table_squaring",
        "doubling of reachable sets, all at once",
        True,
        "depth at most 2 to the number of steps less one",
        plan=lambda layers: [_LOAD, *[Step((), _square)] * (layers - 1)],
        answer=_leads,
        parts=_ROOM,
        begin=_begin_table,
        result=("table",),
    ),
)
