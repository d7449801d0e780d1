"""The fast network over time; `networks.plain` says what it computes."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks.decoders import DecoderInputs
from algoscope.networks.fast.decoders import DecoderBank, DecoderStates
from algoscope.networks.fast.encoders import Encoders, Scalars
from algoscope.networks.fast.layers import save_for_backward, save_named
from algoscope.networks.fast.processors import FastProcessor, fast_processor
from algoscope.networks.layers import Linear
from algoscope.networks.lean import Split
from algoscope.networks.network import Network, Noise, Start, Trajectory, Values
from algoscope.networks.processors import all_rounds
from algoscope.tasks import Batch, Stage

_UNROLLED = 8
"""Steps."""


def trajectories(
    network: Network,
    batch: Batch,
    noise: Noise | None = None,
    *,
    training: bool = False,
    start: Start | None = None,
    backend: str,
    second_derivatives: bool = False,
) -> Trajectory:
    """The trajectories of a whole batch; `noise` and `start` have a leading batch axis. The backend
    is what this is compiled for. Only with `second_derivatives` can it be differentiated twice."""
    config, on_gpu = network.config, backend == "gpu"
    with jax.default_matmul_precision(config.matrix_precision):
        prepared = _Prepared.of(
            network,
            # Networks of full precision, such as compiled ones, are to round as they were verified.
            merges_nodes=on_gpu and config.matrix_precision == "default",
            uses_kernels=on_gpu and not second_derivatives,
        )
        trajectory = functools.partial(
            _trajectory, network, prepared, hard=config.feeds_back_hard(training), on_gpu=on_gpu
        )
        return jax.vmap(trajectory)(batch, noise, start)


class _Prepared(NamedTuple):
    """All that depends on the weights alone, done once for all steps."""

    encoders: Encoders
    edges: Linear
    """From the scalars of edges to the features that decoders read."""
    rounds: list[FastProcessor]
    hints: DecoderBank
    outputs: DecoderBank

    @staticmethod
    def of(network: Network, *, merges_nodes: bool, uses_kernels: bool) -> "_Prepared":
        encoders = Encoders.of(network, merges_nodes)
        rounds = [fast_processor(p, encoders, uses_kernels) for p in network.rounds]
        edges = encoders.edges
        if network.makes_edges:
            edges = _with_new_edges(edges, network.config.width)
        few_units = any(isinstance(processor, Split) for processor in network.rounds)
        hints, outputs = (
            DecoderBank.of(network.decoders_at(stage), encoders, edges, uses_kernels, few_units)
            for stage in (Stage.HINT, Stage.OUTPUT)
        )
        return _Prepared(encoders, edges, rounds, hints, outputs)


def _with_new_edges(edges: Linear, width: int) -> Linear:
    """The layer with so many features appended, each its own scalar."""
    own = jnp.eye(width, dtype=edges.bias.dtype)
    return Linear(jax.scipy.linalg.block_diag(edges.weight, own), jnp.pad(edges.bias, (0, width)))


class _Hidden(NamedTuple):
    """Hidden states, and what two steps read of them."""

    nodes: Float[Array, "n width"]
    highest: Float[Array, " width"]
    """Over nodes."""

    @staticmethod
    def of(nodes: Float[Array, "n width"]) -> "_Hidden":
        return _Hidden(nodes, nodes.max(0))


class _StepStates(NamedTuple):
    """All that decoders need to know of a step."""

    hints: Values
    before: _Hidden
    after: _Hidden
    new_edges: Float[Array, "n n width"] | None


def _decoder_states(scalars: Scalars, step: _StepStates) -> DecoderStates:
    edges = scalars.edges
    if step.new_edges is not None:
        edges = jnp.concatenate([edges, step.new_edges], -1)
    before, after = step.before, step.after
    return DecoderStates(
        jnp.concatenate([scalars.nodes, before.nodes, after.nodes], -1),
        jnp.concatenate([scalars.merged_nodes, before.nodes, after.nodes], -1),
        jnp.concatenate([scalars.nodes.max(0), before.highest, after.highest]),
        edges,
        scalars.graph,
    )


def _add_when(condition: Array, total: Any, new: Any) -> Any:
    # A sum, not a choice: its derivative leaves what comes from later steps as it is.
    return jax.tree.map(lambda t, n: t + jnp.where(condition, n, 0), total, new)


def _trajectory(
    network: Network,
    prepared: _Prepared,
    sample: Batch,
    noise: Noise | None,
    start: Start | None,
    *,
    hard: bool,
    on_gpu: bool,
) -> Trajectory:
    """One sample's run."""
    nodes, steps = sample.nodes, sample.steps
    last = jnp.maximum(sample.lengths - 2, 0)
    reads_hints, memory = network.config.encode_hints, network.config.memory
    input_values = network.values(sample.inputs)
    read = sample.hints if reads_hints else {}

    def step(carry, now):
        hidden, values, final = carry
        index, truths, keep, force = now
        if force is not None:
            values = jax.tree.map(
                lambda truth, predicted: jnp.where(force, truth, predicted),
                network.values(truths),
                values,
            )
        scalars = prepared.encoders(input_values | values)
        processed = all_rounds(prepared.rounds, scalars, hidden.nodes)
        after = _Hidden.of(processed.hidden if keep is None else processed.hidden * keep)
        states = _StepStates(values, hidden, after, processed.edges)
        logits = save_for_backward(prepared.hints(_decoder_states(scalars, states)))
        if reads_hints:
            values = network.feed_back(logits, hard)
        passed_on = after if memory else jax.tree.map(jnp.zeros_like, after)
        final = _StepStates(
            _add_when(index == last, final.hints, states.hints),
            # The same states as `before` of the last step, which would have to be read again.
            _add_when(index == last - 1, final.before, passed_on),
            _add_when(index == last, final.after, after),
            _add_when(index == last, final.new_edges, processed.edges),
        )
        return (passed_on, values, final), (processed.attention, after.nodes, logits)

    first = network.values({name: truth[0] for name, truth in read.items()})
    hidden = jnp.zeros((nodes, network.config.width), network.dtype)
    if start is not None:
        hidden, first = start
    hidden = _Hidden.of(hidden if memory else jnp.zeros_like(hidden))
    no_edges = None
    if network.makes_edges:
        no_edges = jnp.zeros((nodes, nodes, network.config.width), network.dtype)
    keep, force = (None, None) if noise is None else (noise.keep, noise.force)
    now = (jnp.arange(steps), {name: truth[:steps] for name, truth in read.items()}, keep, force)
    final = jax.tree.map(jnp.zeros_like, _StepStates(first, hidden, hidden, no_edges))
    final = final._replace(before=_add_when(last == 0, final.before, hidden))
    carry = (hidden, first, final)
    unroll = 1
    if on_gpu:
        # Unrolled, a short loop saves nothing to memory for the backward pass. In a long one,
        # recomputing is faster than saving and reloading. With states of edges, a step is too
        # large to be compiled many times.
        if steps <= _UNROLLED and no_edges is None:
            unroll = steps
        else:
            step = jax.checkpoint(step, policy=save_named, prevent_cse=False)
    (_, _, final), (attention, hiddens, logits) = jax.lax.scan(step, carry, now, unroll=unroll)

    gumbel = jnp.zeros((nodes, nodes), network.dtype) if noise is None else noise.gumbel
    scalars = prepared.encoders(input_values | final.hints)
    states = _decoder_states(scalars, final)
    outputs = prepared.outputs(states, gumbel)
    decoder_inputs = DecoderInputs(
        states.nodes, prepared.edges(states.edges), prepared.encoders.graph(states.graph)
    )
    return Trajectory(attention, hiddens, logits, outputs, decoder_inputs)
