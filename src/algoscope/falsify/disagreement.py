"""Where a subject's account of a problem differs from the algorithm's, and how nearly it does.

A sample *disagrees* if an output differs, or a hint at a step that is no padding. Discrete values
are compared as they are, numbers within a tolerance. The *margin* of a sample is the least lead of
a right decision over the best wrong one, over all entries and steps:

    margin = min over discrete entries of (logit of the truth - highest other logit)

It is below 0 where a decision is wrong, and small where one nearly was. A subject without logits
has no margin.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from algoscope import networks
from algoscope.falsify.account import Account, Function, Subject, observe
from algoscope.networks import Network, Path
from algoscope.recording import Recording
from algoscope.tasks import Batch, Feature, Kind, Stage

LARGEST_TOLERANCE = 0.05
"""Numbers are compared no more coarsely than this."""


class Disagreement(NamedTuple):
    """Of each sample of a batch; JAX's arrays inside a compiled function, else numpy's."""

    wrong: Any
    """Whether the trace or the answer differs: bool [batch]."""
    wrong_answer: Any
    """Whether the answer does: bool [batch]."""
    first_step: Any
    """The first step with a wrong hint, -1 where all are right: int [batch]."""
    margin: Any
    """float [batch]; infinite without logits."""
    error: Any
    """The largest error of a number: float [batch]."""


def compare(subject: Subject, batch: Batch, tolerance: float = LARGEST_TOLERANCE) -> Disagreement:
    """Runs the subject on the batch and compares."""
    if isinstance(subject, Network):
        result = run_and_compare(subject, batch, tolerance)
    else:
        result = _compare(_observed(subject, batch), batch, tolerance)
    return Disagreement(*map(np.asarray, result))


def run_and_compare(network: Network, batch: Batch, tolerance: float) -> Disagreement:
    """`compare`, in arrays of JAX's device."""
    on_device = networks.to_device(network, batch)
    return _run_and_compare(network, on_device, tolerance, networks.fast_path())


def compare_all(stacked: Network, batch: Batch, tolerances: np.ndarray) -> Disagreement:
    """`compare` for networks that are stacked along a first axis of every array, each with its own
    tolerance, float [network]: [network, batch] each."""
    batch = networks.to_device(stacked, batch)
    at_once = networks.side_by_side(stacked, batch)
    result = _run_and_compare_all(stacked, batch, tolerances, at_once, networks.fast_path())
    return Disagreement(*map(np.asarray, result))


def account(subject: Subject, batch: Batch) -> Account:
    """What the subject says about the batch, without logits."""
    if isinstance(subject, Network):
        said = _run(subject, networks.to_device(subject, batch), networks.fast_path())
    else:
        said = _observed(subject, batch)
    hints, outputs = ({k: np.asarray(v) for k, v in d.items()} for d in (said.hints, said.outputs))
    return Account(hints, outputs, {})


def wrong_entries(feature: Feature, said: Account, batch: Batch, tolerance: float) -> np.ndarray:
    """Where what is said of a hint or an output differs: bool [batch, step, …] or [batch, …]."""
    truth = jnp.asarray(batch.values(feature.stage)[feature.name])
    if feature.stage is Stage.HINT:
        truth = truth[:, 1:]
    return np.asarray(_entries(feature, said, truth, tolerance).wrong)


def margin_gradient(network: Network, batch: Batch, name: str) -> np.ndarray:
    """The gradient of each sample's margin by one of its inputs: [batch, …]."""
    gradient = _margin_gradient(
        network, networks.to_device(network, batch), name, networks.fast_path()
    )
    return np.asarray(gradient)


def _observed(function: Function, batch: Batch) -> Account:
    said = observe(function, batch)
    if isinstance(said, Recording):
        return Account(said.hints, said.outputs, said.logits)
    return Account({}, said, {})


@functools.partial(jax.jit, static_argnames="path")
def _run(network: Network, batch: Batch, path: Path) -> Account:
    return _account(network, batch, path)


@functools.partial(jax.jit, static_argnames="path")
def _run_and_compare(network: Network, batch: Batch, tolerance: float, path: Path) -> Disagreement:
    return _disagreement(_account(network, batch, path), batch, tolerance)


@functools.partial(jax.jit, static_argnames=("at_once", "path"))
def _run_and_compare_all(
    stacked: Network, batch: Batch, tolerances: Array, at_once: int, path: Path
) -> Disagreement:
    def one(network_and_tolerance: tuple[Network, Array]) -> Disagreement:
        network, tolerance = network_and_tolerance
        return _disagreement(_account(network, batch, path), batch, tolerance)

    return jax.lax.map(one, (stacked, tolerances), batch_size=at_once)


_compare = jax.jit(lambda account, batch, tolerance: _disagreement(account, batch, tolerance))


