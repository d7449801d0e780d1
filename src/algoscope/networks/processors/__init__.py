"""Processors by name. A new one is a new file and a line here."""

import dataclasses

from algoscope.errors import unknown_name
from algoscope.networks.config import NetworkConfig
from algoscope.networks.processors.base import Processed, Processor, all_rounds
from algoscope.networks.processors.gat import GAT
from algoscope.networks.processors.gatv2 import GATv2
from algoscope.networks.processors.pgn import MPNN, PGN, DeepSets
from algoscope.networks.processors.triplet_gmpnn import TripletGMPNN

__all__ = ["PROCESSORS", "Processed", "Processor", "all_rounds", "check_processor"]

PROCESSORS: dict[str, type] = {
    "deepsets": DeepSets,
    "gat": GAT,
    "gat_full": GAT,
    "gatv2": GATv2,
    "gatv2_full": GATv2,
    "mpnn": MPNN,
    "pgn": PGN,
    "triplet_gmpnn": TripletGMPNN,
}
"""The `_full` forms let every node attend to every node."""

_ATTENTION = frozenset({"heads"})
_GATED = frozenset({"gated"})
_OPTIONS = {
    DeepSets: _GATED,
    GAT: _ATTENTION,
    GATv2: _ATTENTION
    | {"attention_width", "head_combination", "activation", "edge_information", "attention_bias"},
    MPNN: _GATED,
    PGN: _GATED,
    TripletGMPNN: frozenset({"triplet_width"}),
}
"""The options that only some processors have."""


def check_processor(config: NetworkConfig) -> list[str]:
    """What is wrong with the configuration for its processor."""
    if config.processor not in PROCESSORS:
        return [unknown_name("processor", config.processor, PROCESSORS)]
    mine = _OPTIONS[PROCESSORS[config.processor]]
    others = frozenset().union(*_OPTIONS.values()) - mine
    faults = [
        f"{field.name}: got {getattr(config, field.name)!r}, not an option of {config.processor}, "
        f"which has {', '.join(sorted(mine))}"
        for field in dataclasses.fields(config)
        if field.name in others and getattr(config, field.name) != field.default
    ]
    if "heads" in mine and config.heads >= 1:
        divided = {"width": config.width, "attention_width": config.attention_width}
        if config.head_combination == "sum":
            divided = {"attention_width": config.attention_width or config.width}
        faults += [
            f"heads: got {config.heads}, needed a divisor of {name} = {width}"
            for name, width in divided.items()
            if width is not None and width % config.heads
        ]
    return faults
