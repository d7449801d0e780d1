"""How a mechanism becomes a model of so many layers, and what changes how it looks from outside."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from transformers import PreTrainedConfig

from algoscope.llm.scripted.mechanisms import MECHANISMS
from algoscope.llm.scripted.parts import (
    COMMON,
    LETTERS,
    Head,
    Inbox,
    Layout,
    Mechanism,
    State,
    Step,
)

POSITIONS = 512
NOISE = 24
"""Places for what loud heads say."""
CODE = 48
"""A place in the text as a random direction in so many dimensions."""


class Disguise(NamedTuple):
    """What changes how a mechanism looks from outside, and not what it computes."""

    soft: bool = False
    """Heads attend to what they look for with less than all of their weight."""
    loud: bool = False
    """The other heads attend sharply at random and write what they see into the stream."""
    idle: int = 0
    """Layers between steps in which nothing happens."""
    late: int = 0
    """Layers before the first step in which nothing happens."""
    rotated: bool = False
    """The residual stream is rotated at random, so that no place in it means anything."""
    worker: int = 0
    """How many tokens before the last one the work is done: up to 8, the source in the question;
    or 10, the goal in the question, for those that need not know the source."""
    stops: bool = False
    """Edges are known at the full stop behind them, not at the name of their receiver."""
    gathered: bool = False
    """The embedding knows no other word but its own: heads of a first step look up the sender of
    each edge, and the source and the goal of the question."""
    noise: float = 0.0
    """Standard deviation of what is added to the log-odds, which are -10 or 10; the same for the
    same prompt."""
    scale: float = 1.0
    """What the logits are multiplied by."""


class ScriptedConfig(PreTrainedConfig):
    model_type = "algoscope_scripted"

    vocab_size: int = 64
    num_hidden_layers: int = 8
    num_attention_heads: int = 3
    max_position_embeddings: int = POSITIONS
    search: str = "bfs"
    seed: int = 0
    words: dict | None = None
    soft: bool = False
    loud: bool = False
    idle: int = 0
    late: int = 0
    rotated: bool = False
    worker: int = 0
    stops: bool = False
    gathered: bool = False
    noise: float = 0.0
    scale: float = 1.0

    @property
    def mechanism(self) -> Mechanism:
        return MECHANISMS[self.search]

    @property
    def common(self) -> Mapping[str, int]:
        """The parts of the stream that all mechanisms have."""
        return COMMON

    @property
    def word_width(self) -> int:
        """Of the embedding of a word."""
        return LETTERS

    @property
    def place(self) -> int:
        """How many tokens before the last one the work is done."""
        return self.worker or self.mechanism.worker

    @property
    def passes(self) -> bool:
        """Whether the last token has to be told the result."""
        return self.place != 0 and bool(self.mechanism.result)


def steps_within(config: ScriptedConfig) -> int:
    """How many layers are left to the mechanism."""
    active = range(config.late, config.num_hidden_layers, config.idle + 1)
    return max(len(active) - config.passes - config.gathered, 0)


def schedule(config: ScriptedConfig) -> list[Step]:
    """A step for each layer: one that gathers, the mechanism's, and one that passes the result on,
    with idle layers where the disguise has some."""
    mechanism = config.mechanism
    active = range(config.late, config.num_hidden_layers, config.idle + 1)
    steps = [
        *([_gather(config)] if config.gathered else []),
        *mechanism.plan(steps_within(config)),
        *([_pass_on(mechanism.result)] if config.passes else []),
    ]
    if len(steps) > len(active):
        raise ValueError(
            f"layers: got {config.num_hidden_layers}, of which {len(active)} work, needed "
            f"{len(steps)} that work for {config.search}"
        )
    layers = [Step()] * config.num_hidden_layers
    for number, step in zip(active, steps, strict=False):
        layers[number] = step
    return layers


def layout(config: ScriptedConfig) -> Layout:
    """The parts of the residual stream."""
    mechanism = config.mechanism
    oracle = {"oracle": 1} if mechanism.leak and mechanism.leaks_in == "stream" else {}
    codes = ("place", "sender place", "receiver place")
    gathered = dict.fromkeys(codes, CODE) | {"names source": 1, "names goal": 1}
    noise = {"noise": NOISE} if config.loud else {}
    return Layout(
        {
            **config.common,
            **mechanism.parts,
            **oracle,
            **(gathered if config.gathered else {}),
            **noise,
        }
    )


class Widths(NamedTuple):
    """All heads of all layers are as wide as the widest has to be."""

    asked: int
    """Of queries and keys."""
    taken: int
    """Of values."""


def widths(steps: list[Step], stream: Layout) -> Widths:
    heads = [head for step in steps for head in step.heads]
    asked = [sum(stream.size(own) for own, _, _ in head.asks) + 2 for head in heads]
    taken = [sum(map(stream.size, head.takes)) for head in heads]
    return Widths(max([*asked, NOISE]), max([*taken, NOISE]))


def _pass_on(result: tuple[str, ...]) -> Step:
    head = Head("pass", (("last", "worker", 1.0),), result)

    def update(state: State, inbox: Inbox) -> None:
        here = state.has("last")
        for part in result:
            state[part] = torch.where(here, inbox["pass", part], state[part])

    return Step((head,), update)


def _gather(config: ScriptedConfig) -> Step:
    """Ends of edges by their places in the text; source and goal by the tokens that name them."""
    ends = ("sender", "receiver") if config.stops else ("sender",)
    askers = ("worker", "last") if config.place else ("last",)
    heads = [Head(end, ((f"{end} place", "place", 2.0),), ("token",)) for end in ends]
    heads += [
        Head(f"{what} of {asker}", ((asker, f"names {what}", 1.0),), ("token",))
        for what in ("source", "goal")
        for asker in askers
    ]

    def update(state: State, inbox: Inbox) -> None:
        for end in ends:
            state[end] = (inbox[end, "token"] > 0.5) & state.has("edge")
        state["token"] = torch.maximum(state["token"], state["receiver"])
        for what in ("source", "goal"):
            for asker in askers:
                named = (inbox[f"{what} of {asker}", "token"] > 0.5) & state.has(asker)
                state.add(what, named)
        config.mechanism.begin(state)

    return Step(tuple(heads), update)
