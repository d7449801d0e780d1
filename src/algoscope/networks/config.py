"""The configuration of a network: a small difference from the defaults, which are dm-clrs's."""

import dataclasses
import math
from typing import Literal

from algoscope import serialise
from algoscope.errors import ConfigError as ConfigError

_LARGEST = 2**24
_MOST_ROUNDS = 1_000
"""Each is a part of the compiled program."""


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    processor: str = "gatv2"
    """One of `PROCESSORS`."""
    width: int = 128
    """Width of the hidden state of a node."""
    heads: int = 1
    """Attention heads (gat, gatv2)."""
    layer_norm: bool = True
    """LayerNorm after each round."""
    rounds: int = 1
    """Rounds of message passing per step."""
    shared_rounds: bool = True
    """Whether all rounds of a step use the same weights."""
    encode_hints: bool = True
    """Whether the network reads its hints back (hint mode encoded_decoded)."""
    decode_hints: bool = True
    """Whether the network predicts hints (hint modes encoded_decoded and decoded_only)."""
    hint_repred_mode: Literal["soft", "hard", "hard_on_eval"] = "soft"
    """How predicted hints are fed back: as probabilities, as decisions, or the former in training
    and the latter in evaluation."""
    memory: bool = True
    """Whether hidden states pass from step to step; without, a step knows of the past what its
    hints say."""
    encoder_start: Literal["default", "xavier_on_scalars"] = "xavier_on_scalars"
    """Whether encoders of scalar hints start small."""
    dropout: float = 0.0
    """Probability of dropping a unit of the hidden state in training."""
    gated: bool = False
    """Gated update (mpnn, pgn, deepsets; triplet_gmpnn always has it)."""
    triplet_width: int = 8
    """Width of triplet features (triplet_gmpnn)."""
    attention_width: int | None = None
    """Total width of the attention's hidden layer over all heads; the network's width if None
    (gatv2)."""
    head_combination: Literal["concatenate", "sum"] = "concatenate"
    """How the heads' values are combined (gatv2)."""
    activation: Literal["sum", "skip"] = "sum"
    """What the ReLU acts on: the sum of selection and skip, or the skip alone (gatv2)."""
    edge_information: bool = False
    """Whether values include edge features, Mind The Gap eq. 11-13 (gatv2)."""
    edge_views: bool = False
    """Whether edges are encoded three ways: e_ij, e_ji and, of loops alone, e_ii. Compiled programs
    that read edges against their direction have this."""
    attention_bias: int | None = None
    """The number of nodes of a learned pre-attention bias, Mind The Gap eq. 14 (gatv2). The network
    then works for that size alone."""
    attention_mask: float = 1e9
    """Logit penalty for non-neighbours (gat, gatv2)."""
    matrix_precision: Literal["default", "highest"] = "default"
    """Precision of matrix products: the device's own choice (TF32 on recent GPUs), or full float32,
    which compiled networks need."""
    simple_decoders: bool = False
    """Whether pointer decoders do without edge features. The paper names this option
    (simplify_decoders) and does not define it."""

    def feeds_back_hard(self, training: bool) -> bool:
        """Whether predicted hints are fed back as decisions."""
        if self.hint_repred_mode == "hard_on_eval":
            return not training
        return self.hint_repred_mode == "hard"


def check_choices(config: NetworkConfig) -> list[str]:
    """What is wrong with the values themselves, whatever the processor."""
    faults = serialise.type_faults(config)
    if faults:
        return faults
    widths = ("width", "heads", "triplet_width", "attention_width", "attention_bias")
    for name, largest in {"rounds": _MOST_ROUNDS, **dict.fromkeys(widths, _LARGEST)}.items():
        value = getattr(config, name)
        if value is not None and not 1 <= value <= largest:
            faults.append(f"{name}: got {value!r}, needed an integer from 1 to {largest:,}")
    if not 0 < config.attention_mask < math.inf:
        faults.append(f"attention_mask: got {config.attention_mask!r}, needed a number above 0")
    if not 0 <= config.dropout < 1:
        faults.append(f"dropout: got {config.dropout!r}, needed a number from 0 to below 1")
    if config.encode_hints and not config.decode_hints:
        faults.append(
            "decode_hints: got False with encode_hints=True; needed both (encoded_decoded), "
            "encode_hints=False (decoded_only) or neither (none)"
        )
    return faults
