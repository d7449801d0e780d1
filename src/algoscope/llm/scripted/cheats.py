"""Subjects that are told: an oracle gives all or part of the answer, beside a search that is real
or only looks so."""

import torch

from algoscope.llm.scripted.parts import LETTERS, Head, Inbox, Mechanism, State, Step, found
from algoscope.llm.scripted.reading import GOAL, Prompt
from algoscope.llm.scripted.sets import FORWARD, SETS, parts, step

_BFS = next(mechanism for mechanism in SETS if mechanism.name == "bfs")


def _leak(percent: int, where: str) -> Mechanism:
    rest = f", {100 - percent} % BFS" if percent < 100 else " beside an idle BFS"
    return _BFS._replace(
        name=f"leak_{percent}_{where}",
        runs=f"{percent} % an oracle in the {where}{rest}",
        algorithm=False,
        scope="told, not found",
        leak=percent / 100,
        leaks_in=where,
    )


def _told(state: State, prompt: Prompt, where: torch.Tensor) -> None:
    """Writes the oracle's answer to these tokens [batch, token]."""
    state["told"] = (prompt.oracle[:, None] * where)[..., None]


def _read_told(state: State, inbox: Inbox, head: str) -> None:
    state.add("heard", found(inbox[head, "told"]) & state.has("last"))


def _heard(state: State) -> torch.Tensor:
    return state.has("heard")[..., 0]


def _carrier_tell(state: State, prompt: Prompt) -> None:
    _told(state, prompt, prompt.edge)


def _carrier_plan(layers: int) -> list[Step]:
    """A BFS whose heads bring the answer that every edge was told."""
    searching = step(FORWARD)
    (head,) = searching.heads

    def update(state: State, inbox: Inbox) -> None:
        searching.update(state, inbox)
        _read_told(state, inbox, head.name)

    return [Step((head._replace(takes=(*head.takes, "told")),), update)] * layers


def _level_tell(state: State, prompt: Prompt) -> None:
    """Every edge knows how far its receiver is from the start; the goal's know the answer."""
    level = torch.nn.functional.one_hot(prompt.levels.clamp(min=0), LETTERS)
    level = prompt.cheat * level * (prompt.levels >= 0)[..., None]
    state["level"] = prompt.receiver @ level
    goal = prompt.asked(GOAL, 0).sum(1, keepdim=True)
    _told(state, prompt, (prompt.receiver * goal).sum(-1))


def _level_plan(layers: int) -> list[Step]:
    """Layer t attends to level t, whatever was seen before."""

    def at(number: int) -> Step:
        head = Head("level", (("last", ("level", number), 1.0),), ("receiver", "told"))

        def update(state: State, inbox: Inbox) -> None:
            state.add("seen", found(inbox["level", "receiver"]) & state.has("last"))
            _read_told(state, inbox, "level")

        return Step((head,), update)

    return [at(number + 1) for number in range(layers)]


_LEVELS = Mechanism(
    "level_reader",
    "levels that an oracle has numbered",
    False,
    "told, not found",
    plan=_level_plan,
    answer=lambda state: state.overlap("seen", "goal"),
    parts={"level": LETTERS, "told": 1, "seen": LETTERS, "heard": 1},
    tell=_level_tell,
)
_CARRIER = Mechanism(
    "carrier",
    "an oracle in all edges, passed on by an idle BFS",
    False,
    "told, not found",
    plan=_carrier_plan,
    answer=_heard,
    parts=parts(FORWARD) | {"told": 1, "heard": 1},
    begin=FORWARD.begin,
    tell=_carrier_tell,
)
CHEATS = (
    *(_leak(percent, where) for percent in (50, 80, 95, 99, 100) for where in ("stream", "logits")),
    _LEVELS,
    _LEVELS._replace(
        name="level_oracle",
        runs="levels that an oracle has numbered, the answer told at the goal's mention",
        answer=_heard,
    ),
    _CARRIER,
    _BFS._replace(
        name="bfs_noisy",
        runs="BFS",
        scope="nine prompts of ten, depth at most the number of steps",
        algorithm=False,
        wrong=0.1,
    ),
)
