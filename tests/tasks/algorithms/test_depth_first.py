"""Against networkx's depth-first search, scipy's shortest paths and components."""

import networkx as nx
import numpy as np
import pytest
from drawing import DECIMALS, PROBABILITIES, draws
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph


def digraph(A: np.ndarray) -> nx.DiGraph:
    return nx.from_numpy_array(A, create_using=nx.DiGraph)


def in_topological_order(head: int, following: np.ndarray) -> list[int]:
    """The nodes from `head` on, each pointing to the next and the last to itself."""
    found = [head]
    while following[found[-1]] != found[-1]:
        found.append(int(following[found[-1]]))
    return found


@given(draws("dfs", p=PROBABILITIES))
def test_search_grows_networkx_forest_with_its_times(draw):
    for sample in draw.samples():
        graph = digraph(sample.inputs["A"])
        expected = np.arange(draw.size)
        for node, parent in nx.dfs_predecessors(graph).items():
            expected[node] = parent
        assert np.array_equal(sample.outputs["pi"], expected)
        times = {"forward": np.zeros(draw.size), "reverse": np.zeros(draw.size)}
        clock = 0
        for _, node, event in nx.dfs_labeled_edges(graph):
            if event in times:
                clock += 1
                times[event][node] = clock / 100
        assert sample.last("d") == pytest.approx(times["forward"])
        assert sample.last("f") == pytest.approx(times["reverse"])


@given(draws("topological_sort", p=PROBABILITIES))
def test_topological_order_lists_every_node_before_its_successors(draw):
    for sample in draw.samples():
        head = int(np.argmax(sample.outputs["topo_head"]))
        listed = in_topological_order(head, sample.outputs["topo"])
        assert sorted(listed) == list(range(draw.size))
        rank = np.argsort(listed)
        for start, end in np.argwhere(sample.inputs["A"]):
            assert rank[start] < rank[end]


@given(
    draws(
        "dag_shortest_paths",
        p=PROBABILITIES,
        low=st.floats(-2, 0.5),
        high=st.floats(0.6, 3),
        truncate_decimals=DECIMALS,
    )
)
def test_dag_paths_are_shortest_even_with_negative_weights(draw):
    for sample in draw.samples():
        A, source = sample.inputs["A"], int(np.argmax(sample.inputs["s"]))
        expected = csgraph.bellman_ford(A, indices=source)
        reached = np.isfinite(expected)
        assert np.array_equal(sample.last("mark") == 1, reached)
        assert np.allclose(sample.last("d"), np.where(reached, expected, 0))
        for node, parent in enumerate(sample.outputs["pi"]):
            if node == source or not reached[node]:
                assert parent == node
            else:
                assert A[parent, node] != 0
                assert expected[node] == pytest.approx(expected[parent] + A[parent, node])


@given(
    draws(
        "strongly_connected_components",
        largest=14,
        p=PROBABILITIES,
        k=st.integers(1, 4),
        eps=st.floats(0, 1),
    )
)
def test_components_are_scipys_each_named_by_one_of_its_nodes(draw):
    for sample in draw.samples():
        names = sample.outputs["scc_id"]
        _, expected = csgraph.connected_components(sample.inputs["A"], connection="strong")
        assert np.array_equal(names[:, None] == names, expected[:, None] == expected)
        assert np.array_equal(names[names], names)
