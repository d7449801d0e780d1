"""Geometry of node states over layers: similarity, and where they go.

Cosine, representational similarity analysis (RSA) and debiased CKA compare the states of the nodes
with the graph (distance) and with each hypothesis (steps between visits). Trajectories are two
coordinates per node and layer, by PCA or t-SNE.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import mazes
from algoscope.llm.hypotheses import CANDIDATES, Hypothesis, trace
from algoscope.llm.observe import Observation
from algoscope.llm.prompts import Item


class Similarity(NamedTuple):
    reference: str
    """"graph distance", or the name of a hypothesis."""
    measure: str
    """"RSA": rank correlation of 1 - cosine and distance; "CKA": debiased, distance as a kernel."""
    plain: list[statistics.Estimate]
    """By layer, the embedding first, mean over items."""
    mirrored: list[statistics.Estimate]
    """The same, less that of the mirror image: what names, mentions and roles give is taken off."""
    p: float
    """For the largest `mirrored` of all layers, by flipping mazes; corrected for all references
    and measures."""

    @property
    def best(self) -> statistics.Estimate:
        """The largest `mirrored` of all layers."""
        return max(self.mirrored, key=lambda e: np.nan_to_num(e.value, nan=-np.inf))


def cosine(states: np.ndarray) -> np.ndarray:
    """[…, node, width] -> [..., node, node]."""
    norms = np.linalg.norm(states, axis=-1, keepdims=True)
    unit = np.divide(states, norms, out=np.zeros_like(states), where=norms > 1e-12)
    return unit @ np.swapaxes(unit, -1, -2)


def debiased_cka(X: np.ndarray, Y: np.ndarray) -> float:
    """Centred kernel alignment of states [node, width] with unbiased HSIC (Song et al., 2012).

    It is 0 in expectation for independent X and Y however few nodes there are; plain CKA is not.
    """
    n = len(X)
    if n < 4 or len(Y) != n:
        raise ValueError(f"CKA: got {n} and {len(Y)} nodes, needed the same number, at least 4")
    return float(kernel_cka(*(A @ A.T for A in (X.astype(float), Y.astype(float)))))


def kernel_cka(K: np.ndarray, L: np.ndarray) -> np.ndarray:
    """The same of kernels […, node, node] -> […]."""
    n = K.shape[-1]
    K, L = K * (1 - np.eye(n)), L * (1 - np.eye(n))

    def hsic(K, L):
        K_rows, L_rows = K.sum(-1), L.sum(-1)
        return (
            (K * L).sum((-2, -1))
            + K_rows.sum(-1) * L_rows.sum(-1) / ((n - 1) * (n - 2))
            - 2 * (K_rows * L_rows).sum(-1) / (n - 2)
        )

    scale = np.asarray(hsic(K, K) * hsic(L, L))
    aligned = np.asarray(hsic(K, L)) / np.sqrt(np.maximum(scale, 1e-24))
    return np.where(scale > 1e-24, aligned, 0.0)


def layer_cka(observations: Sequence[Observation]) -> np.ndarray:
    """Debiased CKA of each layer's node states with the next one's, mean over items: [layer]."""
    pairs = (itertools.pairwise(o.states) for o in observations)
    return np.mean([list(itertools.starmap(debiased_cka, layers)) for layers in pairs], 0)


def similarities(observations: Sequence[Observation], seed: int = 0) -> list[Similarity]:
    """Node states against the graph and against every candidate algorithm, by layer."""
    items = [o.item for o in observations]
    references = {"graph distance": [_graph_distance(item) for item in items]}
    for candidate in CANDIDATES:
        if candidate.algorithm:
            references[candidate.name] = [_visit_distance(item, candidate) for item in items]
    rows = []
    for measure, (compare, agreement) in MEASURES.items():
        kernels = [compare(o.states.astype(float)) for o in observations]
        for name, distances in references.items():
            plain, contrast = [], {}
            for item, layers, D in zip(items, kernels, distances, strict=True):
                plain.append(agreement(layers, D))
                image = agreement(layers, D[np.ix_(item.mirror, item.mirror)])
                contrast.setdefault(item.pair, []).append(plain[-1] - image)
            mirrored = np.nan_to_num([np.mean(twins, 0) for twins in contrast.values()])
            null = statistics.flip_null(mirrored, 999, seed)
            p = statistics.p_value(float(mirrored.mean(0).max()), null)
            estimates, above_image = (
                [statistics.bootstrap(column, seed) for column in np.transpose(values)]
                for values in (plain, mirrored)
            )
            rows.append(Similarity(name, measure, estimates, above_image, p))
    return statistics.with_corrected_p(rows)


def _rsa(K: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Rank correlation over the pairs of nodes that the reference says something about: [layer]."""
    from scipy.stats import rankdata

    above = np.triu(np.isfinite(distances), 1)
    if above.sum() < 3:
        return np.full(len(K), np.nan)
    ranks = [rankdata(values, axis=-1) for values in (-K[:, above], distances[above])]
    a, b = (rank - rank.mean(-1, keepdims=True) for rank in ranks)
    scale = np.linalg.norm(a, axis=-1) * np.linalg.norm(b)
    return np.where(scale > 1e-12, a @ b / np.maximum(scale, 1e-12), np.nan)


