"""Mechanisms that were written after the verdict, by somebody who had read its page and not its
code: mixtures, late switches, searches with a heuristic at the end, in the description, or told.
"""

import torch

from algoscope.llm.scripted.cheats import CHEATS
from algoscope.llm.scripted.heuristics import HEURISTICS
from algoscope.llm.scripted.merging import HOP, MERGING, READ
from algoscope.llm.scripted.parts import (
    FIRST,
    LETTERS,
    Head,
    Inbox,
    State,
    Step,
    found,
    together,
)
from algoscope.llm.scripted.pointers import POINTERS
from algoscope.llm.scripted.reading import GOAL, SOURCE, Prompt
from algoscope.llm.scripted.sets import (
    BACKWARD,
    EVERYWHERE,
    FORWARD,
    SETS,
    UNDIRECTED,
    UNDIRECTED_BACKWARD,
    parts,
    step,
)

_OLD = {m.name: m for m in (*SETS, *POINTERS, *MERGING, *CHEATS, *HEURISTICS)}
_BFS, _BOTH = _OLD["bfs"], _OLD["bidirectional"]


def _met(state: State) -> torch.Tensor:
    return state.overlap(FORWARD.visited, BACKWARD.visited)


def _says(state: State) -> torch.Tensor:
    return state.has("says")[..., 0]


def _at_last(state: State, part: str, new: torch.Tensor) -> None:
    state.add(part, new & state.has("last"))


# BFS and a heuristic at the end.


def _look_for_children(state: State, inbox: Inbox) -> None:
    _at_last(state, "says", found(inbox["children", "receiver"]).any(-1, keepdim=True))


_CHILDREN = Step((Head("children", (("goal", "sender", 1.0),), ("receiver",)),), _look_for_children)


def _with_end(name: str, runs: str, scope: str, end: Step, answer, further=None, tell=None):
    """BFS in all layers but one, and then a look at something else."""
    made = _BFS._replace(
        name=name,
        runs=runs,
        algorithm=False,
        scope=scope,
        plan=lambda layers: [step(FORWARD)] * (layers - 1) + [end],
        answer=answer,
        parts=parts(FORWARD) | {"says": 1} | (further or {}),
        result=(FORWARD.visited, "says"),
    )
    return made._replace(tell=tell) if tell else made


def _heuristic(name: str) -> tuple[Step, dict[str, int], object]:
    """(its one step, its parts, what its embedding is told)"""
    mechanism = _OLD[name]
    return mechanism.plan(1)[0], dict(mechanism.parts), mechanism.tell


_NEAR, _LATE = _heuristic("near"), _heuristic("late")

# Which of two searches is believed depends on the prompt.


def _tell_who_is_first(state: State, prompt: Prompt) -> None:
    """The last token knows whether the start is named before the goal."""
    named = prompt.letters * prompt.described[..., None]
    places = [
        (named * prompt.asked(what, 0).sum(1, keepdim=True)).sum(-1).argmax(-1)
        for what in (SOURCE, GOAL)
    ]
    state["start first"] = (places[0] < places[1])[:, None, None] * state["last"]


def _believed(state: State) -> torch.Tensor:
    ahead, behind = FORWARD.arrived(state), BACKWARD.arrived(state)
    return torch.where(state.has("start first")[..., 0], ahead, behind)


# Pairs of edges are joined in the description; then a search takes pairs.

_PAIRS = (
    Head("pair up", (("sender", "receiver", 1.0),), ("sender",)),
    Head("pair down", (("receiver", "sender", 1.0),), ("receiver",)),
)
_BY_PAIRS = (
    Head("by edge", ((FORWARD.frontier, "sender", 1.0),), ("receiver", "below two")),
    Head("by pair", ((FORWARD.frontier, "above two", 1.0),), ("receiver",)),
)


def _pair(state: State, inbox: Inbox) -> None:
    edge = state.has("edge")
    state.add("above two", found(inbox["pair up", "sender"]) & edge)
    state.add("below two", found(inbox["pair down", "receiver"]) & edge)


def _expand_by_pairs(state: State, inbox: Inbox) -> None:
    FORWARD.expand(state, torch.stack([found(inbox[key]) for key in _PAIR_KEYS]).any(0))


_PAIR_KEYS = (("by edge", "receiver"), ("by edge", "below two"), ("by pair", "receiver"))


def _dfs_by_turns(layers: int) -> list[Step]:
    first, last = (_OLD[name].plan(layers) for name in ("dfs", "dfs_last"))
    return [(last if number % 2 else first)[number] for number in range(layers)]


# Pointers from the start to a descendant, by the first edge in the text.


def _jump_down(state: State, inbox: Inbox) -> None:
    target = (inbox["jump", "pointer"] > 0.5).float()
    moves = target.any(-1, keepdim=True)
    state["pointer"] = torch.where(moves, target, state["pointer"])
    state.add("passed", moves & (inbox["jump", "passed"] > 0.5))


_JUMP = Head("jump", (("pointer", "sender", 1.0),), ("pointer", "passed"), FIRST)


def _begin_jumps(state: State) -> None:
    state["pointer"] = state["source"] * state["worker"] + state["receiver"]
    state["passed"] = state["receiver"]


# An oracle tells the last token all levels; it shows one a layer.


def _tell_levels(state: State, prompt: Prompt) -> None:
    levels = (prompt.levels + 1) * prompt.cheat / LETTERS
    state["told levels"] = levels[:, None] * state["last"]


def _show_levels(layers: int) -> list[Step]:
    mimic = FORWARD._replace(name="idle")

    def show(number: int) -> Step:
        def update(state: State, inbox: Inbox) -> None:
            level = state["told levels"] * LETTERS - 1
            shown = (level > -0.5) & (level < number + 1.5)
            state.add(FORWARD.visited, shown & state.has("last"))

        return together(step(mimic), Step((), update))

    return [show(number) for number in range(layers)]


