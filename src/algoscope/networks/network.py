"""The network: encoders, processor and decoders, and what a run of it takes and gives.

`plain` has the equations of a run, `fast` computes the same, `running` chooses.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from algoscope import capacity, tasks
from algoscope.networks.config import ConfigError, NetworkConfig, check_choices
from algoscope.networks.decoders import Decoder, DecoderInputs, start_decoder
from algoscope.networks.encoders import Encoder, start_encoder
from algoscope.networks.kinds import KINDS
from algoscope.networks.processors import PROCESSORS, Processor, check_processor
from algoscope.tasks import Feature, Kind, Stage, Task

Values = dict[str, Array]
DEFAULT_CONFIG = NetworkConfig()
_MOST_CLASSES = 2**16
_KEPT = 64
"""Skeletons: weights of many seeds are read one after the other."""


class Network(eqx.Module):
    encoders: dict[str, Encoder]
    """By feature name."""
    processor: Processor | tuple[Processor, ...]
    """One for all rounds of a step, or one for each."""
    decoders: dict[str, Decoder]
    """By feature name."""
    features: tuple[Feature, ...] = eqx.field(static=True)
    config: NetworkConfig = eqx.field(static=True)

    def at(self, stage: Stage) -> tuple[Feature, ...]:
        return tuple(f for f in self.features if f.stage is stage)

    def decoders_at(self, stage: Stage) -> dict[str, Decoder]:
        return {f.name: self.decoders[f.name] for f in self.at(stage) if f.name in self.decoders}

    @property
    def rounds(self) -> Sequence[Processor]:
        if isinstance(self.processor, tuple):
            return self.processor
        return (self.processor,) * self.config.rounds

    @property
    def makes_edges(self) -> bool:
        """Whether the processor gives edges features of its own."""
        return self.rounds[-1].makes_edges

    @property
    def dtype(self) -> jnp.dtype:
        return jax.tree.leaves(self.encoders)[0].dtype

    def values(self, truths: Mapping[str, Array]) -> Values:
        """Features in the form that the encoders read."""
        kinds = {f.name: f.kind for f in self.features}
        return {name: KINDS[kinds[name]].value(truth) for name, truth in truths.items()}

    def feed_back(self, logits: Mapping[str, Any], hard: bool) -> Values:
        """Predicted hints in the form that the encoders read, if they read hints."""
        hints = self.at(Stage.HINT) if self.config.encode_hints else ()
        return {f.name: KINDS[f.kind].feed_back(logits[f.name], hard) for f in hints}

    def decide(self, logits: Mapping[str, Any]) -> dict[str, Any]:
        """Predictions in the form of a batch."""
        decided = (f for f in self.features if f.name in logits)
        return {f.name: KINDS[f.kind].decide(logits[f.name]) for f in decided}


class Trajectory(NamedTuple):
    """What one sample's run gives: raw predictions and the states behind them."""

    attention: Float[Array, "step head n n"]
    hidden: Float[Array, "step n width"]
    hints: dict[str, Any]
    """Logits of each hint: [step, …]."""
    outputs: dict[str, Any]
    """Logits of each output, after the sample's last step."""
    states: DecoderInputs
    """What the output decoders read: the sample's last step."""


class Start(NamedTuple):
    """What a run continues from: all that a step leaves to the next."""

    hidden: Float[Array, "... n width"]
    hints: Values
    """What the encoders read of each hint, see `kinds`; empty if the network reads none."""


class Noise(NamedTuple):
    """The randomness of training, drawn beforehand so that a run is a function of its arguments."""

    keep: Float[Array, "step n width"]
    """Dropout: 0, or 1 / (1 - dropout)."""
    force: Bool[Array, " step"]
    """Whether the hints read at that step are the true ones (teacher forcing)."""
    gumbel: Float[Array, "n n"]
    """Added to permutation logits."""


def build(
    task: Task | str | Sequence[Feature],
    config: NetworkConfig = DEFAULT_CONFIG,
    *,
    key: PRNGKeyArray,
) -> Network:
    """A network for the task, or for features, with random weights."""
    check_memory(skeleton(task, config))
    return _build(_features(task), config, key)


def skeleton(task: Task | str | Sequence[Feature], config: NetworkConfig) -> Network:
    """A network without weights, only their shapes, for `with_arrays` to fill."""
    features = _features(task)
    faults = _faults(features, config)
    if faults:
        raise ConfigError("\n".join(faults))
    return _skeleton(features, config, jax.dtypes.canonicalize_dtype(float))


def check_memory(skeleton: Network) -> None:
    """Refuses a network whose weights do not fit into the memory."""
    weights = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(skeleton))
    capacity.check(
        f"a network of width {skeleton.config.width:,}",
        weights * skeleton.dtype.itemsize,
        "take a smaller one",
    )


def _features(task: Task | str | Sequence[Feature]) -> tuple[Feature, ...]:
    return tasks.get(task).features if isinstance(task, Task | str) else tuple(task)


def _faults(features: tuple[Feature, ...], config: NetworkConfig) -> list[str]:
    faults = check_choices(config)
    faults += check_processor(config) if not faults else []
    if len({f.name for f in features}) < len(features):
        faults.append("features: got a name twice, needed each once")
    if not any(f.name == "pos" and f.stage is Stage.INPUT for f in features):
        faults.append("features: got no input pos, needed it")
    for f in features:
        if f.kind not in KINDS:
            faults.append(f"feature {f.name}: got a {f.kind}, needed a {', '.join(KINDS)}")
        classes = _MOST_CLASSES if f.kind is Kind.CATEGORICAL else 1
        if not 1 <= f.classes <= classes:
            faults.append(f"feature {f.name}: got {f.classes} classes, needed 1 to {classes:,}")
    return faults


@functools.lru_cache(_KEPT)
def _skeleton(features: tuple[Feature, ...], config: NetworkConfig, _dtype: Any) -> Network:
    """The weights' type is the one that JAX now has for a float."""
    return eqx.filter_eval_shape(_build, features, config, jax.random.key(0))


def _build(features: tuple[Feature, ...], config: NetworkConfig, key: PRNGKeyArray) -> Network:
    encoder_key, processor_key, decoder_key = jax.random.split(key, 3)
    make = PROCESSORS[config.processor]
    if config.shared_rounds or config.rounds == 1:
        processor = make(config, processor_key)
    else:
        processor = tuple(make(config, k) for k in jax.random.split(processor_key, config.rounds))
    edge_width = config.width * (2 if make.makes_edges else 1)
    read = [f for f in features if _is_read(f, config)]
    decoded = [f for f in features if _is_decoded(f, config)]
    return Network(
        {
            f.name: start_encoder(f, config, k)
            for f, k in zip(read, jax.random.split(encoder_key, len(read)), strict=True)
        },
        processor,
        {
            f.name: start_decoder(f, config, edge_width, k)
            for f, k in zip(decoded, jax.random.split(decoder_key, len(decoded)), strict=True)
        },
        features,
        config,
    )


def _is_read(feature: Feature, config: NetworkConfig) -> bool:
    return feature.stage is Stage.INPUT or (feature.stage is Stage.HINT and config.encode_hints)


def _is_decoded(feature: Feature, config: NetworkConfig) -> bool:
    return feature.stage is Stage.OUTPUT or (feature.stage is Stage.HINT and config.decode_hints)