def _cka(K: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """CKA with the kernel -distance, of the nodes that the reference says something about:
    [layer]."""
    known = np.flatnonzero(np.isfinite(np.diag(distances)))
    if len(known) < 4:
        return np.full(len(K), np.nan)
    return kernel_cka(K[:, known][:, :, known], -distances[np.ix_(known, known)])


MEASURES = {"RSA": (cosine, _rsa), "CKA": (lambda X: X @ np.swapaxes(X, -1, -2), _cka)}
"""How states [layer, node, width] are compared with each other, [layer, node, node], and that with
distances."""


def _graph_distance(item: Item) -> np.ndarray:
    """Steps between nodes, doors open both ways; NaN between components and for start and goal,
    which the question names."""
    A = mazes.adjacency(item.nodes, item.edges, directed=False)
    D = np.array([mazes.distances(A, node) for node in range(item.nodes)], float)
    D[D < 0] = np.nan
    return _within_component(D, item)


def _visit_distance(item: Item, hypothesis: Hypothesis) -> np.ndarray:
    """How many steps apart two nodes are visited."""
    steps = trace(hypothesis, item)
    visit = np.full(item.nodes, np.nan)
    for step, visited in enumerate(steps):
        visit[visited] = step
    return _within_component(np.abs(visit[:, None] - visit), item)


def _within_component(D: np.ndarray, item: Item) -> np.ndarray:
    """Only the pairs in the component of the start, start and goal and their images left out."""
    inside = mazes.distances(mazes.adjacency(item.nodes, item.edges, False), item.source) >= 0
    for node in (item.source, item.goal):
        inside[[node, item.mirror[node]]] = False
    return np.where(inside[:, None] & inside, D, np.nan)


def trajectories(observation: Observation, method: str = "pca", seed: int = 0) -> np.ndarray:
    """Two coordinates of each node at each layer, the last token after the nodes:
    [layer + 1, node + 1, 2]."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    states = observation.recording.states[0, :, : observation.item.nodes + 1]
    flat = states.reshape(-1, states.shape[-1])
    if method == "pca":
        placed = PCA(2, random_state=seed).fit_transform(flat)
    elif method == "tsne":
        perplexity = min(30.0, (len(flat) - 1) / 3)
        placed = TSNE(2, random_state=seed, perplexity=perplexity, init="pca").fit_transform(flat)
    else:
        raise ValueError(f"method: got {method!r}, needed pca or tsne")
    return placed.reshape(*states.shape[:2], 2)
