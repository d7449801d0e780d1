"""The network: encoders, processor, decoders over time. Written for one sample, batched by vmap.

At step t the network reads the inputs and the hints of step t, updates the hidden states, and
predicts the hints of step t + 1, which it reads next:

    encoded_t   = encoders(inputs, hints_t)
    hidden_t+1  = processor(encoded_t, hidden_t)                       hidden_0 = 0
    hints_t+1   = feed_back(decoders([encoded_t, hidden_t, hidden_t+1]))
    outputs     = decoders([encoded_T, hidden_T, hidden_T+1])          T the sample's last step

The first hints are the true ones, as in dm-clrs.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from algoscope.networks.config import ConfigError, NetworkConfig, check_choices
from algoscope.networks.decoders import Bank, Decoder, States, start_decoder
from algoscope.networks.encoding import Encoding
from algoscope.networks.kinds import KINDS, start_encoder
from algoscope.networks.layers import for_backward, what_is_kept
from algoscope.networks.processors import PROCESSORS, Encoded, Processed, Processor, check_processor
from algoscope.recording import Recording
from algoscope.tasks import Batch, Feature, Kind, Stage, Task

Values = dict[str, Array]
DEFAULT_CONFIG = NetworkConfig()
_UNROLLED = 8
"""Steps."""


class Network(eqx.Module):
    encoders: dict[str, Any]
    """By feature name."""
    processor: Processor | tuple[Processor, ...]
    """One for all rounds of a step, or one for each."""
    decoders: dict[str, Decoder]
    """By feature name."""
    features: tuple[Feature, ...] = eqx.field(static=True)
    config: NetworkConfig = eqx.field(static=True)

    def at(self, stage: Stage) -> tuple[Feature, ...]:
        return tuple(f for f in self.features if f.stage is stage)

    @property
    def rounds(self) -> Sequence[Processor]:
        if isinstance(self.processor, tuple):
            return self.processor
        return (self.processor,) * self.config.rounds

    @property
    def dtype(self) -> jnp.dtype:
        return jax.tree.leaves(self.encoders)[0].dtype


class Trajectory(NamedTuple):
    """What one sample's run gives: raw predictions and the states behind them."""

    attention: Float[Array, "step head n n"]
    hidden: Float[Array, "step n width"]
    hints: dict[str, Any]
    """Logits of each hint: [step, …]."""
    outputs: dict[str, Any]
    """Logits of each output, after the sample's last step."""
    states: States
    """What the output decoders read: the sample's last step."""


class Start(NamedTuple):
    """Where a run goes on from: all that a step leaves to the next."""

    hidden: Float[Array, "... n width"]
    hints: Values
    """What the encoders read of each hint, see `kinds`; empty if the network reads none."""


class Noise(NamedTuple):
    """The randomness of training, drawn beforehand so that a run is a function of its arguments."""

    keep: Float[Array, "step n width"]
    """Dropout: 0, or 1 / (1 - dropout)."""
    force: Array
    """bool [step]: whether the hints read at that step are the true ones (teacher forcing)."""
    gumbel: Float[Array, "n n"]
    """Added to permutation logits."""


def build(
    task: Task | Sequence[Feature], config: NetworkConfig = DEFAULT_CONFIG, *, key: PRNGKeyArray
) -> Network:
    """A network for the task, with random weights."""
    features = task.features if isinstance(task, Task) else tuple(task)
    faults = check_choices(config)
    faults += check_processor(config) if not faults else []
    faults += [
        f"feature {f.name}: got a {f.kind}, needed a {', '.join(KINDS)}"
        for f in features
        if f.kind not in KINDS
    ]
    if faults:
        raise ConfigError("\n".join(faults))
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


def skeleton(task: Task | Sequence[Feature], config: NetworkConfig) -> Network:
    """A network without weights, only their shapes, for `with_arrays` to fill."""
    return eqx.filter_eval_shape(build, task, config, key=jax.random.key(0))


def _is_read(feature: Feature, config: NetworkConfig) -> bool:
    return feature.stage is Stage.INPUT or (feature.stage is Stage.HINT and config.encode_hints)


def _is_decoded(feature: Feature, config: NetworkConfig) -> bool:
    return feature.stage is Stage.OUTPUT or (feature.stage is Stage.HINT and config.decode_hints)


def run(network: Network, batch: Batch) -> Recording:
    """Runs the network on a batch as in evaluation, and records everything."""
    return _run(network, to_device(network, batch))


def run_from(network: Network, batch: Batch, start: Start) -> Recording:
    """Runs as many steps as the batch has from given states, [batch, …] each, instead of from the
    beginning: the step of an intervention."""
    return _run(network, to_device(network, batch), start)


