"""Across solutions: do seeds find the same mechanism, and does accuracy go with faithfulness?"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.cluster.hierarchy
import scipy.spatial.distance

from algoscope.recording import Recording
from algoscope.statistics import interval, resamples

Numbers = Sequence[float] | np.ndarray
_NO_STRUCTURE = 0.25
_RESAMPLES = 2000


class Correlation(NamedTuple):
    """With two-sided p-values and 95 % intervals: Pearson's by Fisher's transformation, Spearman's
    by 2,000 bootstrap samples."""

    count: int
    pearson: float
    pearson_p: float
    pearson_low: float
    pearson_high: float
    spearman: float
    spearman_p: float
    spearman_low: float
    spearman_high: float


class Partial(NamedTuple):
    """A correlation of what a third number leaves of two others, with two-sided p-values."""

    count: int
    pearson: float
    pearson_p: float
    spearman: float
    spearman_p: float


class Clusters(NamedTuple):
    count: int
    labels: np.ndarray
    """Of each solution, from 1: [seed]"""
    silhouettes: dict[int, float]
    """The mean silhouette of each number of clusters that was tried."""
    merges: np.ndarray
    """Ward's tree in scipy's form: [seed - 1, 4]"""


def pairwise_total_variation(recordings: Sequence[Recording]) -> np.ndarray:
    """The mean total variation between the attention of any two solutions on one batch, heads
    averaged, over steps that are no padding: [seed, seed], from 0 to 1."""
    if len(recordings) < 2:
        raise ValueError(f"recordings: got {len(recordings)}, needed at least 2 to compare")
    shapes = {np.shape(r.attention)[:2] + np.shape(r.attention)[3:] for r in recordings}
    if len(shapes) > 1:
        raise ValueError(
            f"recordings: got attention of shapes {sorted(shapes)}, needed all on one batch"
        )
    valid = recordings[0].valid
    rows = [np.asarray(r.attention).mean(2)[valid] for r in recordings]
    distances = np.zeros((len(rows), len(rows)))
    for i, one in enumerate(rows):
        for j in range(i):
            distances[i, j] = distances[j, i] = np.abs(one - rows[j]).sum(-1).mean() / 2
    return distances


def ward_clusters(distances: np.ndarray, most: int = 24) -> Clusters:
    """Ward's method on pairwise distances [seed, seed]. The number of clusters, from 2 to `most`,
    is the one with the largest mean silhouette (Rousseeuw, 1987), and 1 if that is below 0.25,
    which Kaufman and Rousseeuw read as no structure."""
    count = len(distances)
    if count < 3:
        raise ValueError(f"distances: got {count} solutions, needed at least 3 to cluster")
    condensed = scipy.spatial.distance.squareform(distances, checks=False)
    merges = scipy.cluster.hierarchy.ward(condensed)

    def labels_of(clusters: int) -> np.ndarray:
        return scipy.cluster.hierarchy.fcluster(merges, clusters, "maxclust")

    silhouettes = {
        k: mean_silhouette(distances, labels_of(k)) for k in range(2, min(most, count - 1) + 1)
    }
    best = max(silhouettes, key=lambda k: silhouettes[k])
    chosen = best if silhouettes[best] >= _NO_STRUCTURE else 1
    return Clusters(chosen, labels_of(chosen), silhouettes, merges)


def mean_silhouette(distances: np.ndarray, labels: np.ndarray) -> float:
    """The mean over solutions of (b - a) / max(a, b): a the mean distance to one's own cluster, b
    to the nearest other one; 0 for a cluster of one."""
    names = np.unique(labels)
    if len(names) < 2:
        return 0.0
    values = np.zeros(len(labels))
    for i, label in enumerate(labels):
        fellows = (labels == label) & (np.arange(len(labels)) != i)
        if not fellows.any():
            continue
        a = distances[i, fellows].mean()
        b = min(distances[i, labels == other].mean() for other in names if other != label)
        values[i] = (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return float(values.mean())


def correlation(accuracy: Numbers, faithfulness: Numbers) -> Correlation:
    """Of two numbers of each solution."""
    from scipy.stats import pearsonr, spearmanr

    x, y = np.asarray(accuracy, float), np.asarray(faithfulness, float)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"got {list(x.shape)} and {list(y.shape)} numbers, needed one pair a seed")
    if len(x) < 3:
        raise ValueError(
            f"seeds: got {len(x)}, needed at least 3 for a correlation; each seed's own verdict "
            "needs one"
        )
    for name, values in (("accuracy", x), ("faithfulness", y)):
        if not np.isfinite(values).all() or np.ptp(values) == 0:
            raise ValueError(
                f"{name}: got {'the same value' if np.isfinite(values).all() else 'a NaN'} of "
                f"{len(values)} seeds, needed numbers that differ for a correlation"
            )
    pearson: Any = pearsonr(x, y)
    spearman: Any = spearmanr(x, y)
    low, high = pearson.confidence_interval(0.95) if len(x) > 3 else (-1.0, 1.0)
    return Correlation(
        len(x), float(pearson.statistic), float(pearson.pvalue), float(low), float(high),
        float(spearman.statistic), float(spearman.pvalue), *_bootstrap_spearman(x, y),
    )  # fmt: skip


def partial_correlation(accuracy: Numbers, faithfulness: Numbers, held: Numbers) -> Partial:
    """Of two numbers of each solution, with a third held fixed: the correlation of their residuals
    from straight lines over the third; Spearman's is that of the ranks. The p-values have N - 3
    degrees of freedom."""
    from scipy.stats import rankdata

    x, y, z = (np.asarray(values, float) for values in (accuracy, faithfulness, held))
    correlation(x, y)
    if len(x) < 4:
        raise ValueError(f"seeds: got {len(x)}, needed at least 4 to hold a third number fixed")
    if np.ptp(z) == 0:
        raise ValueError(f"held: got the same value of {len(z)} seeds, needed numbers that differ")
    ranked = [rankdata(values) for values in (x, y, z)]
    return Partial(len(x), *_correlate_residuals(x, y, z), *_correlate_residuals(*ranked))


def _correlate_residuals(x: np.ndarray, y: np.ndarray, held: np.ndarray) -> tuple[float, float]:
    from scipy.stats import t as student

    terms = np.stack([np.ones_like(held), held], 1)
    left = [values - terms @ np.linalg.lstsq(terms, values)[0] for values in (x, y)]
    size = np.sqrt((left[0] ** 2).sum() * (left[1] ** 2).sum())
    if size <= 1e-12 * np.sqrt((x**2).sum() * (y**2).sum()):
        raise ValueError("held: leaves nothing of the others, needed numbers that it does not give")
    r = np.clip((left[0] * left[1]).sum() / size, -1, 1)
    freedom = len(held) - 3
    with np.errstate(divide="ignore"):
        statistic = abs(r) * np.sqrt(freedom / (1 - r**2))
    return float(r), float(2 * student.sf(statistic, freedom))


def _bootstrap_spearman(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    from scipy.stats import rankdata

    drawn = resamples(len(x), _RESAMPLES)
    drawn = drawn[(np.ptp(x[drawn], 1) > 0) & (np.ptp(y[drawn], 1) > 0)]
    ranks = [rankdata(values[drawn], axis=1) for values in (x, y)]
    centred = [r - r.mean(1, keepdims=True) for r in ranks]
    sizes = np.sqrt((centred[0] ** 2).sum(1) * (centred[1] ** 2).sum(1))
    return interval((centred[0] * centred[1]).sum(1) / sizes)
