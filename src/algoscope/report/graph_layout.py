"""Where to draw the nodes of a graph.

Graphs with few edges are laid out by stress majorisation (Gansner et al., 2004): places such that
distances in the plane are like distances in the graph. Dense graphs have no shape to show, and
stand on a circle. A graph has the same places on every machine.
"""

import math

import numpy as np
import scipy.sparse.csgraph

_SPARSE = 3.2
"""Mean degree up to which a graph has a shape."""
_ROUNDS = 200
_UNEVEN = 1e-3
"""By how much of itself a distance is changed at first, so that symmetric graphs have one start:
theirs are eigenvectors of equal eigenvalues, of which each linear algebra library finds others."""


def places(adjacency: np.ndarray) -> np.ndarray:
    """Of each node, within the unit square: adjacency [n, n] -> [n, 2]."""
    joined = (np.asarray(adjacency) != 0) | (np.asarray(adjacency).T != 0)
    np.fill_diagonal(joined, False)
    nodes = len(joined)
    if not joined.any() or joined.sum(1).mean() > _SPARSE:
        angles = 2 * math.pi * np.arange(nodes) / nodes - math.pi / 2
        return 0.5 + 0.5 * np.stack([np.cos(angles), np.sin(angles)], -1)
    distances = np.asarray(scipy.sparse.csgraph.shortest_path(joined, unweighted=True))
    apart = np.isinf(distances)
    distances[apart] = distances[~apart].max() + 2
    positions = _least_stress(distances)
    low, high = positions.min(0), positions.max(0)
    return (positions - (low + high) / 2) / max((high - low).max(), 1e-9) + 0.5


def _least_stress(distances: np.ndarray) -> np.ndarray:
    """From places by classical scaling, sum_ij (|x_i - x_j| - d_ij)² / d_ij² goes down."""
    nodes, draw = len(distances), np.random.default_rng(0).standard_normal
    noise = draw((nodes, nodes))
    uneven = distances * (1 + _UNEVEN * (noise + noise.T))
    centred = np.eye(nodes) - 1 / nodes
    values, vectors = np.linalg.eigh(-0.5 * centred @ uneven**2 @ centred)
    sides = np.sign(draw(nodes) @ vectors[:, -2:])
    positions = vectors[:, -2:] * sides * np.sqrt(np.maximum(values[-2:], 1e-9))
    weights = np.divide(1.0, distances**2, out=np.zeros_like(distances), where=distances > 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(1)) - weights)
    for _ in range(_ROUNDS):
        lengths = np.linalg.norm(positions[:, None] - positions[None], axis=-1)
        pulls = weights * distances / np.maximum(lengths, 1e-9)
        positions = inverse @ ((np.diag(pulls.sum(1)) - pulls) @ positions)
    return positions
