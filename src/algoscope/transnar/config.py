"""The configuration of a tower and of its training: small differences from the defaults."""

import dataclasses
import math
from typing import Any, Literal

from algoscope import tasks
from algoscope.errors import unknown_name
from algoscope.networks.config import ConfigError
from algoscope.training.config import from_json

Reads = Literal["nothing", "final", "stepwise"]
POSITIONS = 8192
"""From how many positions randomised ones are drawn."""


@dataclasses.dataclass(frozen=True)
class TowerConfig:
    width: int = 384
    """Width of a token's state."""
    layers: int = 6
    heads: int = 6
    context: int = 2048
    """Most tokens of prompt and answer together."""
    random_positions: bool = True
    """Whether tokens stand at sorted random positions out of 8,192 instead of 0, 1, 2, …"""
    reads: Reads = "nothing"
    """What its layers read of the reasoner: nothing (the base Transformer), its final states, or
    each layer the states after one more step (layer l those after step l)."""


PAPER = TowerConfig(width=1024, layers=6, heads=16)
"""The tower of the paper's size: 6 layers, about 70 M weights."""


@dataclasses.dataclass(frozen=True)
class TransnarConfig:
    """One tower's training."""

    tasks: tuple[str, ...]
    sizes: tuple[int, ...] = (4, 5, 6, 7, 8, 12)
    """Sizes of the problems; each task has as many problems of each."""
    samples: int = 10_000
    """Problems of each task and size."""
    decimals: int = 3
    """Decimals of numbers in the text; the reasoner gets the same numbers."""
    steps: int = 10_000
    batch: int = 256
    learning_rate: float = 1e-3
    """At its highest: it grows for `warmup` steps and falls to a tenth along a cosine."""
    warmup: int = 200
    clip: float = 1.0
    """Largest global norm of a gradient."""
    seed: int = 0
    """Of the weights, the order of the problems and the positions."""
    data_seed: int = 1
    """Of the problems."""
    reasoner_trained: bool = True
    """Whether the reasoner has the weights that it was given, or random ones (are its embeddings
    needed, or just more weights?)."""
    reads_inputs: bool = True
    """Whether the states that a tower reads hold the encoded inputs, or hidden states alone."""
    trains_reasoner: tuple[str, ...] = ()
    """Beginnings of the names of the reasoner's weights that learn too, such as "processor" or
    "encoders.A"; all others are frozen."""
    tower: TowerConfig = dataclasses.field(default_factory=TowerConfig)

    def as_json(self) -> dict[str, Any]:
        """With what every run folder's configuration has."""
        return dataclasses.asdict(self) | {"first_seed": self.seed, "seeds": 1}


def config_from_json(given: dict) -> TransnarConfig:
    own = {name: value for name, value in given.items() if name not in ("first_seed", "seeds")}
    return from_json(TransnarConfig, own, "config")


def check_tower(config: TowerConfig) -> list[str]:
    faults = [
        f"tower.{name}: got {value!r}, needed an integer of at least 1"
        for name in ("width", "layers", "heads", "context")
        if not isinstance(value := getattr(config, name), int) or value < 1
    ]
    if not faults and config.width % (2 * config.heads):
        faults.append(
            f"tower.heads: got {config.heads} at width {config.width}, needed heads of even width"
        )
    if not faults and config.context > POSITIONS:
        faults.append(f"tower.context: got {config.context}, needed at most {POSITIONS}")
    if config.reads not in ("nothing", "final", "stepwise"):
        faults.append(unknown_name("tower.reads", config.reads, ("nothing", "final", "stepwise")))
    return faults


def check(config: TransnarConfig) -> None:
    """Lists everything that is wrong with the configuration."""
    faults = check_tower(config.tower)
    for name, least in {
        "samples": 1, "decimals": 1, "steps": 1, "batch": 1, "warmup": 1, "seed": 0, "data_seed": 0
    }.items():  # fmt: skip
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            faults.append(f"{name}: got {value!r}, needed an integer of at least {least}")
    for name in ("learning_rate", "clip"):
        value = getattr(config, name)
        if not isinstance(value, (int, float)) or not 0 < value < math.inf:
            faults.append(f"{name}: got {value!r}, needed a finite number above 0")
    if not config.tasks:
        faults.append("tasks: got none, needed at least one")
    if not config.sizes:
        faults.append("sizes: got none, needed at least one")
    known = tasks.names()
    for task in config.tasks:
        if task not in known:
            faults.append(unknown_name("task", task, known))
            continue
        smallest = tasks.get(task).smallest
        faults += [
            f"sizes: got {size!r}, needed integers of at least {smallest} for {task}"
            for size in config.sizes
            if not isinstance(size, int) or size < smallest
        ]
    if config.trains_reasoner and not config.reads_inputs:
        faults.append("reads_inputs: got false with trains_reasoner, needed a frozen reasoner")
    of_reasoner = config.trains_reasoner or not (config.reasoner_trained and config.reads_inputs)
    if config.tower.reads == "nothing" and of_reasoner:
        faults.append(
            'tower.reads: got "nothing" with options of the reasoner, needed "final" or "stepwise"'
        )
    if faults:
        raise ConfigError("\n".join(faults))