def state_after(network: Network, recording: Recording, steps: Any) -> Start:
    """What the network left to the next step after the given step of each sample, int [batch]."""
    samples = jnp.arange(len(steps))
    hard = network.config.hint_repred_mode != "soft"
    fed_back = {
        f.name: KINDS[f.kind].feed_back(recording.logits[f.name][samples, steps], hard)
        for f in network.at(Stage.HINT)
        if network.config.encode_hints
    }
    return Start(jnp.asarray(recording.hidden)[samples, steps], fed_back)


def read_as(network: Network, name: str, truth: Any) -> Array:
    """A hint in the form of the batch, [batch, …], as the network's encoders read it."""
    feature = next(f for f in network.at(Stage.HINT) if f.name == name)
    pointers = feature.kind in (Kind.POINTER, Kind.PERMUTATION)
    truth = jnp.asarray(truth, jnp.int32 if pointers else network.dtype)
    return KINDS[feature.kind].value(truth, truth.shape[-1])


def to_device(network: Network, batch: Batch) -> Batch:
    """The batch as the network reads it: its features, as JAX arrays of its dtype."""
    missing = [
        f"{f.stage} {f.name}" for f in network.features if f.name not in batch.values(f.stage)
    ]
    if missing:
        raise ValueError(
            f"batch: got {batch}, which lacks {', '.join(missing)}; the network was built for the "
            f"features {', '.join(f.name for f in network.features)}"
        )
    size = network.config.attention_bias
    if size is not None and batch.nodes != size:
        raise ValueError(
            f"batch: got {batch.nodes} nodes, needed {size}, the size of the network's "
            f"pre-attention bias (attention_bias = {size})"
        )

    def converted(feature: Feature) -> Array:
        pointers = feature.kind in (Kind.POINTER, Kind.PERMUTATION)
        array = batch.values(feature.stage)[feature.name]
        return jnp.asarray(array, jnp.int32 if pointers else network.dtype)

    inputs, hints, outputs = ({f.name: converted(f) for f in network.at(stage)} for stage in Stage)
    lengths = jnp.asarray(batch.lengths, jnp.int32)
    return Batch(batch.task, inputs, hints, outputs, lengths, network.features)


@jax.jit
def _run(network: Network, batch: Batch, start: Start | None = None) -> Recording:
    trajectories = trajectories_of(network, batch, start=start)
    logits = trajectories.hints | trajectories.outputs
    decided = {
        f.name: KINDS[f.kind].decide(logits[f.name]) for f in network.features if f.name in logits
    }
    return Recording(
        trajectories.attention,
        trajectories.hidden,
        {name: decided[name] for name in trajectories.hints},
        {name: decided[name] for name in trajectories.outputs},
        batch.lengths,
        logits,
    )


def trajectories_of(
    network: Network,
    batch: Batch,
    noise: Noise | None = None,
    *,
    training: bool = False,
    start: Start | None = None,
) -> Trajectory:
    """The trajectories of a whole batch; `noise` and `start` have a leading batch axis."""
    hard = network.config.hint_repred_mode == "hard" or (
        network.config.hint_repred_mode == "hard_on_eval" and not training
    )
    one = functools.partial(_trajectory, network, hard=hard)
    with jax.default_matmul_precision(network.config.matrix_precision):
        return jax.vmap(one)(batch, noise, start)


class _Weights(NamedTuple):
    """All that depends on the weights alone, done once for all steps."""

    network: Network
    encode: Encoding
    processors: list[Any]
    """What each round prepared."""
    hints: Bank
    outputs: Bank

    @staticmethod
    def of(network: Network) -> "_Weights":
        encode = Encoding.of(network.encoders, network.features, network.config, network.dtype)
        edges = encode.edges
        prepared = [p.prepare(edges, encode.graph, encode.nodes) for p in network.rounds]
        if network.rounds[-1].makes_edges:
            edges = edges.beside(network.config.width)
        by_stage = (
            {f.name: network.decoders[f.name] for f in network.at(s) if f.name in network.decoders}
            for s in (Stage.HINT, Stage.OUTPUT)
        )
        banks = (Bank.of(some, edges, encode.nodes) for some in by_stage)
        return _Weights(network, encode, prepared, *banks)


class _Hidden(NamedTuple):
    """Hidden states, and what two steps read of them."""

    nodes: Float[Array, "n width"]
    highest: Float[Array, " width"]
    """Over nodes."""

    @staticmethod
    def of(nodes: Float[Array, "n width"]) -> "_Hidden":
        return _Hidden(nodes, nodes.max(0))


