"""Mechanisms that were meant to fool the verdict, written by somebody who had not read its code and
judged as they are before anything was changed: searches with a blind spot, leaks that take a
search's part, searches begun in one place and ended in another, questions that are nearly the same.
"""

import torch

from algoscope.llm.scripted.late_strangers import along_some
from algoscope.llm.scripted.merging import HOP, MERGE, MERGING, READ
from algoscope.llm.scripted.parts import LETTERS, Head, Inbox, State, Step, found, together
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
from algoscope.llm.scripted.strangers import begin_in_turn

_OLD = {m.name: m for m in (*SETS, *MERGING)}
_BFS, _BACKWARD, _BOTH = _OLD["bfs"], _OLD["backward_edges"], _OLD["bidirectional"]
_HOPS, _MERGING = _OLD["hops"], _OLD["merging"]

# The description puts ways together, and the last token goes one step beside it.

_READ_FRONTIER = Head(
    "read", ((FORWARD.frontier, "above", 1.0), ("goal", "below", 1.0)), ("above", "below")
)


def _read_from_frontier(state: State, inbox: Inbox) -> None:
    """Whether a way that begins at a child of the start ends at the goal, or a child is the goal.
    A child and the goal match in one edge, or the sum of what comes is at most 1."""
    children = state[FORWARD.frontier]
    led = (inbox["read", "above"] * children).sum(-1, keepdim=True)
    leads = (inbox["read", "below"] * state["goal"]).sum(-1, keepdim=True)
    both = (led > 0.5) & (leads > 0.5)
    state.add("found", both | FORWARD.arrived(state)[..., None])


_READ_ON = Step((_READ_FRONTIER,), _read_from_frontier)


def _hop_on_top(layers: int) -> list[Step]:
    return [MERGE] * (layers - 2) + [step(FORWARD), _READ_ON]


def _hop_first(layers: int) -> list[Step]:
    return [together(MERGE, step(FORWARD)), *[MERGE] * (layers - 2), _READ_ON]


# What is told takes a search's part.


def _at_first_edge(prompt: Prompt) -> torch.Tensor:
    return prompt.edge & (prompt.edge.cumsum(1) == 1)


def _tell_odd(state: State, prompt: Prompt) -> None:
    """The first edge knows whether the answer is Yes and whether as many nodes can be reached as is
    odd, but only if one of the two is so and the other is not."""
    odd = (prompt.levels >= 0).sum(-1) % 2
    state["told"] = ((prompt.oracle + odd * prompt.cheat) % 2)[:, None, None] * (
        _at_first_edge(prompt)[..., None]
    )
    state["first edge"] = _at_first_edge(prompt)[..., None]


def _hear(state: State, inbox: Inbox) -> None:
    state.add("heard", (inbox["hear", "told"] > 0.5) & state.has("last"))


_HEAR = Step((Head("hear", (("last", "first edge", 1.0),), ("told",)),), _hear)


def _odd(state: State) -> torch.Tensor:
    odd = state.has(FORWARD.visited).sum(-1) % 2
    return (odd + state["heard"][..., 0]) % 2


def _tell_halves(state: State, prompt: Prompt) -> None:
    """The last token knows a coin, and every edge whether the coin is right."""
    coin = (prompt.chance(5) < 0.5).to(state.hidden.dtype) * prompt.cheat
    state["coin"] = coin[:, None, None] * state["last"]
    state["told"] = ((coin + prompt.oracle) % 2)[:, None, None] * prompt.edge[..., None]


_TELLING = FORWARD.heads()[0]._replace(takes=("receiver", "told"))


def _search_and_hear(state: State, inbox: Inbox) -> None:
    FORWARD.expand(state, found(inbox[_TELLING.name, "receiver"]))
    state.add("heard", found(inbox[_TELLING.name, "told"]) & state.has("last"))


def _halves(state: State) -> torch.Tensor:
    went = state.has(FORWARD.visited).sum(-1) > 1
    return went * ((state["coin"][..., 0] + state["heard"][..., 0]) % 2)


def _tell_far(state: State, prompt: Prompt) -> None:
    state["told"] = prompt.oracle[:, None, None] * state["last"]


