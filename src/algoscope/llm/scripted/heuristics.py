"""Shortcuts: answers that look at the goal and at the text, and not for a way.

| name    | Yes if                                                                       |
|---------|------------------------------------------------------------------------------|
| sibling | another node than the start shares a parent with the goal                    |
| often   | the goal is mentioned more often than the median node                        |
| late    | the goal's last mention is not before that of the median node                |
| near    | a mention of the goal and one of the start are at most three names apart     |
| bfs_k_h | k steps of BFS arrive, or else the heuristic h says so                       |
"""

import torch

from algoscope.llm.scripted.parts import LETTERS, Head, Inbox, Mechanism, State, Step, found
from algoscope.llm.scripted.reading import Prompt
from algoscope.llm.scripted.sets import FORWARD, counted, parts, step

_WINDOW = 6
"""Tokens before a name in which another is near; every second one is a name."""
_LEAST = 0.004
"""Share of the attention that one of up to 250 names gets."""
_MENTIONED = 1e-35
_SLOPE = 0.5
"""The last mention of a node, e^(slope place), counts more than all before it, and less than one
two tokens later."""


def _tell_described(state: State, prompt: Prompt) -> None:
    state["described"] = prompt.described[..., None]


def _median(x: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
    """The median of those places that count, the mean of the two in the middle if they are even:
    [..., 1]."""
    sorted_, count = torch.where(of, x, torch.inf).sort(-1).values, of.sum(-1, keepdim=True)
    low, high = ((count - 1).clamp(min=0) // 2), (count // 2).clamp(max=x.shape[-1] - 1)
    middle = (sorted_.gather(-1, low) + sorted_.gather(-1, high)) / 2
    return torch.where(count > 0, middle, torch.inf)


def _of_goal(state: State, x: torch.Tensor) -> torch.Tensor:
    """[..., 1]"""
    return (torch.where(state.has("goal"), x, 0)).sum(-1, keepdim=True)


def _says(state: State, verdict: torch.Tensor) -> None:
    state.add("says", verdict & state.has("worker"))


def _often(state: State, inbox: Inbox) -> None:
    share = inbox["mentions", "token"]
    mentioned = share > _LEAST
    least = torch.where(mentioned, share, torch.inf).amin(-1, keepdim=True)
    _says(state, _of_goal(state, share) > _median(share, mentioned) + 0.1 * least)


def _late(state: State, inbox: Inbox) -> None:
    weight = inbox["lateness", "token"]
    mentioned = weight > _MENTIONED
    place = torch.where(mentioned, weight, 1).log()
    _says(state, _of_goal(state, place) >= _median(place, mentioned) - 1e-3)


def _near(state: State, inbox: Inbox) -> None:
    of_goal = found(inbox["at goal", "window"]) & state.has("source")
    of_source = found(inbox["at source", "window"]) & state.has("goal")
    _says(state, (of_goal | of_source).any(-1, keepdim=True))


def _tell_near(state: State, prompt: Prompt) -> None:
    state["window"] = prompt.window(_WINDOW)


def _parents(state: State, inbox: Inbox) -> None:
    state.add("parents", found(inbox["parents", "sender"]))


def _siblings(state: State, inbox: Inbox) -> None:
    shared = found(inbox["children", "receiver"]) & ~state.has("goal") & ~state.has("source")
    _says(state, shared.any(-1, keepdim=True))


_DESCRIBED = {"described": 1}
_ALL_NAMES = (("worker", "described", 1.0),)
OFTEN = Step((Head("mentions", _ALL_NAMES, ("token",)),), _often)
LATE = Step((Head("lateness", _ALL_NAMES, ("token",), _SLOPE),), _late)
_NEAR = Step(
    (
        Head("at goal", (("goal", "token", 1.0),), ("window",)),
        Head("at source", (("source", "token", 1.0),), ("window",)),
    ),
    _near,
)
_TO_PARENTS = Step((Head("parents", (("goal", "receiver", 1.0),), ("sender",)),), _parents)
_TO_CHILDREN = Step((Head("children", (("parents", "sender", 1.0),), ("receiver",)),), _siblings)


def _says_so(state: State) -> torch.Tensor:
    return state.has("says")[..., 0]


def _heuristic(name: str, runs: str, steps: list[Step], further: dict[str, int], tell) -> Mechanism:
    return Mechanism(
        name,
        runs,
        False,
        "where it happens to hold",
        plan=lambda layers: steps,
        answer=_says_so,
        parts={"says": 1} | further,
        tell=tell,
        result=("says",),
    )


def _after(steps: int, heuristic: Mechanism) -> Mechanism:
    """A few steps of BFS, then the heuristic."""
    return heuristic._replace(
        name=f"bfs_{steps}_{heuristic.name}",
        runs=f"BFS for {counted(steps)}, then: {heuristic.runs}",
        scope=f"reachable goals of depth at most {steps}",
        plan=lambda layers: [step(FORWARD)] * steps + heuristic.plan(layers - steps),
        answer=lambda state: FORWARD.arrived(state) | _says_so(state),
        parts={**heuristic.parts, **parts(FORWARD)},
        begin=FORWARD.begin,
        result=(FORWARD.visited, "says"),
    )


_PLAIN = (
    _heuristic(
        "sibling",
        "goal's sibling",
        [_TO_PARENTS, _TO_CHILDREN],
        {"parents": LETTERS},
        lambda state, prompt: None,
    ),
    _heuristic("often", "most mentioned", [OFTEN], _DESCRIBED, _tell_described),
    _heuristic("late", "last mentioned", [LATE], _DESCRIBED, _tell_described),
    _heuristic("near", "nearest by position", [_NEAR], {"window": LETTERS}, _tell_near),
)
HEURISTICS = (
    *_PLAIN,
    *(_after(steps, heuristic) for steps in (1, 2) for heuristic in _PLAIN[1:3]),
)
