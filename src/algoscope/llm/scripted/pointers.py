"""Mechanisms that follow one node at a time: depth-first search, and pointers to the root."""

import torch

from algoscope.llm.scripted.parts import FIRST, LAST, LETTERS, Head, Inbox, Mechanism, State, Step
from algoscope.llm.scripted.sets import TREES

_LONGEST = 32
"""Times of visits are shares of so many steps; the start's is half a step."""


def _dfs_steps(layers: int, prefers: float) -> list[Step]:
    """`visited` is when each node was visited, 0 for not yet: the most recent one with an unvisited
    child is asked, and of its children the first, or last, in the text."""
    if layers > _LONGEST:
        raise ValueError(f"layers: got {layers}, needed at most {_LONGEST} for a DFS")
    recent = 2.0 * _LONGEST
    head = Head(
        "next",
        (("visited", "sender", recent), ("visited", "receiver", -2 * layers * recent)),
        ("receiver",),
        prefers,
    )

    def update(number: int):
        def visit(state: State, inbox: Inbox) -> None:
            new = (inbox["next", "receiver"] > 0.5) & ~_seen(state)
            state["visited"] = state["visited"] + (number + 1) / _LONGEST * new

        return visit

    return [Step((head,), update(number)) for number in range(layers)]


def _seen(state: State) -> torch.Tensor:
    return state["visited"] > 0.25 / _LONGEST


def _begin_dfs(state: State) -> None:
    state["visited"] = state["source"] * state["worker"] / (2 * _LONGEST)


def _dfs(name: str, runs: str, prefers: float) -> Mechanism:
    return Mechanism(
        name,
        runs,
        True,
        "at most as many nodes within reach as steps",
        plan=lambda layers: _dfs_steps(layers, prefers),
        answer=lambda state: (_seen(state) & state.has("goal")).any(-1),
        parts={"visited": LETTERS},
        begin=_begin_dfs,
        result=("visited",),
    )


def _chosen(came: torch.Tensor) -> torch.Tensor:
    """Who was attended, if anybody was: one-hot [..., letter]."""
    return (came > 0.5).to(came.dtype)


def _parent_steps(layers: int) -> list[Step]:
    """`pointer` goes to its parent, the first in the text, and stays where there is none."""

    def update(state: State, inbox: Inbox) -> None:
        parent = _chosen(inbox["parent", "sender"])
        moves = parent.any(-1, keepdim=True)
        state["pointer"] = torch.where(moves, parent, state["pointer"])
        state.add("passed", parent > 0.5)

    head = Head("parent", (("pointer", "receiver", 1.0),), ("sender",), FIRST)
    return [Step((head,), update)] * layers


def _begin_at_goal(state: State) -> None:
    state["pointer"] = state["goal"] * state["worker"]


def _jump_steps(layers: int) -> list[Step]:
    """Every edge keeps a pointer to an ancestor of its receiver, and whom it passes on the way.

    All pointers jump at once to where the pointer of the edge jumps that leads to them: 1, 2, 4, 8
    steps, or less where that edge stands later in the text. The worker's begins at the goal.
    """

    def update(state: State, inbox: Inbox) -> None:
        target = _chosen(inbox["jump", "pointer"])
        moves = target.any(-1, keepdim=True)
        state["pointer"] = torch.where(moves, target, state["pointer"])
        state.add("passed", moves & (inbox["jump", "passed"] > 0.5))

    head = Head("jump", (("pointer", "receiver", 1.0),), ("pointer", "passed"), FIRST)
    return [Step((head,), update)] * layers


def _begin_jumps(state: State) -> None:
    state["pointer"] = state["goal"] * state["worker"] + state["sender"]
    state["passed"] = state["sender"]


def _pointer(name: str, runs: str, plan, begin, answer: str, scope: str) -> Mechanism:
    return Mechanism(
        name,
        runs,
        answer == "passed",
        scope,
        plan=plan,
        answer=lambda state: state.overlap(answer, "source"),
        parts={"pointer": LETTERS, "passed": LETTERS},
        begin=begin,
        result=("pointer", "passed"),
    )


_ROOTS = f"{TREES}starts that are roots, "
POINTERS = (
    _dfs("dfs", "DFS", FIRST),
    _dfs("dfs_last", "DFS, last first", LAST),
    _pointer(
        "pointer",
        "backward search that follows one parent",
        _parent_steps,
        _begin_at_goal,
        "passed",
        f"{TREES}depth at most the number of steps",
    ),
    _pointer(
        "root",
        "test whether the start is the root of the goal",
        _parent_steps,
        _begin_at_goal,
        "pointer",
        f"{_ROOTS}depth at most the number of steps",
    ),
    _pointer(
        "pointer_doubling",
        "pointer doubling from the goal, test of the root",
        _jump_steps,
        _begin_jumps,
        "pointer",
        f"{_ROOTS}depth at most the number of steps",
    ),
    _pointer(
        "pointer_doubling_passed",
        "pointer doubling from the goal with the nodes passed",
        _jump_steps,
        _begin_jumps,
        "passed",
        f"{TREES}depth at most the number of steps",
    ),
)
