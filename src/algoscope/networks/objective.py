"""The training loss and the scores, as dm-clrs computes them."""

from collections.abc import Iterator, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from algoscope.networks.kinds import KINDS
from algoscope.networks.network import Network, Noise, Trajectory
from algoscope.networks.running import Path, trajectories
from algoscope.recording import Recording
from algoscope.tasks import Batch, Stage

_EPSILON = 1e-12


def loss(
    network: Network, batch: Batch, noise: Noise | None = None, *, path: Path | None = None
) -> Float[Array, ""]:
    """The training loss of the network on a batch."""
    return trajectory_loss(
        network, trajectories(network, batch, noise, training=True, path=path), batch
    )


def trajectory_loss(network: Network, run: Trajectory, batch: Batch) -> Float[Array, ""]:
    """The sum over outputs and hints of the mean loss over valid samples, steps and places."""
    total = jnp.zeros((), network.dtype)
    for term in (*output_losses(network, run, batch), *hint_losses(network, run, batch)):
        total += term
    return total


def output_losses(network: Network, run: Trajectory, batch: Batch) -> Iterator[Float[Array, ""]]:
    """Each output's mean loss over samples and places."""
    for feature in network.at(Stage.OUTPUT):
        values, weights = KINDS[feature.kind].losses(
            run.outputs[feature.name], batch.outputs[feature.name]
        )
        yield jnp.sum(values * weights) / jnp.sum(weights)


def hint_losses(network: Network, run: Trajectory, batch: Batch) -> Iterator[Float[Array, ""]]:
    """Each predicted hint's mean loss over valid samples, steps and places."""
    for feature in network.at(Stage.HINT):
        if feature.name not in run.hints:
            continue
        truth = batch.hints[feature.name][:, 1:]
        logits = run.hints[feature.name][:, : truth.shape[1]]
        values, weights = KINDS[feature.kind].losses(logits, truth)
        counts = batch.lengths[:, None] > jnp.arange(1, truth.shape[1] + 1)[None]
        weights *= counts.reshape(counts.shape + (1,) * (weights.ndim - 2))
        yield jnp.sum(values * weights) / jnp.maximum(jnp.sum(weights), _EPSILON)


def scores_inside(
    network: Network, batch: Batch, most_at_once: int = 32, *, path: Path | None = None
) -> dict[str, Float[Array, ""]]:
    """Each output's score, as `score` gives it, inside a compiled function; the network runs on a
    part of the batch at a time."""
    outputs = network.at(Stage.OUTPUT)
    count = len(batch)
    at_once = max(d for d in range(1, min(most_at_once, count) + 1) if count % d == 0)

    def decide(part: Batch) -> dict[str, Array]:
        return network.decide(trajectories(network, part, path=path).outputs)

    parts = jax.tree.map(lambda a: a.reshape(count // at_once, at_once, *a.shape[1:]), batch)
    decided = jax.lax.map(decide, parts)
    valid = jnp.ones(count, bool)
    return {
        f.name: KINDS[f.kind].score(
            decided[f.name].reshape(count, *decided[f.name].shape[2:]),
            batch.outputs[f.name],
            valid,
        )
        for f in outputs
    }


def score(recording: Recording, batch: Batch) -> dict[str, float]:
    """Each output's score (F1 of masks, accuracy of choices and pointers), and their mean as
    "score"."""
    return score_outputs(recording.outputs, batch)


def score_outputs(outputs: Mapping[str, Array | np.ndarray], batch: Batch) -> dict[str, float]:
    """The same of outputs alone."""
    valid = jnp.ones(len(batch), bool)
    scores = {
        f.name: float(
            KINDS[f.kind].score(
                jnp.asarray(outputs[f.name]), jnp.asarray(batch.outputs[f.name]), valid
            )
        )
        for f in batch.at(Stage.OUTPUT)
    }
    return scores | {"score": sum(scores.values()) / len(scores)}


def hint_scores(recording: Recording, batch: Batch) -> dict[str, Float[Array, " step"]]:
    """Each hint's score at each step, 0 where no sample has come so far (mean squared error for
    scalars, for which lower is better)."""
    scores = {}
    for feature in batch.at(Stage.HINT):
        if feature.name not in recording.hints:
            continue
        truth = jnp.asarray(batch.hints[feature.name])[:, 1:]
        steps = truth.shape[1]
        valid = jnp.asarray(batch.lengths)[:, None] > jnp.arange(1, steps + 1)[None]
        along_time = jax.vmap(KINDS[feature.kind].score, in_axes=1)(
            jnp.asarray(recording.hints[feature.name])[:, :steps], truth, valid
        )
        scores[feature.name] = jnp.where(valid.any(0), along_time, 0.0)
    return scores
