"""Nodes are drawn where the shape of a graph is seen."""

import numpy as np
import pytest

from algoscope.report.graph_layout import places


def ladder(rungs: int) -> np.ndarray:
    adjacency = np.zeros((2 * rungs, 2 * rungs))
    for rung in range(rungs):
        adjacency[rung, rungs + rung] = 1
        if rung:
            adjacency[rung - 1, rung] = adjacency[rungs + rung - 1, rungs + rung] = 1
    return adjacency


def test_neighbours_of_a_sparse_graph_are_the_nearest():
    adjacency = ladder(6)
    found = places(adjacency)
    lengths = np.linalg.norm(found[:, None] - found[None], axis=-1)
    joined = (adjacency + adjacency.T) > 0
    apart = ~joined & ~np.eye(len(found), dtype=bool)
    assert lengths[joined].max() < lengths[apart].min()


@pytest.mark.parametrize(
    "adjacency",
    [ladder(4), np.ones((9, 9)), np.zeros((5, 5)), np.diag([1.0, 0.0]), np.eye(1)],
    ids=["sparse", "dense", "none", "loop", "one"],
)
def test_they_stay_on_the_picture(adjacency):
    found = places(adjacency)
    assert found.shape == (len(adjacency), 2)
    assert (found >= -1e-9).all()
    assert (found <= 1 + 1e-9).all()


def test_parts_that_are_not_joined_stay_together():
    two = np.kron(np.eye(2), ladder(3))
    found = places(two)
    middles = found[:6].mean(0), found[6:].mean(0)
    assert np.linalg.norm(middles[0] - middles[1]) > 0.2


@pytest.mark.parametrize("lonely", [1, 3])
def test_a_lonely_node_does_not_push_the_others_into_a_corner(lonely):
    """A line is as long as it is alone, nearly."""
    line = np.eye(12, k=1)
    alone = places(line)
    found = places(np.pad(line, (0, lonely)))
    steps = [np.linalg.norm(np.diff(at[:12], axis=0), axis=-1).mean() for at in (alone, found)]
    assert steps[1] > 0.8 * steps[0]
    apart = np.linalg.norm(found[:, None] - found[None], axis=-1) + np.eye(len(found))
    assert apart.min() > 0.05


def _another_basis(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors as another library may find them: of the other sign, and of equal eigenvalues
    others of the space that they span."""
    values, vectors = _EIGH(matrix)
    groups = np.cumsum(np.diff(values, prepend=values[0]) > 1e-9)
    for group in np.unique(groups):
        (inside,) = np.nonzero(groups == group)
        turn = np.linalg.qr(np.random.default_rng(7).standard_normal((len(inside),) * 2))[0]
        vectors[:, inside] = -vectors[:, inside] @ (turn if len(inside) > 1 else np.eye(1))
    return values, vectors


_EIGH = np.linalg.eigh


@pytest.mark.parametrize(
    "adjacency",
    [ladder(4), np.roll(np.eye(9), 1, 0), np.roll(np.eye(16), 1, 0), np.eye(7)[[0] * 7]],
    ids=["ladder", "odd cycle", "even cycle", "star"],
)
def test_symmetric_graphs_have_one_picture_whatever_eigenvectors_are_found(adjacency, monkeypatch):
    before = places(adjacency)
    monkeypatch.setattr(np.linalg, "eigh", _another_basis)
    np.testing.assert_allclose(places(adjacency), before, atol=1e-6)
