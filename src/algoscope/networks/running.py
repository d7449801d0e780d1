"""Running a network: on problems, from states, and by which path."""

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algoscope.networks import fast, plain
from algoscope.networks.kinds import KINDS
from algoscope.networks.network import Network, Noise, Start, Trajectory
from algoscope.recording import Recording
from algoscope.tasks import Batch, Feature, Stage
from algoscope.tasks.transforms import PREDECESSOR, with_predecessors_as_inputs


class Path(NamedTuple):
    """How a network is computed. All paths give the same results, up to rounding."""

    is_fast: bool = True
    """By `networks.fast`, else by the equations of `networks.plain`."""
    backend: str = "cpu"
    """The kind of device that this is compiled for, by JAX's name of it."""
    second_derivatives: bool = False
    """Whether it can be differentiated twice. Kernels have the first derivative alone."""


PLAIN = Path(is_fast=False)


def fast_path(*, second_derivatives: bool = False) -> Path:
    """The fast path for the device that JAX uses."""
    return Path(backend=jax.default_backend(), second_derivatives=second_derivatives)


def trajectories(
    network: Network,
    batch: Batch,
    noise: Noise | None = None,
    *,
    training: bool = False,
    start: Start | None = None,
    path: Path | None = None,
) -> Trajectory:
    """The trajectories of a whole batch; `noise` and `start` have a leading batch axis. By the fast
    path unless told otherwise."""
    path = fast_path() if path is None else path
    if not path.is_fast:
        return plain.trajectories(network, batch, noise, training=training, start=start)
    return fast.trajectories(
        network,
        batch,
        noise,
        training=training,
        start=start,
        backend=path.backend,
        second_derivatives=path.second_derivatives,
    )


def run(network: Network, batch: Batch, *, path: Path | None = None) -> Recording:
    """Runs the network on a batch as in evaluation, and records everything."""
    return _run(network, to_device(network, batch), None, path or fast_path())


def run_from(
    network: Network, batch: Batch, start: Start, *, path: Path | None = None
) -> Recording:
    """Runs as many steps as the batch has from the states of `start`, [batch, …] each, instead of
    from the beginning: the step of an intervention."""
    return _run(network, to_device(network, batch), start, path or fast_path())


@functools.partial(jax.jit, static_argnames="path")
def _run(network: Network, batch: Batch, start: Start | None, path: Path) -> Recording:
    trajectory = trajectories(network, batch, start=start, path=path)
    logits = trajectory.hints | trajectory.outputs
    return Recording(
        trajectory.attention,
        trajectory.hidden,
        network.decide(trajectory.hints),
        network.decide(trajectory.outputs),
        batch.lengths,
        logits,
    )


def state_after(network: Network, recording: Recording, steps: Any) -> Start:
    """What the network left to the next step after the given step of each sample, int [batch]."""
    logits = {name: recording.logits[name] for name in recording.hints}
    samples = jnp.arange(len(steps))
    return start_at(network, jnp.asarray(recording.hidden), logits, (samples, steps))


def start_at(
    network: Network,
    hidden: Float[Array, "batch step n width"],
    logits: Mapping[str, Any],
    places: tuple[Any, Any],
    *,
    training: bool = False,
) -> Start:
    """What runs with these states, and these logits of hints, left to the next step at `places`:
    the samples and a step of each, int [batch]."""
    chosen = {name: each[places] for name, each in logits.items()}
    fed_back = network.feed_back(chosen, network.config.feeds_back_hard(training))
    return Start(hidden[places], fed_back)


def read_as(network: Network, name: str, truth: Any) -> Array:
    """A hint in the form of the batch, [batch, …], as the network's encoders read it."""
    feature = next(f for f in network.at(Stage.HINT) if f.name == name)
    return KINDS[feature.kind].value(_converted(network, feature, truth))


def to_device(network: Network, batch: Batch) -> Batch:
    """The batch as the network reads it: its features, as JAX arrays of its dtype; predecessors as
    an input, if they are one for the network."""
    if PREDECESSOR in network.features and PREDECESSOR.name not in batch.inputs:
        batch = with_predecessors_as_inputs(batch)
    missing = [
        f"{f.stage} {f.name}" for f in network.features if f.name not in batch.values(f.stage)
    ]
    if missing:
        raise ValueError(
            f"batch: got {batch!r}, which lacks {', '.join(missing)}; the network was built for "
            f"the features {', '.join(f.name for f in network.features)}"
        )
    size = network.config.attention_bias
    if size is not None and batch.nodes != size:
        raise ValueError(
            f"batch: got {batch.nodes} nodes, needed {size}, the size of the network's "
            f"pre-attention bias (attention_bias = {size})"
        )
    inputs, hints, outputs = (
        {f.name: _converted(network, f, batch.values(stage)[f.name]) for f in network.at(stage)}
        for stage in Stage
    )
    lengths = jnp.asarray(batch.lengths, jnp.int32)
    return Batch(batch.task, inputs, hints, outputs, lengths, network.features)


def _converted(network: Network, feature: Feature, truth: Any) -> Array:
    return jnp.asarray(truth, jnp.int32 if feature.is_pointer else network.dtype)