@functools.partial(jax.jit, static_argnames=("name", "path"))
def _margin_gradient(network: Network, batch: Batch, name: str, path: Path) -> Array:
    def total(values: Array) -> Array:
        changed = Batch(
            batch.task,
            batch.inputs | {name: values},
            batch.hints,
            batch.outputs,
            batch.lengths,
            batch.features,
        )
        margin = _disagreement(_account(network, changed, path), changed, 0.0).margin
        return jnp.where(jnp.isfinite(margin), margin, 0.0).sum()

    return jax.grad(total)(batch.inputs[name])


def _account(network: Network, batch: Batch, path: Path) -> Account:
    trajectory = networks.trajectories(network, batch, path=path)
    return Account(
        network.decide(trajectory.hints),
        network.decide(trajectory.outputs),
        trajectory.hints | trajectory.outputs,
    )


def _disagreement(account: Account, batch: Batch, tolerance: float | Array) -> Disagreement:
    count = len(batch.lengths)
    wrong_answer = jnp.zeros(count, bool)
    margin = jnp.full(count, jnp.inf)
    error = jnp.zeros(count)
    for feature in batch.at(Stage.OUTPUT):
        truth = jnp.asarray(batch.outputs[feature.name])
        entries = _entries(feature, account, truth, tolerance)
        wrong_answer |= entries.wrong.reshape(count, -1).any(1)
        if entries.lead is not None:
            margin = jnp.minimum(margin, entries.lead.reshape(count, -1).min(1))
        if entries.error is not None:
            error = jnp.maximum(error, entries.error.reshape(count, -1).max(1))
    wrong_steps = jnp.zeros((count, batch.steps), bool)
    traced = (jnp.asarray(batch.lengths) > 1)[:, None]
    for feature in batch.at(Stage.HINT):
        if feature.name not in account.hints or batch.time == 1:
            continue
        truth = jnp.asarray(batch.hints[feature.name])[:, 1:]
        entries = _entries(feature, account, truth, tolerance)
        counted = jnp.asarray(batch.valid) & traced
        shape = (count, batch.steps, -1)
        wrong_steps |= entries.wrong.reshape(shape).any(2) & counted
        if entries.lead is not None:
            lead = jnp.where(counted, entries.lead.reshape(shape).min(2), jnp.inf)
            margin = jnp.minimum(margin, lead.min(1))
        if entries.error is not None:
            apart = jnp.where(counted, entries.error.reshape(shape).max(2), 0.0)
            error = jnp.maximum(error, apart.max(1))
    wrong_trace = wrong_steps.any(1)
    first_step = jnp.where(wrong_trace, wrong_steps.argmax(1), -1)
    return Disagreement(wrong_answer | wrong_trace, wrong_answer, first_step, margin, error)


class _Entries(NamedTuple):
    """Of one feature, entry by entry: [batch, …]"""

    wrong: Array
    lead: Array | None
    """Of discrete values that have logits."""
    error: Array | None
    """Of numbers."""


def _entries(
    feature: Feature, account: Account, truth: Array, tolerance: float | Array
) -> _Entries:
    """What the truth masks counts nowhere."""
    stage = account.outputs if feature.stage is Stage.OUTPUT else account.hints
    said = jnp.asarray(stage[feature.name])
    if feature.stage is Stage.HINT:
        said = said[:, : truth.shape[1]]
    logits = account.logits.get(feature.name)
    if feature.kind is Kind.SCALAR:
        apart = jnp.abs(said - truth)
        # Not <=, so that NaN is wrong.
        return _Entries(~(apart <= tolerance), None, apart)
    if feature.one_hot:
        masked = (truth < 0).any(-1)
        index = jnp.abs(truth).argmax(-1)
        wrong = ~masked & (said.argmax(-1) != index)
    else:
        masked = truth < 0
        index = truth.astype(int)
        wrong = ~masked & (jnp.round(said) != truth)
    # Permutations are decided by Sinkhorn's algorithm and have no plain logits.
    if logits is None or isinstance(logits, tuple):
        return _Entries(wrong, None, None)
    lead = _lead(feature, jnp.asarray(logits), index)
    return _Entries(wrong, jnp.where(masked, jnp.inf, lead), None)


def _lead(feature: Feature, logits: Array, index: Array) -> Array:
    """By how much the true class leads."""
    if feature.stage is Stage.HINT:
        logits = logits[:, : index.shape[1]]
    if feature.kind is Kind.MASK:
        return jnp.where(index > 0, logits, -logits)
    right = jnp.take_along_axis(logits, index[..., None], -1)
    is_right = jax.nn.one_hot(index, logits.shape[-1], dtype=bool)
    others = jnp.where(is_right, -jnp.inf, logits)
    return (right - others.max(-1, keepdims=True))[..., 0]
