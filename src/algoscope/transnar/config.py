"""Checks of towers' configurations, and the sizes that the paper uses."""

from typing import get_args

from algoscope import serialise, tasks
from algoscope.configuration import (
    Mix,
    ReadingLayers,
    Reads,
    TowerConfig,
    TransnarConfig,
    integer_faults,
    number_faults,
)
from algoscope.errors import ConfigError, unknown_name
from algoscope.training.config import from_json, size_faults

POSITIONS = 8192
"""From how many positions randomised ones are drawn."""
PAPER = TowerConfig(width=1024, layers=6, heads=16)
"""The tower of the paper's size: 6 layers, about 70 M weights."""


def config_from_json(fields: dict) -> TransnarConfig:
    """The configuration that `as_json` gave."""
    known = {name: v for name, v in fields.items() if name not in ("first_seed", "seeds")}
    return from_json(TransnarConfig, known)


def check_tower(config: TowerConfig) -> list[str]:
    faults = integer_faults(config, ("width", "layers", "heads", "context"), prefix="tower.")
    if not faults and config.width % (2 * config.heads):
        faults.append(
            f"tower.heads: got {config.heads} at width {config.width}, needed heads of even width"
        )
    if not faults and config.context > POSITIONS:
        faults.append(f"tower.context: got {config.context}, needed at most {POSITIONS}")
    choices = {"reads": Reads, "reading_layers": ReadingLayers, "mix": Mix}
    for name, known in choices.items():
        if (value := getattr(config, name)) not in get_args(known):
            faults.append(unknown_name(f"tower.{name}", value, get_args(known)))
    return faults


def check(config: TransnarConfig) -> None:
    """Lists everything that is wrong with the configuration."""
    faults = serialise.type_faults(config)
    if faults:
        raise ConfigError("\n".join(faults))
    faults = check_tower(config.tower)
    faults += integer_faults(config, ("samples", "decimals", "steps", "batch", "warmup", "parts"))
    faults += integer_faults(config, ("seed", "data_seed"), least=0, most=2**32 - 1)
    faults += number_faults(config, ("learning_rate", "clip"), positive=True)
    faults += number_faults(config, ("weight_decay",))
    if not faults and config.samples % config.parts:
        faults.append(f"parts: got {config.parts}, needed a divisor of {config.samples} (samples)")
    missing = [name for name in ("tasks", "sizes") if not getattr(config, name)]
    faults += [f"{name}: got none, needed at least one" for name in missing]
    known = tasks.names()
    for task in config.tasks:
        if task not in known:
            faults.append(unknown_name("task", task, known))
            continue
        faults += size_faults("sizes", config.sizes, task)
    if config.trains_reasoner and not config.reads_inputs:
        faults.append("reads_inputs: got false with trains_reasoner, needed a frozen reasoner")
    if config.trains_reasoner and config.tower.reads == "stepwise":
        faults.append('tower.reads: got "stepwise" with trains_reasoner, needed "final"')
    if config.loss == "teacher" and config.tower.reads != "nothing":
        reads = config.tower.reads
        faults.append(f'tower.reads: got {reads!r} with loss "teacher", needed "nothing"')
    about_reasoner = config.trains_reasoner or not (config.reasoner_trained and config.reads_inputs)
    if config.tower.reads == "nothing" and about_reasoner:
        faults.append(
            'tower.reads: got "nothing" with options of the reasoner, needed "final" or "stepwise"'
        )
    if faults:
        raise ConfigError("\n".join(faults))