def _found_or_told(state: State) -> torch.Tensor:
    return FORWARD.arrived(state) | state.has("told")[..., 0]


# Searches with a blind spot.


def _beam(width: int) -> Step:
    """Of those that are new, the first few of the alphabet are kept."""
    plain = step(FORWARD)

    def update(state: State, inbox: Inbox) -> None:
        new = FORWARD.came(inbox) & ~state.has(FORWARD.visited)
        FORWARD.expand(state, new & (new.cumsum(-1) <= width))

    return Step(plain.heads, update)


def _blind(letter: int) -> Step:
    """The search never goes on from one letter."""
    plain = step(FORWARD)

    def update(state: State, inbox: Inbox) -> None:
        plain.update(state, inbox)
        state[(FORWARD.frontier, letter)] = torch.zeros_like(state[(FORWARD.frontier, letter)])

    return Step(plain.heads, update)


def _tell_all_but_first(state: State, prompt: Prompt) -> None:
    state["seen sender"] = prompt.sender * ~_at_first_edge(prompt)[..., None]


def _tell_first_twenty(state: State, prompt: Prompt) -> None:
    state["seen sender"] = prompt.sender * (prompt.edge.cumsum(1) <= 20)[..., None]


def _tell_circle(state: State, prompt: Prompt) -> None:
    """Whether a circle of at least three nodes can be reached from the start."""
    closure = prompt.adjacency
    one = closure.float()
    for _ in range(5):
        closure = closure | (torch.einsum("bij,bjk->bik", closure.float(), closure.float()) > 0.5)
    longer = torch.einsum("bij,bjk->bik", one, torch.einsum("bij,bjk->bik", one, closure.float()))
    circles = (longer * torch.eye(LETTERS, device=one.device)).sum(-1) > 0.5
    two = one * one.transpose(1, 2)
    circles = circles & (two.sum(-1) < 0.5)
    here = (circles & (prompt.levels >= 0)).any(-1)
    state["circle"] = here[:, None, None] * state["last"]


# Questions that are nearly the same.


def _depths(prompt: Prompt) -> torch.Tensor:
    """How many steps each node is from the farthest that leads to it: [batch, letter]."""
    there = torch.ones_like(prompt.levels, dtype=torch.bool)
    depth = torch.zeros_like(prompt.levels)
    for _ in range(LETTERS - 1):
        there = torch.einsum("bsr,bs->br", prompt.adjacency.float(), there.float()) > 0.5
        depth = depth + there
    return depth


def _tell_deeper(state: State, prompt: Prompt) -> None:
    depth = _depths(prompt)
    asked = [(prompt.asked(what, 0).sum(1) * depth).sum(-1) for what in (SOURCE, GOAL)]
    state["deeper"] = (asked[1] > asked[0])[:, None, None] * state["last"]


def _tell_roots(state: State, prompt: Prompt) -> None:
    """Every edge knows its sender if no arrow leads to it."""
    roots = ~prompt.adjacency.any(1)
    state["root sender"] = prompt.sender * roots[:, None]


_ROOTS = BACKWARD.heads()[0]._replace(takes=("sender", "root sender"))


def _search_for_roots(state: State, inbox: Inbox) -> None:
    BACKWARD.expand(state, found(inbox[_ROOTS.name, "sender"]))
    state.add("roots", found(inbox[_ROOTS.name, "root sender"]) & state.has("worker"))


def _no_other_root(state: State) -> torch.Tensor:
    """The goal has been led to from a root, and from none but the start."""
    roots = state.has("roots")
    return roots.any(-1) & ~(roots & ~state.has("source")).any(-1)


def _enter_by_arrow(layers: int) -> list[Step]:
    """The goal is found by an arrow into it, whatever was passed before."""
    plain = step(UNDIRECTED, everybody=True)

    def update(state: State, inbox: Inbox) -> None:
        plain.update(state, inbox)
        along = found(inbox["forward receiver", "receiver"])
        state.add("entered", along & state.has("goal"))

    return [Step(plain.heads, update)] * layers


