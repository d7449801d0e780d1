"""As strangers.py, and written with it, but judged only after the verdict had been mended: what
was changed there has not seen these.
"""

import torch

from algoscope.llm.scripted.heuristics import HEURISTICS
from algoscope.llm.scripted.merging import MERGE, MERGING
from algoscope.llm.scripted.parts import (
    FIRST,
    LAST,
    LETTERS,
    Head,
    Inbox,
    Mechanism,
    State,
    Step,
    found,
    together,
)
from algoscope.llm.scripted.pointers import POINTERS
from algoscope.llm.scripted.reading import GOAL, Prompt
from algoscope.llm.scripted.sets import (
    BACKWARD,
    EVERYWHERE,
    FORWARD,
    SETS,
    UNDIRECTED,
    Side,
    parts,
    step,
)
from algoscope.llm.scripted.strangers import begin_in_turn

_OLD = {m.name: m for m in (*SETS, *POINTERS, *MERGING, *HEURISTICS)}
_BFS, _BOTH = _OLD["bfs"], _OLD["bidirectional"]

# Edges that some searches do not see.


def _tell_early(state: State, prompt: Prompt) -> None:
    """The sender of each of the first twelve edges."""
    state["seen sender"] = prompt.sender * (prompt.edge.cumsum(1) <= 12)[..., None]


def _tell_first_edges(state: State, prompt: Prompt) -> None:
    """The sender of each edge that is the first to lead to its receiver."""
    first = ((prompt.receiver.cumsum(1) * prompt.receiver).sum(-1) < 1.5)[..., None]
    state["seen sender"] = prompt.sender * first


def _tell_way(state: State, prompt: Prompt) -> None:
    """An oracle: the sender of each edge on a way from the start to the goal."""
    leads = prompt.asked(GOAL, 0).sum(1)
    for _ in range(LETTERS):
        back = torch.einsum("bsr,br->bs", prompt.adjacency.float(), leads)
        leads = ((leads + back) > 0.5).float()
    on_way = ((prompt.sender * (prompt.levels >= 0)[:, None]).sum(-1) > 0.5) & (
        (prompt.receiver * leads[:, None]).sum(-1) > 0.5
    )
    state["seen sender"] = prompt.cheat * prompt.sender * on_way[..., None]


_SOME = Side("forward", "source", "goal", (("seen sender", "receiver"),))


def along_some(name: str, runs: str, scope: str, tell) -> Mechanism:
    return _BFS._replace(
        name=name,
        runs=runs,
        algorithm=False,
        scope=scope,
        plan=lambda layers: [step(_SOME)] * layers,
        parts=parts(_SOME) | {"seen sender": LETTERS},
        tell=tell,
    )


def _walkers(layers: int) -> list[Step]:
    """One walks on along the first edge in the text, the other along the last."""

    def walk(name: str, prefers: float) -> Step:
        head = Head(name, ((name, "sender", 1.0),), ("receiver",), prefers)

        def update(state: State, inbox: Inbox) -> None:
            new = (inbox[name, "receiver"] > 0.5).float()
            state[name] = torch.where(new.any(-1, keepdim=True), new, state[name])
            state.add("passed", new > 0.5)

        return Step((head,), update)

    return [together(walk("one", FIRST), walk("two", LAST))] * layers


def _begin_walks(state: State) -> None:
    state["one"] = state["two"] = state["passed"] = state["source"] * state["worker"]


def _voted(state: State) -> torch.Tensor:
    votes = (FORWARD.arrived(state), BACKWARD.arrived(state), _OLD["dfs"].answer(state))
    return torch.stack(votes).float().sum(0) > 1.5


def _all_three(layers: int) -> list[Step]:
    return [together(step(FORWARD, BACKWARD), one) for one in _OLD["dfs"].plan(layers)]


def _begin_apart(state: State) -> None:
    """The goal's search in the goal's own token of the question, the start's in the last token."""
    BACKWARD.begin(state)
    here = state["source"] * state["last"]
    state[FORWARD.visited] = state[FORWARD.frontier] = here


_COLLECT = Head("collect", (("goal", "below", 1.0),), ("above",))


def _collect(state: State, inbox: Inbox) -> None:
    state.add("collected", found(inbox["collect", "above"]) & state.has("worker"))


def _merging_beside_dfs(layers: int) -> list[Step]:
    merging = _OLD["merging"].plan(layers)
    return [together(*both) for both in zip(merging, _OLD["dfs"].plan(layers), strict=True)]