class _Moment(NamedTuple):
    """All that decoders need to know of a step."""

    hints: Values
    before: _Hidden
    after: _Hidden
    new_edges: Float[Array, "n n width"] | None


def _trajectory(
    network: Network,
    sample: Batch,
    noise: Noise | None,
    start: Start | None,
    *,
    hard: bool,
) -> Trajectory:
    """One sample's run."""
    weights = _Weights.of(network)
    rules = {f.name: KINDS[f.kind] for f in network.features}
    nodes, steps, hints = sample.nodes, sample.steps, sample.hints
    last = jnp.maximum(sample.lengths - 2, 0)
    reads_hints = network.config.encode_hints

    def as_values(truths: Values) -> Values:
        return {name: rules[name].value(truth, nodes) for name, truth in truths.items()}

    given = as_values(sample.inputs)
    read = hints if reads_hints else {}

    def states_of(encoded: Encoded, moment: _Moment) -> States:
        edges = encoded.edges
        if moment.new_edges is not None:
            edges = edges.beside(moment.new_edges)
        before, after = moment.before, moment.after
        return States(
            jnp.concatenate([encoded.nodes, before.nodes, after.nodes], -1),
            jnp.concatenate([encoded.read, before.nodes, after.nodes], -1),
            jnp.concatenate([encoded.nodes.max(0), before.highest, after.highest]),
            edges,
            encoded.graph,
        )

    def plus(kept, new, when):
        # A sum, not a choice: its derivative leaves what comes from later steps as it is.
        return jax.tree.map(lambda k, one: k + jnp.where(when, one, 0), kept, new)

    def step(carry, now):
        hidden, values, kept = carry
        index, truths, keep, force = now
        if force is not None:
            values = jax.tree.map(
                lambda true, own: jnp.where(force, true, own), as_values(truths), values
            )
        encoded = weights.encode(given | values, nodes)
        processed = _process(weights, encoded, hidden.nodes)
        after = _Hidden.of(processed.hidden if keep is None else processed.hidden * keep)
        moment = _Moment(values, hidden, after, processed.edges)
        logits = for_backward(weights.hints(states_of(encoded, moment)))
        if reads_hints:
            values = {name: rules[name].feed_back(logits[name], hard) for name in logits}
        kept = _Moment(
            plus(kept.hints, moment.hints, index == last),
            # The same states as `before` of the last step, which would have to be read again.
            plus(kept.before, after, index == last - 1),
            plus(kept.after, after, index == last),
            plus(kept.new_edges, processed.edges, index == last),
        )
        return (after, values, kept), (processed.attention, after.nodes, logits)

    first = as_values({name: truth[0] for name, truth in read.items()})
    hidden = jnp.zeros((nodes, network.config.width), network.dtype)
    if start is not None:
        hidden, first = start
    hidden = _Hidden.of(hidden)
    no_edges = None
    if network.rounds[-1].makes_edges:
        no_edges = jnp.zeros((nodes, nodes, network.config.width), network.dtype)
    keep, force = (None, None) if noise is None else (noise.keep, noise.force)
    now = (jnp.arange(steps), {name: truth[:steps] for name, truth in read.items()}, keep, force)
    kept = jax.tree.map(jnp.zeros_like, _Moment(first, hidden, hidden, no_edges))
    kept = kept._replace(before=plus(kept.before, hidden, last == 0))
    carry = (hidden, first, kept)
    unroll = 1
    if jax.default_backend() == "gpu":
        # A short loop is no loop: what the backward pass needs stays where it is. In a long one, to
        # put aside and fetch takes longer than to compute again. With states of edges, a step is
        # too much to compile again and again.
        if steps <= _UNROLLED and no_edges is None:
            unroll = steps
        else:
            step = jax.checkpoint(step, policy=what_is_kept, prevent_cse=False)
    (_, _, kept), (attention, hiddens, logits) = jax.lax.scan(step, carry, now, unroll=unroll)

    gumbel = jnp.zeros((nodes, nodes), network.dtype) if noise is None else noise.gumbel
    states = states_of(weights.encode(given | kept.hints, nodes), kept)
    return Trajectory(attention, hiddens, logits, weights.outputs(states, gumbel), states)


def _process(weights: _Weights, encoded: Encoded, hidden: Float[Array, "n width"]) -> Processed:
    """All rounds of a step; the attention of all rounds along the axis of heads."""
    attention = []
    processed = None
    for processor, prepared in zip(weights.network.rounds, weights.processors, strict=True):
        processed = processor(encoded, hidden, prepared)
        hidden = processed.hidden
        attention.append(processed.attention)
    assert processed is not None
    return processed._replace(attention=jnp.concatenate(attention))
