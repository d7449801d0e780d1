"""Where to draw the nodes of a graph.

Graphs with few edges are laid out by stress majorisation (Gansner et al., 2004): places such that
distances in the plane are like distances in the graph. Dense graphs have no shape to show, and
stand on a circle. Parts that are not joined are laid out each by itself, and stand beside each
other. A graph has the same places on every machine.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse.csgraph

_SPARSE = 3.2
"""Mean degree up to which a graph has a shape."""
_GAP = 1.0
"""Between parts."""
_ROUNDS = 200
_UNEVEN = 1e-3
"""By how much of itself a distance is changed at first, so that symmetric graphs have one start:
theirs are eigenvectors of equal eigenvalues, of which each linear algebra library finds others."""


def places(adjacency: np.ndarray) -> np.ndarray:
    """Of each node, within the unit square: adjacency [n, n] -> [n, 2]."""
    joined = (np.asarray(adjacency) != 0) | (np.asarray(adjacency).T != 0)
    np.fill_diagonal(joined, False)
    nodes = len(joined)
    if not joined.any():
        return 0.5 + 0.5 * _circle(nodes)
    count, part_of = scipy.sparse.csgraph.connected_components(joined, directed=False)
    parts = sorted((np.flatnonzero(part_of == k) for k in range(count)), key=len, reverse=True)
    positions = np.zeros((nodes, 2))
    for part, shape in zip(
        parts, _packed([_shape(joined[np.ix_(p, p)]) for p in parts]), strict=True
    ):
        positions[part] = shape
    low, high = positions.min(0), positions.max(0)
    return (positions - (low + high) / 2) / max((high - low).max(), 1e-9) + 0.5


def _circle(nodes: int) -> np.ndarray:
    angles = 2 * math.pi * np.arange(nodes) / nodes - math.pi / 2
    return np.stack([np.cos(angles), np.sin(angles)], -1)


def _shape(joined: np.ndarray) -> np.ndarray:
    """Of nodes that are all joined; an edge is about as long as 1."""
    nodes = len(joined)
    if nodes == 1 or joined.sum(1).mean() > _SPARSE:
        return _circle(nodes) * nodes / 3
    return _least_stress(np.asarray(scipy.sparse.csgraph.shortest_path(joined, unweighted=True)))


def _packed(shapes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Beside each other in rows, as wide as makes the longer side of the picture shortest."""
    sizes = [shape.max(0) - shape.min(0) + _GAP for shape in shapes]
    widest = np.cumsum([width for width, _ in sizes])
    corners, _ = min((_in_rows(sizes, width) for width in reversed(widest)), key=lambda way: way[1])
    return [shape - shape.min(0) + at for shape, at in zip(shapes, corners, strict=True)]


def _in_rows(sizes: Sequence[np.ndarray], widest: float) -> tuple[list[tuple[float, float]], float]:
    """Where each part begins, and the longer side of what all cover."""
    corners = []
    x = y = high = wide = 0.0
    for width, height in sizes:
        if x > 0 and x + width > widest + 1e-9:
            x, y, high = 0.0, y + high, 0.0
        corners.append((x, y))
        x, high = x + width, max(high, height)
        wide = max(wide, x)
    return corners, max(wide, y + high)


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