LATE_STRANGERS = (
    _BOTH._replace(
        name="bidirectional_apart",
        runs="bidirectional search, each end in a token of its own",
        scope="depth at most twice the number of steps less one",
        begin=_begin_apart,
        worker=GOAL,
        result=(BACKWARD.visited,),
    ),
    _BOTH._replace(
        name="bidirectional_1",
        runs="bidirectional search for 1 step only",
        algorithm=False,
        scope="depth at most 2",
        plan=lambda layers: [step(FORWARD, BACKWARD)],
    ),
    _BFS._replace(
        name="undirected_first",
        runs="BFS that ignores the arrows in its first step",
        algorithm=False,
        scope="starts that no arrow leads to",
        plan=lambda layers: [step(UNDIRECTED)] + [step(FORWARD)] * (layers - 1),
    ),
    _BFS._replace(
        name="undirected_later",
        runs="BFS for 2 steps, then a search that ignores the arrows",
        algorithm=False,
        scope="starts from which all of their undirected component can be reached",
        plan=lambda layers: (
            [step(FORWARD, everybody=True)] * 2 + [step(UNDIRECTED, everybody=True)] * (layers - 2)
        ),
    ),
    _OLD["often"]._replace(
        name="backward_3_often",
        runs="backward search for 3 steps, then: most mentioned",
        scope="reachable goals of depth at most 3",
        plan=lambda layers: [step(BACKWARD)] * 3 + _OLD["often"].plan(1),
        answer=lambda state: BACKWARD.arrived(state) | state.has("says")[..., 0],
        parts={**_OLD["often"].parts, **parts(BACKWARD)},
        begin=BACKWARD.begin,
        result=(BACKWARD.visited, "says"),
    ),
    along_some(
        "bfs_twelve_edges",
        "BFS along the first twelve edges of the text",
        "at most twelve edges",
        _tell_early,
    ),
    along_some(
        "bfs_first_parents",
        "BFS along the first edge into each node",
        "one parent a node",
        _tell_first_edges,
    ),
    along_some(
        "told_way",
        "search along the edges that an oracle has marked as the way",
        "told, not found",
        _tell_way,
    ),
    _OLD["pointer"]._replace(
        name="walkers",
        runs="two walks from the start, along first and last edges",
        algorithm=False,
        scope="reachable goals on the two walks",
        plan=_walkers,
        answer=lambda state: state.overlap("passed", "goal"),
        parts={"one": LETTERS, "two": LETTERS, "passed": LETTERS},
        begin=_begin_walks,
        result=("passed",),
    ),
    _BOTH._replace(
        name="vote",
        runs="BFS, backward search and DFS beside each other, the majority's answer",
        scope=EVERYWHERE,
        plan=_all_three,
        answer=_voted,
        parts=parts(FORWARD, BACKWARD) | {"visited": LETTERS},
        begin=begin_in_turn(_BOTH.begin, _OLD["dfs"].begin),
        result=(FORWARD.visited, BACKWARD.visited, "visited"),
    ),
    _BOTH._replace(
        name="seventy_thirty",
        runs="70 % BFS, 30 % backward search",
        scope=EVERYWHERE,
        answer=lambda state: 0.7 * FORWARD.arrived(state) + 0.3 * BACKWARD.arrived(state),
    ),
    _BOTH._replace(
        name="two_back_then_bfs",
        runs="two steps of backward search, then BFS until they meet",
        scope=EVERYWHERE,
        plan=lambda layers: [step(BACKWARD)] * 2 + [step(FORWARD)] * (layers - 2),
    ),
    _OLD["dfs"]._replace(
        name="dfs_6",
        runs="DFS for 6 steps only",
        algorithm=False,
        scope="at most 6 nodes within reach",
        plan=lambda layers: _OLD["dfs"].plan(6),
    ),
    _OLD["merging"]._replace(
        name="merging_mimic_dfs",
        runs="path merging in the description beside an idle DFS",
        plan=_merging_beside_dfs,
        parts={**_OLD["merging"].parts, "visited": LETTERS},
        begin=begin_in_turn(_OLD["merging"].begin, _OLD["dfs"].begin),
    ),
    _OLD["merging"]._replace(
        name="merging_at_goal",
        runs="path merging in the description, collected by the goal's token of the question",
        scope="depth at most the number of steps less one",
        plan=lambda layers: [MERGE] * (layers - 1) + [Step((_COLLECT,), _collect)],
        answer=lambda state: state.overlap("collected", "source"),
        parts={**_OLD["merging"].parts, "collected": LETTERS},
        worker=GOAL,
        result=("collected",),
    ),
)
