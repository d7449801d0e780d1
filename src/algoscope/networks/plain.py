"""The network over time: the reference that `networks.fast` has to equal.

At step t the network reads the inputs and the hints of step t, updates the hidden states, and
predicts the hints of step t + 1, which it reads next:

    encoded_t   = encoders(inputs, hints_t)
    hidden_t+1  = processor(encoded_t, hidden_t)                       hidden_0 = 0
    hints_t+1   = feed_back(decoders([encoded_t, hidden_t, hidden_t+1]))
    outputs     = decoders([encoded_T, hidden_T, hidden_T+1])          T the sample's last step

The first hints are the true ones, as in dm-clrs. Written for one sample, batched by vmap.
"""

import functools

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks.decoders import DecoderInputs
from algoscope.networks.encoders import Encoded, encode
from algoscope.networks.network import Network, Noise, Start, Trajectory
from algoscope.networks.processors import all_rounds
from algoscope.tasks import Batch, Stage


def trajectories(
    network: Network,
    batch: Batch,
    noise: Noise | None = None,
    *,
    training: bool = False,
    start: Start | None = None,
) -> Trajectory:
    """The trajectories of a whole batch; `noise` and `start` have a leading batch axis."""
    hard = network.config.feeds_back_hard(training)
    trajectory = functools.partial(_trajectory, network, hard=hard)
    with jax.default_matmul_precision(network.config.matrix_precision):
        return jax.vmap(trajectory)(batch, noise, start)


def _trajectory(
    network: Network,
    sample: Batch,
    noise: Noise | None,
    start: Start | None,
    *,
    hard: bool,
) -> Trajectory:
    """One sample's run."""
    nodes, steps = sample.nodes, sample.steps
    input_values = network.values(sample.inputs)
    true_hints = {name: truth[:steps] for name, truth in sample.hints.items()}
    if not network.config.encode_hints:
        true_hints = {}
    hint_decoders = network.decoders_at(Stage.HINT)
    output_decoders = network.decoders_at(Stage.OUTPUT)

    def step(carry, now):
        hidden, hint_values = carry
        if not network.config.memory:
            hidden = jnp.zeros_like(hidden)
        truths, keep, force = now
        if noise is not None:
            true_values = network.values(truths)
            hint_values = jax.tree.map(
                lambda truth, predicted: jnp.where(force, truth, predicted),
                true_values,
                hint_values,
            )
        values = input_values | hint_values
        encoded = encode(network.encoders, network.features, values, network.config.width)
        processed = all_rounds(network.rounds, encoded, hidden)
        after = processed.hidden if noise is None else processed.hidden * keep
        states = decoder_inputs(encoded, hidden, after, processed.edges)
        logits = {name: decoder(states) for name, decoder in hint_decoders.items()}
        carry = after, network.feed_back(logits, hard)
        return carry, (processed.attention, after, logits, states)

    if start is None:
        first_hints = {name: truth[0] for name, truth in true_hints.items()}
        hidden = jnp.zeros((nodes, network.config.width), network.dtype)
        start = Start(hidden, network.values(first_hints))
    keep, force = (None, None) if noise is None else (noise.keep, noise.force)
    _, steps_made = jax.lax.scan(step, tuple(start), (true_hints, keep, force), length=steps)
    attention, hidden, logits, states = steps_made

    last = jnp.maximum(sample.lengths - 2, 0)
    states = jax.tree.map(lambda every_step: every_step[last], states)
    noisy = states if noise is None else states._replace(gumbel=noise.gumbel)
    outputs = {name: decoder(noisy) for name, decoder in output_decoders.items()}
    return Trajectory(attention, hidden, logits, outputs, states)


def decoder_inputs(
    encoded: Encoded,
    before: Float[Array, "n width"],
    after: Float[Array, "n width"],
    new_edges: Float[Array, "n n width"] | None,
) -> DecoderInputs:
    edges = encoded.edges
    if new_edges is not None:
        edges = jnp.concatenate([edges, new_edges], -1)
    nodes = jnp.concatenate([encoded.nodes, before, after], -1)
    return DecoderInputs(nodes, edges, encoded.graph)