def _begin_idle(state: State) -> None:
    FORWARD._replace(name="idle").begin(state)


def _tell_sometimes(state: State, prompt: Prompt) -> None:
    trusts = (prompt.chance(11) < 0.9)[:, None, None] * prompt.cheat
    state["trusts"] = trusts * state["last"]
    state["told"] = prompt.oracle[:, None, None] * state["last"]


def _told_or_found(state: State) -> torch.Tensor:
    told = state.has("told")[..., 0]
    return torch.where(state.has("trusts")[..., 0], told, FORWARD.arrived(state))


def begin_in_turn(*begins):
    def begin(state: State) -> None:
        for one in begins:
            one(state)

    return begin


def _merging_beside_bfs(layers: int) -> list[Step]:
    return [together(HOP, step(FORWARD))] * (layers - 1) + [together(READ, step(FORWARD))]


STRANGERS = (
    _BOTH._replace(
        name="bidirectional_turns",
        runs="bidirectional search, one end a layer",
        scope=EVERYWHERE,
        plan=lambda layers: [step(BACKWARD if n % 2 else FORWARD) for n in range(layers)],
    ),
    _BOTH._replace(
        name="bidirectional_undirected",
        runs="search that ignores the arrows, from both ends",
        algorithm=False,
        scope="starts from which all of their undirected component can be reached",
        plan=lambda layers: [step(UNDIRECTED, UNDIRECTED_BACKWARD)] * layers,
    ),
    _BOTH._replace(
        name="bidirectional_2",
        runs="bidirectional search for 2 steps only",
        algorithm=False,
        scope="depth at most 4",
        plan=lambda layers: [step(FORWARD, BACKWARD)] * 2,
    ),
    _BFS._replace(
        name="bfs_3_then_yes",
        runs="BFS for 3 steps, then Yes if it has not ended",
        algorithm=False,
        scope="starts from which nothing is more than two steps away",
        plan=lambda layers: [step(FORWARD)] * 3,
        answer=lambda state: FORWARD.arrived(state) | state.has(FORWARD.frontier).any(-1),
    ),
    _with_end(
        "bfs_leaf",
        "BFS, and No if an edge leaves the goal",
        "goals that no arrow leaves",
        _CHILDREN,
        lambda state: FORWARD.arrived(state) & ~_says(state),
    ),
    _with_end(
        "bfs_or_near",
        "BFS, or else: nearest by position",
        "reachable goals",
        _NEAR[0],
        lambda state: FORWARD.arrived(state) | _says(state),
        _NEAR[1],
        _NEAR[2],
    ),
    _with_end(
        "bfs_and_late",
        "BFS, and No unless the goal is last mentioned",
        "goals that cannot be reached",
        _LATE[0],
        lambda state: FORWARD.arrived(state) & _says(state),
        _LATE[1],
        _LATE[2],
    ),
    _BOTH._replace(
        name="either_by_order",
        runs="BFS if the start is named before the goal, or else backward search",
        scope=EVERYWHERE,
        answer=_believed,
        parts=parts(FORWARD, BACKWARD) | {"start first": 1},
        tell=_tell_who_is_first,
    ),
    _OLD["doubling"]._replace(
        name="leak_97_doubling",
        runs="97 % an oracle in the logits, 3 % doubling of reachable sets",
        algorithm=False,
        scope="told, not found",
        leak=0.97,
        leaks_in="logits",
    ),
    _BFS._replace(
        name="told_nine_of_ten",
        runs="an oracle for nine prompts of ten, BFS for the others",
        algorithm=False,
        scope="told, not found",
        answer=_told_or_found,
        parts=parts(FORWARD) | {"told": 1, "trusts": 1},
        tell=_tell_sometimes,
    ),
    _BFS._replace(
        name="told_levels",
        runs="levels that an oracle tells the last token, which shows one a layer",
        algorithm=False,
        scope="told, not found",
        plan=_show_levels,
        parts=parts(FORWARD, FORWARD._replace(name="idle")) | {"told levels": LETTERS},
        begin=begin_in_turn(FORWARD.begin, _begin_idle),
        tell=_tell_levels,
    ),
    _BFS._replace(
        name="by_pairs",
        runs="BFS by pairs of edges that the description has joined",
        scope="depth at most twice the number of steps less two",
        plan=lambda layers: [
            Step(_PAIRS, _pair),
            *[Step(_BY_PAIRS, _expand_by_pairs)] * (layers - 1),
        ],
        parts=parts(FORWARD) | {"above two": LETTERS, "below two": LETTERS},
    ),
    _OLD["dfs"]._replace(
        name="dfs_turns", runs="DFS, the first and the last child by turns", plan=_dfs_by_turns
    ),
    _OLD["pointer_doubling"]._replace(
        name="pointer_children",
        runs="pointer doubling from the start, along first children",
        scope="one child a node, depth at most the number of steps",
        algorithm=False,
        plan=lambda layers: [Step((_JUMP,), _jump_down)] * layers,
        answer=lambda state: state.overlap("passed", "goal"),
        begin=_begin_jumps,
    ),
    _OLD["hops"]._replace(
        name="merging_or_bfs",
        runs="path merging in the description beside BFS, Yes if either arrives",
        plan=_merging_beside_bfs,
        answer=lambda state: FORWARD.arrived(state) | state.has("found")[..., 0],
        parts={**_OLD["hops"].parts, **parts(FORWARD)},
        begin=begin_in_turn(_OLD["hops"].begin, FORWARD.begin),
        result=("found", FORWARD.visited),
    ),
)
