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
from algoscope.regression import held_out_smoother

Labels = Callable[[Item], np.ndarray]
"""A number for each node of an item."""


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
    distance = mazes.distances(item.adjacency(), item.source)
    return np.where(distance < 0, 0.0, 1.0 / (1 + np.maximum(distance, 0)))


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
    targets: Mapping[str, Labels] = TARGETS,
    permutations: int = 199,
    seed: int = 0,
) -> list[Probe]:
    """Reads each target off the states of nodes, at every layer.

    Start, goal and their images are left out, since the question names them.
    """
    items = [o.item for o in observations]
    nodes = [_unnamed_nodes(item) for item in items]
    states = np.concatenate([o.states[:, n] for o, n in zip(observations, nodes, strict=True)], 1)
    mazes_of_rows = np.repeat([item.pair for item in items], [len(n) for n in nodes])
    smoothers = [held_out_smoother(layer, mazes_of_rows) for layer in states]
    numbers, maze_of_row = np.unique(mazes_of_rows, return_inverse=True)
    probed = []
    for name, label in targets.items():
        rng = np.random.default_rng(seed)
        flips = rng.random((permutations, len(numbers)))[:, maze_of_row] < 0.5
        y = np.concatenate([label(item)[n] for item, n in zip(items, nodes, strict=True)])
        images = [label(i)[np.array(i.mirror)[n]] for i, n in zip(items, nodes, strict=True)]
        labels = np.concatenate([y[None], np.where(flips, np.concatenate(images), y)])
        centred = labels - labels.mean(1, keepdims=True)
        predictions = [centred @ S.T for S in smoothers]
        scores = np.array([list(map(_score, predicted, labels)) for predicted in predictions])
        best = int(scores[:, 0].argmax())
        interval = _interval(predictions[best][0], y, maze_of_row, rng)
        p = statistics.p_value(float(scores[best, 0]), scores[:, 1:].max(0))
        probed.append(Probe(name, scores[:, 0], interval, p))
    return statistics.with_corrected_p(probed)


def _unnamed_nodes(item: Item) -> np.ndarray:
    if not item.mirror:
        raise ValueError("items: got one without a mirror image, needed those of llm.navigation")
    asked = {item.source, item.goal}
    asked |= {item.mirror[node] for node in asked}
    return np.array([node for node in range(item.nodes) if node not in asked], int)


def _score(predicted: np.ndarray, y: np.ndarray) -> float:
    """Area under the curve for two values of y, else Spearman's correlation."""
    from scipy.stats import rankdata

    kinds = np.unique(y)
    if len(kinds) != 2:
        return float(np.nan_to_num(statistics.spearman(predicted, y)))
    high = y == kinds[1]
    count, others = int(high.sum()), int((~high).sum())
    return float((rankdata(predicted)[high].sum() - count * (count + 1) / 2) / (count * others))


def _interval(
    predicted: np.ndarray, y: np.ndarray, maze_of_row: np.ndarray, rng: np.random.Generator
) -> statistics.Estimate:
    """The score with a bootstrap interval over mazes."""
    members = [np.flatnonzero(maze_of_row == maze) for maze in range(maze_of_row.max() + 1)]
    draws = []
    for _ in range(200):
        chosen = np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])
        draws.append(_score(predicted[chosen], y[chosen]))
    return statistics.Estimate(_score(predicted, y), *statistics.interval(np.array(draws)))
