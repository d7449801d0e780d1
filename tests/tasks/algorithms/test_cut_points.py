"""Against networkx."""

import networkx as nx
import numpy as np
from drawing import PROBABILITIES, draws
from hypothesis import given


def graph_of(A: np.ndarray) -> nx.Graph:
    graph = nx.from_numpy_array(A)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


@given(draws("articulation_points", largest=16, p=PROBABILITIES))
def test_articulation_points_are_networkx_s(draw):
    for sample in draw.samples():
        found = set(np.flatnonzero(sample.outputs["is_cut"]))
        assert found == set(nx.articulation_points(graph_of(sample.inputs["A"])))


@given(draws("bridges", largest=16, p=PROBABILITIES))
def test_bridges_are_networkx_s_and_pairs_without_an_edge_are_masked(draw):
    for sample in draw.samples():
        is_bridge = sample.outputs["is_bridge"]
        expected = sample.inputs["adj"] - 1
        for u, v in nx.bridges(graph_of(sample.inputs["A"])):
            expected[u, v] = expected[v, u] = 1
        assert np.array_equal(is_bridge, expected)
