"""External faithfulness: how much of the algorithm's trace a subject predicts.

    eq25         the share of entries within the margin, averaged over steps (Mind The Gap eq. 25);
                 margins .5 for numbers, .1 for masks, 1e-6 for classes
    exact_steps  the share of steps at which every entry is within the margin
    moves        the share of *moves* that are right: entries that the algorithm changes in a step,
                 or that the subject says it changes. Most entries of a trace stand still, and a
                 subject that says nothing ever happens predicts most of eq25.

A number's move is right if it is within .05 of the new value, and nearer to it than to the old one.
Each sample has its own number of steps; padding counts nowhere. A sample of a single step has no
predicted trace and does not count.
"""

from typing import NamedTuple

import numpy as np

from algoscope.recording import Recording
from algoscope.statistics import mean, share
from algoscope.tasks import Batch, Feature, Kind, Stage

MARGINS = {Kind.SCALAR: 0.5, Kind.MASK: 0.1}
_CLASS_MARGIN = 1e-6
NUMBER_MARGIN = 0.05
"""Within this a number is the same, where changes are compared."""
_STANDS = 1e-6


class Faithfulness(NamedTuple):
    """Of one hint; NaN where nothing counts."""

    eq25: float
    exact_steps: float
    moves: float
    moves_counted: int
    eq25_per_step: np.ndarray
    """Over the samples that have come so far: [step]"""


class External(NamedTuple):
    by_hint: dict[str, Faithfulness]
    eq25: float
    """The mean over hints."""
    exact_steps: float
    """The share of steps at which every entry of every hint is within the margin."""
    moves: float
    """Over the moves of all hints."""


def external_faithfulness(subject: Recording, batch: Batch) -> External:
    """How much of the batch's trace the subject's hints are."""
    features = [f for f in batch.at(Stage.HINT) if f.name in subject.hints]
    if not features:
        wanted = ", ".join(f.name for f in batch.at(Stage.HINT))
        raise ValueError(
            f"recording: got no hints, needed some of {wanted}; a subject that predicts no trace "
            "can be judged by attention, probes and outputs alone"
        )
    # A sample of one step has no predicted trace.
    valid = batch.valid[:, : batch.time - 1] & (batch.lengths > 1)[:, None]
    exact: np.ndarray = valid.copy()
    by_hint, moves = {}, np.zeros(2, int)
    for feature in features:
        truth = entries(feature, batch.hints[feature.name])
        predicted = entries(feature, subject.hints[feature.name])[:, : batch.time - 1]
        right = np.abs(predicted - truth[:, 1:]) <= MARGINS.get(feature.kind, _CLASS_MARGIN)
        right = right.reshape(*right.shape[:2], -1)
        exact = exact & np.all(right, -1)
        feature_moves = _moves(feature, predicted, truth, valid)
        moves += feature_moves
        per_step = right.mean(-1)
        by_hint[feature.name] = Faithfulness(
            mean(per_step[valid]),
            mean(np.all(right, -1)[valid]),
            share(*feature_moves),
            int(feature_moves[1]),
            np.array([mean(per_step[:, t][valid[:, t]]) for t in range(valid.shape[1])]),
        )
    eq25 = float(np.mean([f.eq25 for f in by_hint.values()]))
    return External(by_hint, eq25, mean(exact[valid]), share(*moves))


def entries(feature: Feature, values) -> np.ndarray:
    """One number an entry: of a one-hot feature the index."""
    values = np.asarray(values, float)
    return values.argmax(-1).astype(float) if feature.one_hot else values


def _moves(
    feature: Feature, predicted: np.ndarray, truth: np.ndarray, valid: np.ndarray
) -> np.ndarray:
    """Right moves, and all moves: int [2]. The subject moves where its prediction differs from the
    truth before the step."""
    before, after = truth[:, :-1], truth[:, 1:]
    way = np.abs(after - before)
    margin = np.full(way.shape, _STANDS)
    if feature.kind is Kind.SCALAR:
        margin = np.where(way > _STANDS, np.minimum(NUMBER_MARGIN, way / 2), NUMBER_MARGIN)
    moved = (way > _STANDS) | (np.abs(predicted - before) > margin)
    moved &= valid.reshape(valid.shape + (1,) * (moved.ndim - 2))
    right = moved & (np.abs(predicted - after) <= margin)
    return np.array([right.sum(), moved.sum()])