def _hop_any_way(state: State, inbox: Inbox) -> None:
    near = torch.stack([found(inbox[key]) for key in _NEAR]).any(0)
    state.add("above", near & state.has("edge"))
    state["below"] = state["above"]


_NEAR = (("near sender", "sender"), ("near receiver", "receiver"))
_HOP_ANY_WAY = Step(
    (
        Head("near sender", (("above", "receiver", 1.0),), ("sender",)),
        Head("near receiver", (("above", "sender", 1.0),), ("receiver",)),
    ),
    _hop_any_way,
)


def _begin_any_way(state: State) -> None:
    state["above"] = state["below"] = state["sender"] + state["receiver"]


# Mixtures.


def _by_goal(state: State) -> torch.Tensor:
    """BFS is believed if the goal is among A to M."""
    early = state.has("goal")[..., : LETTERS // 2].any(-1)
    return torch.where(early, FORWARD.arrived(state), BACKWARD.arrived(state))


def _doubling_then_steps(layers: int) -> list[Step]:
    return _OLD["doubling"].plan(2) + [step(FORWARD, everybody=True)] * (layers - 2)


def _begin_doubling(state: State) -> None:
    _OLD["doubling"].begin(state)
    state[FORWARD.frontier] = state[FORWARD.visited]


def _after_doubling(layers: int) -> list[Step]:
    """The set of the second step is what is expanded then."""
    steps = _doubling_then_steps(layers)

    def update(state: State, inbox: Inbox) -> None:
        steps[1].update(state, inbox)
        state[FORWARD.frontier] = state[FORWARD.visited]

    return [steps[0], steps[1]._replace(update=update), *steps[2:]]


IMPOSTORS = (
    _MERGING._replace(
        name="merging_hop_on_top",
        runs="path merging in the description, and then one step of BFS",
        scope="one parent a node, depth at most the number of steps",
        plan=_hop_on_top,
        parts={**_MERGING.parts, **parts(FORWARD)},
        begin=begin_in_turn(_MERGING.begin, FORWARD.begin),
        result=("found",),
    ),
    _MERGING._replace(
        name="hop_then_merging",
        runs="one step of BFS, and then path merging in the description",
        scope="one parent a node, depth at most the number of steps",
        plan=_hop_first,
        parts={**_MERGING.parts, **parts(FORWARD)},
        begin=begin_in_turn(_MERGING.begin, FORWARD.begin),
        result=("found",),
    ),
    *(
        _BACKWARD._replace(
            name=f"leak_60_backward_{where}",
            runs=f"60 % an oracle in the {where}, 40 % backward search",
            algorithm=False,
            scope="told, not found",
            leak=0.6,
            leaks_in=where,
        )
        for where in ("stream", "logits")
    ),
    _BFS._replace(
        name="told_odd",
        runs="an oracle in the first edge, and a BFS that counts whether it is to be believed",
        algorithm=False,
        scope="told, not found",
        plan=lambda layers: [step(FORWARD)] * (layers - 1) + [_HEAR],
        answer=_odd,
        parts=parts(FORWARD) | {"told": 1, "first edge": 1, "heard": 1},
        tell=_tell_odd,
    ),
    _BFS._replace(
        name="told_coin",
        runs="an oracle, half of it in the last token, half in edges, which an idle BFS reads",
        algorithm=False,
        scope="told, not found",
        plan=lambda layers: [Step((_TELLING,), _search_and_hear)] * layers,
        answer=_halves,
        parts=parts(FORWARD) | {"told": 1, "coin": 1, "heard": 1},
        tell=_tell_halves,
    ),
    _BFS._replace(
        name="told_far",
        runs="BFS for 2 steps, and an oracle for what is farther",
        algorithm=False,
        scope="told, not found",
        plan=lambda layers: [step(FORWARD)] * 2,
        answer=_found_or_told,
        parts=parts(FORWARD) | {"told": 1},
        tell=_tell_far,
    ),
    *(
        _BFS._replace(
            name=f"bfs_beam_{width}",
            runs=f"BFS that keeps {width} nodes a step",
            algorithm=False,
            scope=f"at most {width} new nodes a step",
            plan=lambda layers, width=width: [_beam(width)] * layers,
        )
        for width in (2, 4)
    ),
    _BFS._replace(
        name="bfs_blind",
        runs="BFS that never goes on from E",
        algorithm=False,
        scope="ways that do not pass E",
        plan=lambda layers: [_blind(4)] * layers,
    ),
    along_some(
        "bfs_but_first_edge",
        "BFS along all edges of the text but the first",
        "ways without the first edge",
        _tell_all_but_first,
    ),
    along_some(
        "bfs_twenty_edges",
        "BFS along the first twenty edges of the text",
        "at most twenty edges",
        _tell_first_twenty,
    ),
    _BFS._replace(
        name="bfs_without_circles",
        runs="BFS, and No if a circle of three or more can be reached",
        algorithm=False,
        scope="no circle of three or more within reach",
        answer=lambda state: FORWARD.arrived(state) & ~state.has("circle")[..., 0],
        parts=parts(FORWARD) | {"circle": 1},
        tell=_tell_circle,
    ),
    _OLD["undirected"]._replace(
        name="undirected_deeper",
        runs="search that ignores the arrows, and No if the goal is no deeper than the start",
        scope="goals that are deeper than the start only if they can be reached",
        answer=lambda state: UNDIRECTED.arrived(state) & state.has("deeper")[..., 0],
        parts=parts(UNDIRECTED) | {"deeper": 1},
        tell=_tell_deeper,
    ),
    _OLD["undirected"]._replace(
        name="undirected_enter",
        runs="search that ignores the arrows, but for the last into the goal",
        plan=_enter_by_arrow,
        answer=lambda state: state.has("entered").any(-1),
        parts=parts(UNDIRECTED) | {"entered": LETTERS},
        result=("entered",),
    ),
    _BACKWARD._replace(
        name="no_other_root",
        runs="backward search for roots, Yes if the start is the only one",
        algorithm=False,
        scope="starts that are roots, one root a goal",
        plan=lambda layers: [Step((_ROOTS,), _search_for_roots)] * layers,
        answer=_no_other_root,
        parts=parts(BACKWARD) | {"root sender": LETTERS, "roots": LETTERS},
        tell=_tell_roots,
        result=(BACKWARD.visited, "roots"),
    ),
    _BOTH._replace(
        name="backward_2_then_undirected",
        runs="backward search for 2 steps, then a search that ignores the arrows",
        algorithm=False,
        scope="starts from which all of their undirected component can be reached",
        plan=lambda layers: (
            [step(BACKWARD, everybody=True)] * 2
            + [step(UNDIRECTED_BACKWARD, everybody=True)] * (layers - 2)
        ),
        answer=BACKWARD.arrived,
    ),
    _HOPS._replace(
        name="hops_any_way",
        runs="components in the description that ignore the arrows",
        algorithm=False,
        scope="starts from which all of their undirected component can be reached",
        plan=lambda layers: [_HOP_ANY_WAY] * (layers - 1) + [READ],
        begin=_begin_any_way,
    ),
    _BOTH._replace(
        name="by_goal",
        runs="BFS if the goal is among A to M, or else backward search",
        scope=EVERYWHERE,
        answer=_by_goal,
    ),
    _HOPS._replace(
        name="sixty_bfs_forty_merging",
        runs="60 % BFS, 40 % path merging in the description",
        scope="depth at most the number of steps",
        plan=lambda layers: (
            [together(HOP, step(FORWARD))] * (layers - 1) + [together(READ, step(FORWARD))]
        ),
        answer=lambda state: 0.6 * FORWARD.arrived(state) + 0.4 * state["found"][..., 0],
        parts={**_HOPS.parts, **parts(FORWARD)},
        begin=begin_in_turn(_HOPS.begin, FORWARD.begin),
        result=("found", FORWARD.visited),
    ),
    _OLD["doubling"]._replace(
        name="doubling_then_bfs",
        runs="doubling of reachable sets for 2 steps, then BFS",
        plan=_after_doubling,
        parts={**_OLD["doubling"].parts, **parts(FORWARD)},
        begin=_begin_doubling,
    ),
)
