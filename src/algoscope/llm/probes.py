"""Linear probes: what can be read off the states, on mazes that the probe has not seen.

Ridge regressions from the state of a node to a label, at every layer, cross-validated over mazes;
the score is an area under the curve, or a rank correlation for labels with more than two values.
Its null: the labels of a maze and of its mirror image exchanged, so that what mentions and roles of
a node give away stays in the null; the maximum over layers is taken there too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import mazes
from algoscope.llm.hypotheses import Hypothesis, by_name, trace
from algoscope.llm.observe import Observation
from algoscope.llm.prompts import Item

Labels = Callable[[Item], np.ndarray]
"""A number for each node of an item."""

_FOLDS = 4
_RIDGE = 0.1


class Probe(NamedTuple):
    target: str
    scores: np.ndarray
    """Cross-validated, by layer, the embedding first; chance is 0.5 (0 for correlations)."""
    best: statistics.Estimate
    """At the best layer, with a bootstrap interval over mazes."""
    p: float
    """For the best of all layers, corrected for the number of targets."""


def _reachable(item: Item) -> np.ndarray:
    """Can one get there from the start?"""
    return (mazes.distances(item.adjacency(), item.source) >= 0).astype(float)


def _on_path(item: Item) -> np.ndarray:
    """Can one get from there to the goal?"""
    return (mazes.distances(item.adjacency().T, item.goal) >= 0).astype(float)


def _closeness(item: Item) -> np.ndarray:
    """1 / (1 + steps from the start), 0 where there is no way."""
    found = mazes.distances(item.adjacency(), item.source)
    return np.where(found < 0, 0.0, 1.0 / (1 + np.maximum(found, 0)))


def visited(hypothesis: Hypothesis, step: int) -> Labels:
    """Has the hypothesis visited a node by this step (from 1)?

    DFS and Dijkstra choose by the order of the text, which positions give away: compare with random
    weights, whose probes read that, too.
    """
    return lambda item: trace(hypothesis, item)[:step].any(0).astype(float)


TARGETS: dict[str, Labels] = {
    "is reachable": _reachable,
    "on the path": _on_path,
    "distance": _closeness,
    "visited by step 1 of BFS": visited(by_name("BFS"), 1),
    "visited by step 2 of BFS": visited(by_name("BFS"), 2),
}


def probe(
    observations: Sequence[Observation],
    targets: Mapping[str, Labels] | None = None,
    permutations: int = 199,
    seed: int = 0,
) -> list[Probe]:
    """Reads each target off the states of nodes, at every layer.

    Start, goal and their images are left out, since the question names them.
    """
    rows = [_rows(o.item) for o in observations]
    states = np.concatenate([o.states[:, r] for o, r in zip(observations, rows, strict=True)], 1)
    groups = np.concatenate(
        [[o.item.pair] * len(r) for o, r in zip(observations, rows, strict=True)]
    )
    smoothers = [_smoother(layer, groups) for layer in states]
    found = []
    for name, labels in (TARGETS if targets is None else targets).items():
        values = [labels(o.item) for o in observations]
        y = np.concatenate([v[r] for v, r in zip(values, rows, strict=True)])
        image = np.concatenate(
            [
                v[np.array(o.item.mirror)[r]]
                for v, r, o in zip(values, rows, observations, strict=True)
            ]
        )
        found.append(_probe(name, smoothers, y, image, groups, permutations, seed))
    corrected = statistics.holm([of.p for of in found])
    return [of._replace(p=float(p)) for of, p in zip(found, corrected, strict=True)]


def _rows(item: Item) -> np.ndarray:
    if not item.mirror:
        raise ValueError("items: got one without a mirror image, needed those of llm.navigation")
    named = {item.source, item.goal}
    named |= {item.mirror[node] for node in named}
    return np.array([node for node in range(item.nodes) if node not in named], int)


def _smoother(X: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The matrix S of ridge regression: labels less their mean, times S, are held-out predictions.

    X is [row, width]; S is [row, row], 0 between rows of the same fold of mazes. It does not
    depend on the labels, so that permuting them costs a product.
    """
    S = np.zeros((len(X), len(X)))
    folds = np.unique(groups, return_inverse=True)[1] % _FOLDS
    for fold in range(_FOLDS):
        tested, learned = folds == fold, folds != fold
        if not tested.any() or not learned.any():
            continue
        centre, scale = X[learned].mean(0), X[learned].std(0)
        A = ((X - centre) / np.where(scale > 1e-6, scale, 1)).astype(float)
        K = A @ A[learned].T / A.shape[1]
        inside = K[learned] + _RIDGE * np.eye(int(learned.sum()))
        S[np.ix_(tested, learned)] = np.linalg.solve(inside, K[tested].T).T
    return S


def _probe(name, smoothers, y, image, groups, permutations, seed) -> Probe:
    rng = np.random.default_rng(seed)
    mazes_, where = np.unique(groups, return_inverse=True)
    flips = rng.random((permutations, len(mazes_)))[:, where] < 0.5
    labels = np.concatenate([y[None], np.where(flips, image, y)])
    centred = labels - labels.mean(1, keepdims=True)
    scores, own = [], []
    for S in smoothers:
        predicted = centred @ S.T
        scores.append([_score(p, of) for p, of in zip(predicted, labels, strict=True)])
        own.append(predicted[0])
    scores = np.array(scores)
    best = int(scores[:, 0].argmax())
    interval = _interval(own[best], y, where, rng)
    p = statistics.p_value(float(scores[best, 0]), scores[:, 1:].max(0))
    return Probe(name, scores[:, 0], interval, p)


def _score(predicted: np.ndarray, y: np.ndarray) -> float:
    """Area under the curve for two values of y, else Spearman's correlation."""
    from scipy.stats import rankdata

    ranks = rankdata(predicted)
    kinds = np.unique(y)
    if len(kinds) == 2:
        high = y == kinds[1]
        count, others = int(high.sum()), int((~high).sum())
        return float((ranks[high].sum() - count * (count + 1) / 2) / (count * others))
    if len(kinds) < 2 or np.std(ranks) < 1e-12:
        return 0.0
    return float(np.corrcoef(ranks, rankdata(y))[0, 1])


def _interval(predicted, y, where, rng) -> statistics.Estimate:
    members = [np.flatnonzero(where == maze) for maze in range(where.max() + 1)]
    draws = []
    for _ in range(200):
        chosen = np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])
        draws.append(_score(predicted[chosen], y[chosen]))
    low, high = np.quantile(draws, [0.025, 0.975])
    return statistics.Estimate(_score(predicted, y), float(low), float(high))
