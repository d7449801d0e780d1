"""Structures of graphs: where depth, width, degree and parts are what the sampler rarely draws.

Adding a structure is adding one value to `STRUCTURES`.
"""

from collections.abc import Callable, Iterable

import numpy as np

Random = np.random.Generator


def _undirected(n: int, edges: Iterable[tuple[int, int]]) -> np.ndarray:
    A = np.zeros((n, n), bool)
    for i, j in edges:
        A[i, j] = A[j, i] = i != j
    return A


def _line(n: int, random: Random) -> np.ndarray:
    return _undirected(n, ((i, i + 1) for i in range(n - 1)))


def _cycle(n: int, random: Random) -> np.ndarray:
    return _undirected(n, ((i, (i + 1) % n) for i in range(n)))


def _star(n: int, random: Random) -> np.ndarray:
    return _undirected(n, ((0, i) for i in range(1, n)))


def _far_star(n: int, random: Random) -> np.ndarray:
    """The source is a leaf."""
    centre = min(1, n - 1)
    return _undirected(n, ((centre, i) for i in range(n)))


def _binary_tree(n: int, random: Random) -> np.ndarray:
    return _undirected(n, (((i - 1) // 2, i) for i in range(1, n)))


def _random_tree(n: int, random: Random) -> np.ndarray:
    return _undirected(n, ((int(random.integers(i)), i) for i in range(1, n)))


def _comb(n: int, random: Random) -> np.ndarray:
    """A line with a tooth at every node."""
    spine = (n + 1) // 2
    A = _undirected(n, ((i, spine + i) for i in range(n - spine)))
    A[:spine, :spine] = _line(spine, random)
    return A


def _broom(n: int, random: Random) -> np.ndarray:
    """A line of random length, and all other nodes at its end: every depth occurs."""
    end = int(random.integers(0, max(1, n - 1)))
    A = _undirected(n, ((end, i) for i in range(end + 1, n)))
    A[: end + 1, : end + 1] |= _line(end + 1, random)
    return A


def _grid(n: int, random: Random) -> np.ndarray:
    columns = int(random.integers(1, int(np.sqrt(n)) + 1))
    A = _undirected(n, ((i, i + 1) for i in range(n - 1) if (i + 1) % columns))
    return A | _undirected(n, ((i, i + columns) for i in range(n - columns)))


def _ladder(n: int, random: Random) -> np.ndarray:
    A = _undirected(n, ((i, i + 2) for i in range(n - 2)))
    return A | _undirected(n, ((i, i + 1) for i in range(0, n - 1, 2)))


def _layers(n: int, random: Random) -> np.ndarray:
    """Complete between neighbouring layers of random width: many equal parents at every depth."""
    width = int(random.integers(1, max(2, n // 2)))
    layer = (np.arange(n) + width - 1) // width
    return np.abs(layer[:, None] - layer) == 1


def _lollipop(n: int, random: Random) -> np.ndarray:
    """A line that ends in a clique."""
    A = _line(n, random)
    A[n // 2 :, n // 2 :] = _complete(n - n // 2, random)
    return A


def _bipartite(n: int, random: Random) -> np.ndarray:
    side = random.random(n) < 0.5
    return side[:, None] != side


def _complete(n: int, random: Random) -> np.ndarray:
    return ~np.eye(n, dtype=bool)


def _empty(n: int, random: Random) -> np.ndarray:
    return np.zeros((n, n), bool)


def _erdos_renyi(n: int, random: Random, p: float) -> np.ndarray:
    upper = np.triu(random.random((n, n)) < p, 1)
    return upper | upper.T


def _disconnected(n: int, random: Random) -> np.ndarray:
    """Two random graphs side by side."""
    A = _erdos_renyi(n, random, random.uniform(0.2, 0.6))
    cut = int(random.integers(0, n + 1))
    A[:cut, cut:] = A[cut:, :cut] = False
    return A


def _bridge(n: int, random: Random) -> np.ndarray:
    """Two random graphs with one edge between them."""
    A = _disconnected(n, random)
    i, j = random.integers(n, size=2)
    A[i, j] = A[j, i] = i != j
    return A


def _line_with_chords(n: int, random: Random) -> np.ndarray:
    A = _line(n, random)
    for i, j in random.integers(n, size=(int(random.integers(1, 4)), 2)):
        A[i, j] = A[j, i] = i != j
    return A


STRUCTURES: dict[str, Callable[[int, Random], np.ndarray]] = {
    "line": _line,
    "cycle": _cycle,
    "star": _star,
    "far star": _far_star,
    "binary tree": _binary_tree,
    "random tree": _random_tree,
    "comb": _comb,
    "broom": _broom,
    "grid": _grid,
    "ladder": _ladder,
    "layers": _layers,
    "lollipop": _lollipop,
    "bipartite": _bipartite,
    "complete": _complete,
    "empty": _empty,
    "disconnected": _disconnected,
    "bridge": _bridge,
    "line with chords": _line_with_chords,
    "sparse": lambda n, random: _erdos_renyi(n, random, random.uniform(0.8, 2.5) / n),
    "half": lambda n, random: _erdos_renyi(n, random, 0.5),
    "dense": lambda n, random: _erdos_renyi(n, random, random.uniform(0.8, 1.0)),
}
"""Undirected graphs without loops, bool [n, n]; the source is node 0, or any."""
