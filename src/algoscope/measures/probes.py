"""Linear probes: can a variable of the algorithm be decoded linearly from the hidden states?

External faithfulness depends on the network's decoders; a probe reads the hidden states
themselves. A probe is a ridge regression from the state of a node after a step, and its
position, to a hint of that step, trained on some problems, and scored on others and on larger ones.
The same probes of an untrained network are the baseline.

Scores are above chance: 1 is perfect, 0 what the best constant gives.

    scalar       R²
    pointer      R² of the position pointed to, over pointers that do not point to themselves
    mask         (balanced accuracy - 1/2) / (1/2)
    categorical  (balanced accuracy - 1/k) / (1 - 1/k) over the k classes that occur
    mask_one     the node with the largest value: (accuracy - 1/n) / (1 - 1/n)
"""

from typing import NamedTuple

import numpy as np

from algoscope.recording import Recording
from algoscope.regression import Line, fit_line
from algoscope.tasks import Batch, Feature, Kind, Location, Stage


class ProbeScores(NamedTuple):
    """Above-chance scores of one hint's probe; NaN where there is nothing to score."""

    same_size: float
    """On other problems of the size that the probe was trained on."""
    larger: float
    """On larger problems."""


NO_SCORES = ProbeScores(float("nan"), float("nan"))


def probe_scores(
    trained_on: tuple[Recording, Batch],
    same_size: tuple[Recording, Batch],
    larger: tuple[Recording, Batch],
) -> dict[str, ProbeScores]:
    """A probe for each hint at nodes, trained on the first recording and scored on the others."""
    scores = {}
    for feature in trained_on[1].at(Stage.HINT):
        if feature.location is not Location.NODE:
            continue
        x, y, rows = _data(feature, *trained_on)
        if not rows.any():
            continue
        line = fit_line(x[rows], y[rows])
        scores[feature.name] = ProbeScores(
            *(_score(feature, line, *_data(feature, *pair)) for pair in (same_size, larger))
        )
    return scores


def mean_score(scores: dict[str, ProbeScores]) -> ProbeScores:
    """The mean over hints."""
    if not scores:
        return NO_SCORES
    columns = zip(*scores.values(), strict=True)
    return ProbeScores(*(float(np.nanmean(column)) for column in columns))


def _data(
    feature: Feature, recording: Recording, batch: Batch
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs [batch, step, n, width + 1], targets [batch, step, n, k], which rows count [batch,
    step, n]."""
    hint = np.asarray(batch.hints[feature.name])[:, 1:]
    steps = hint.shape[1]
    hidden = np.asarray(recording.hidden, float)[:, :steps]
    pos = np.broadcast_to(batch.inputs["pos"][:, None], hidden.shape[:3])
    valid = np.arange(1, steps + 1) < batch.lengths[:, None]
    rows = np.broadcast_to(valid[:, :, None], pos.shape)
    match feature.kind:
        case Kind.POINTER | Kind.PERMUTATION:
            target = np.take_along_axis(pos, hint.astype(int), 2)[..., None]
            rows = rows & (hint != np.arange(hint.shape[2]))
        case Kind.CATEGORICAL:
            target, rows = (hint == 1).astype(float), rows & (hint != -1).all(-1)
        case Kind.MASK:
            target, rows = hint[..., None].astype(float), rows & (hint != -1)
        case _:
            target = hint[..., None].astype(float)
    return np.concatenate([hidden, pos[..., None]], -1), target, rows


def _score(feature: Feature, line: Line, x: np.ndarray, y: np.ndarray, rows: np.ndarray) -> float:
    if not rows.any():
        return float("nan")
    said = line(x)
    match feature.kind:
        case Kind.MASK:
            return _balanced(said[rows][:, 0] > 0.5, y[rows][:, 0] > 0.5)
        case Kind.CATEGORICAL:
            return _balanced(said[rows].argmax(-1), y[rows].argmax(-1))
        case Kind.MASK_ONE:
            steps, nodes = rows.any(-1), rows.shape[-1]
            right = said[..., 0].argmax(-1) == y[..., 0].argmax(-1)
            return float((right[steps].mean() - 1 / nodes) / (1 - 1 / nodes)) if nodes > 1 else 1.0
    error = ((said - y)[rows] ** 2).sum()
    spread = ((y[rows] - y[rows].mean(0)) ** 2).sum()
    return float(1 - error / spread) if spread > 1e-12 else float("nan")


def _balanced(said: np.ndarray, truth: np.ndarray) -> float:
    classes = np.unique(truth)
    if len(classes) < 2:
        return float("nan")
    accuracy = np.mean([(said[truth == c] == c).mean() for c in classes])
    chance = 1 / len(classes)
    return float((accuracy - chance) / (1 - chance))
