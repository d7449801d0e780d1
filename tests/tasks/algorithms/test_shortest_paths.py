"""Against scipy's shortest paths."""

import itertools

import numpy as np
import pytest
from drawing import DECIMALS, PROBABILITIES, draws
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

OPTIONS = {
    "p": PROBABILITIES,
    "low": st.floats(0, 1),
    "high": st.floats(1, 5),
    "truncate_decimals": DECIMALS,
}


def check_tree(sample, reached, distances):
    """Distances and parents of a final step: scipy's distances, and parents on shortest paths."""
    A, source = sample.inputs["A"], int(np.argmax(sample.inputs["s"]))
    expected = csgraph.dijkstra(A, indices=source)
    assert np.array_equal(reached == 1, np.isfinite(expected))
    assert np.allclose(distances, np.where(np.isfinite(expected), expected, 0))
    for node, parent in enumerate(sample.outputs["pi"]):
        if node == source or not reached[node]:
            assert parent == node
        else:
            assert A[parent, node] != 0
            assert distances[node] == distances[parent] + A[parent, node]


@given(draws("bellman_ford", **OPTIONS))
def test_bellman_ford_finds_shortest_paths(draw):
    for sample in draw.samples():
        check_tree(sample, sample.last("msk"), sample.last("d"))


@given(draws("dijkstra", **OPTIONS))
def test_dijkstra_finds_shortest_paths_nearest_nodes_first(draw):
    for sample in draw.samples():
        distances = sample.last("d")
        check_tree(sample, sample.last("mark"), distances)
        settled = np.argmax(sample.hints["u"][1:], axis=-1)
        assert (np.diff(distances[settled]) >= 0).all()
        assert len(set(settled)) == len(settled) == sample.last("mark").sum()


@given(draws("floyd_warshall", **OPTIONS))
def test_floyd_warshall_finds_a_shortest_path_for_every_pair(draw):
    for sample in draw.samples():
        A, before = sample.inputs["A"], sample.outputs["Pi"]
        expected = csgraph.floyd_warshall(A)
        for start, end in itertools.permutations(range(draw.size), 2):
            if not np.isfinite(expected[start, end]):
                assert before[start, end] == start
                continue
            way_back = [end]
            while way_back[-1] != start:
                way_back.append(int(before[start, way_back[-1]]))
                assert len(way_back) <= draw.size
            steps = [A[previous, node] for node, previous in itertools.pairwise(way_back)]
            assert all(steps)
            assert sum(steps) == pytest.approx(expected[start, end])


@given(draws("floyd_warshall", largest=7, p=PROBABILITIES))
def test_floyd_warshall_allows_one_waypoint_more_each_step(draw):
    for sample in draw.samples():
        A = sample.inputs["A"]
        for waypoints, distances in enumerate(sample.hints["D"]):
            for start, end in itertools.permutations(range(draw.size), 2):
                allowed = sorted({*range(waypoints), start, end})
                within = csgraph.dijkstra(A[np.ix_(allowed, allowed)])
                expected = within[allowed.index(start), allowed.index(end)]
                known = sample.hints["msk"][waypoints, start, end]
                assert known == np.isfinite(expected)
                assert distances[start, end] == pytest.approx(expected if known else 0)
