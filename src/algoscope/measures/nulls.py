"""Nulls: the distances that subjects without the mechanism have.

    uniform     every neighbour is read alike
    permuted    the subject's own attention, its senders permuted among a row's neighbours
    untrained   networks like the subject with random weights
    wrong       programs that are known to be another algorithm, on average

Every internal number also stands on a scale on which 0 is the null and 1 the reference,

    scaled = (null - subject) / (null - reference)

with a 95 % interval from 1,000 bootstrap samples of the problems, subject and null together. Above
1 and below 0 are possible: a subject can be farther away than the null.
"""

from typing import NamedTuple

import jax
import numpy as np

from algoscope import networks, programs
from algoscope.measures.attention_match import Rows
from algoscope.measures.references import Reference
from algoscope.networks import Network
from algoscope.programs import Role
from algoscope.programs.interpreter import follow
from algoscope.recording import Recording
from algoscope.statistics import Estimate, interval, resamples
from algoscope.tasks import Batch, Stage

_RESAMPLES = 1000
_AGREEMENTS = ("agrees", "agrees_any_head")
"""Measures that are 1 at the reference; all others are 0."""
_READ = 1e-6


class Scaled(NamedTuple):
    """A mean over rows on the scale 0 = null, 1 = reference."""

    scaled: Estimate
    raw: float
    null: float


def neighbours(batch: Batch) -> np.ndarray:
    """Whom a network's nodes can read at each step, by the true trace: those joined by edges or
    pointers, and themselves. bool [batch, step, receiver, sender]"""
    nodes, steps = batch.nodes, batch.steps
    joined = np.zeros((len(batch), steps, nodes, nodes), bool) | np.eye(nodes, dtype=bool)
    for feature in batch.features:
        if feature.stage is Stage.OUTPUT or not feature.joins_nodes:
            continue
        values = batch.values(feature.stage)[feature.name]
        over_time = values[:, None] if feature.stage is Stage.INPUT else values[:, :steps]
        if feature.is_pointer:
            over_time = np.eye(nodes)[over_time.astype(int)]
        joined |= feature.joined(over_time)
    return joined


def uniform_attention(batch: Batch) -> np.ndarray:
    """Every neighbour is read alike: [batch, step, 1, receiver, sender]."""
    joined = neighbours(batch)[:, :, None].astype(float)
    return joined / joined.sum(-1, keepdims=True)


def permuted_attention(attention: np.ndarray, batch: Batch, seed: int = 0) -> np.ndarray:
    """The same attention with the senders of each row in random order, among the neighbours and
    whom else the row reads."""
    allowed = neighbours(batch)[:, :, None] | (attention > _READ)
    drawn = np.random.default_rng(seed).random(attention.shape)
    # Rows list the allowed senders first, once in their order and once in a random one.
    ordered = np.argsort(~allowed, -1, kind="stable")
    shuffled = np.argsort(np.where(allowed, drawn, 2.0), -1)
    permuted = np.zeros_like(attention)
    np.put_along_axis(permuted, shuffled, np.take_along_axis(attention, ordered, -1), -1)
    return permuted


def any_head_agreement(
    attention: np.ndarray, reference: Reference, adjacent: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Whether some head reads most whom the reference reads, and how likely that were if every head
    read any neighbour (or whom it does read): both [batch, step, reference head, receiver]."""
    read, choices = attention.argmax(-1), reference.choices
    agrees = (read[:, :, None] == choices[:, :, :, None]).any(3)
    degrees = adjacent.sum(-1)[:, :, None]

    def are_neighbours(senders: np.ndarray) -> np.ndarray:
        return np.take_along_axis(adjacent[:, :, None], senders[..., None], -1)[..., 0]

    missed = np.ones(choices.shape)
    for head in range(attention.shape[2]):
        chosen = read[:, :, head : head + 1]
        possible = are_neighbours(choices) | (chosen == choices)
        missed *= 1 - possible / (degrees + ~are_neighbours(chosen))
    return agrees.astype(float), 1 - missed


def untrained(network: Network, seed: int) -> Network:
    """A network like this one, with random weights."""
    return networks.build(network.features, network.config, key=jax.random.key(seed))


def wrong_recordings(batch: Batch) -> dict[str, Recording]:
    """What the programs do that are known to be another algorithm than the task's, also where they
    break promises of the language: wrong ones may."""
    wrong = programs.of_task(batch.task, Role.WRONG)
    return {p.name: follow(p, batch).recording for p in wrong}


def on_scale(subject: Rows, null: Rows, chosen: np.ndarray, seed: int = 0) -> dict[str, Scaled]:
    """Each of the measures of rows on the scale, over the chosen rows."""
    counts = chosen.sum((1, 2, 3))
    drawn = resamples(len(counts), _RESAMPLES, seed)
    scaled = {}
    for name, rows, null_rows in zip(Rows._fields, subject, null, strict=True):
        best = float(name in _AGREEMENTS)
        sums = np.stack([(r * chosen).sum((1, 2, 3)) for r in (rows, null_rows)])
        means = sums[:, drawn].sum(-1) / np.maximum(counts[drawn].sum(-1), 1)
        raw = sums.sum(-1) / max(1, counts.sum())
        value = float(_scale(raw[:, None], best)[0])
        estimate = Estimate(value, *interval(_scale(means, best)))
        scaled[name] = Scaled(estimate, *raw.tolist())
    return scaled


def _scale(means: np.ndarray, best: float) -> np.ndarray:
    raw, null = means
    span = null - best
    return np.divide(null - raw, span, out=np.zeros_like(span), where=np.abs(span) > 1e-12)
