"""Bad problems are refused with the argument, what was given and what is needed."""

import warnings
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch

from algoscope import tasks

with warnings.catch_warnings():
    # Some of what it imports is deprecated by torch.
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.data import Data

PATH = [[0, 1, 0], [1, 0, 2], [0, 2, 0]]
ONE_WAY = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
RING = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def weighted(value) -> nx.Graph:
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=1)
    graph.add_edge("b", "c", weight=value)
    return graph


def tolled(**attributes) -> nx.Graph:
    graph = nx.Graph([("a", "b")])
    graph.add_edge("b", "c", **attributes)
    return graph


GRAPHS = {
    "source out of range": ("bfs", PATH, {"source": 3}, "source: got 3, needed a node from 0 to 2"),
    "source below 0": ("bfs", PATH, {"source": -1}, "source: got -1, needed a node from 0 to 2"),
    "source not a node": (
        "bfs",
        weighted(1),
        {"source": "d"},
        r"source: got 'd', needed a node among \['a', 'b', 'c'\]",
    ),
    "a graph of PyTorch Geometric": (
        "bfs",
        Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2),
        {"source": 0},
        r"graph: got Data\(edge_index=\[2, 1\], num_nodes=2\), needed its parts: edge_index=",
    ),
    "a tensor that requires a gradient": (
        "bfs",
        torch.eye(2, requires_grad=True),
        {"source": 0},
        r"graph: got tensor.*, needed an array of numbers \(.* Use tensor\.detach\(\)\.numpy\(\)",
    ),
    "a sparse tensor": (
        "bfs",
        torch.eye(2).to_sparse(),
        {"source": 0},
        r"needed an array of numbers \(.* Use Tensor\.to_dense\(\) first\.\)",
    ),
    "source missing": ("dijkstra", PATH, {}, "source: got None, needed a node from 0 to 2"),
    "source a list": ("dijkstra", PATH, {"source": [0]}, r"source: got \[0\], needed a node"),
    "source true": ("dijkstra", PATH, {"source": True}, "source: got True, needed a node"),
    "source not needed": ("dfs", PATH, {"source": 0}, "unknown input of dfs: 'source'"),
    "negative weight for Dijkstra": (
        "dijkstra",
        weighted(-2),
        {"source": "a"},
        "weights: got -2.0 on the edge from 'b' to 'c', needed none below 0 .*for dijkstra",
    ),
    "negative weight for Kruskal": (
        "mst_kruskal",
        weighted(-2),
        {},
        "weights: got -2.0 on the edge from 'b' to 'c', needed all above 0",
    ),
    "negative cycle for Bellman-Ford": (
        "bellman_ford",
        weighted(-2),
        {"source": "a"},
        "weights: got a cycle whose weights sum to less than 0, needed none, .*for bellman_ford",
    ),
    "negative cycle for Floyd-Warshall": (
        "floyd_warshall",
        ([0, 1, 2], [1, 2, 0]),
        {"edge_weight": [1, 1, -3]},
        "weights: got a cycle whose weights sum to less than 0",
    ),
    "NaN weight": (
        "dijkstra",
        weighted(float("nan")),
        {"source": "a"},
        "weights: got nan on the edge from 'b' to 'c', needed a finite number",
    ),
    "infinite weight": (
        "mst_prim",
        weighted(float("inf")),
        {"source": "a"},
        "weights: got inf on the edge from 'b'",
    ),
    "NaN in a matrix": (
        "bfs",
        np.full((2, 2), np.nan),
        {"source": 0},
        "weights: got nan on the edge",
    ),
    "infinite edge weight": (
        "dijkstra",
        ([0], [1]),
        {"edge_weight": [np.inf], "source": 0},
        "weights: got inf on the edge",
    ),
    "zero weight": (
        "dijkstra",
        weighted(0),
        {"source": "a"},
        "weights: got 0.0 on the edge from 'b' to 'c', needed another, as 0 stands for no edge",
    ),
    "weight in words": (
        "dijkstra",
        weighted("far"),
        {"source": "a"},
        "weights: got 'far' on the edge .*needed a number",
    ),
    "a weight beyond all numbers": (
        "dijkstra",
        weighted(10**400),
        {"source": "a"},
        "weights: got 10*… on the edge .*needed a number",
    ),
    "complex weights": (
        "dijkstra",
        scipy.sparse.coo_array(np.array([[0, 1j], [1, 0]])),
        {"source": 0},
        "graph: got a sparse matrix of complex128, needed numbers",
    ),
    "a weight named by a list": (
        "dijkstra",
        tolled(length=2.0),
        {"weight": ["length"], "source": "a"},
        r"weight: got \['length'\], needed the name of an edge attribute",
    ),
    "a weight by another name": (
        "dijkstra",
        tolled(length=2.0, toll=3),
        {"source": "a"},
        "weight: got length and toll and no weight on the edge from 'b' to 'c', needed an "
        "attribute that every edge has, such as weight='length', or weight=None for 1",
    ),
    "a weight that one edge lacks": (
        "dijkstra",
        tolled(length=2.0),
        {"weight": "length", "source": "a"},
        "weight: got no length on the edge from 'a' to 'b', needed an attribute that every edge",
    ),
    "a weight that one edge lacks, where none was named": (
        "dijkstra",
        tolled(weight=2.0),
        {"source": "a"},
        "weight: got no weight on the edge from 'a' to 'b', needed an attribute that every edge",
    ),
    "more nodes than an adjacency matrix can have": (
        "bfs",
        nx.empty_graph(1_000_000),
        {"source": 0},
        "a graph of 1000000 nodes: needs about 32 TB of memory",
    ),
    "a named weight beside an array": (
        "dijkstra",
        PATH,
        {"weight": "length", "source": 0},
        "weight: got 'length', needed a networkx graph with it",
    ),
    "a named weight for a task without": (
        "bfs",
        weighted(1),
        {"weight": "weight", "source": "a"},
        "weight: got 'weight', needed none, as the task reads no weights",
    ),
    "two weights for one edge": (
        "dijkstra",
        ([0, 0], [1, 1]),
        {"edge_weight": [1, 2], "source": 0},
        "weights: got 1.0 and another on the edge from 0 to 1, needed one",
    ),
    "directed for Prim": (
        "mst_prim",
        nx.DiGraph([("a", "b")]),
        {"source": "a"},
        "graph: got an edge from 'a' to 'b' without its like back, needed an undirected graph",
    ),
    "directed for bridges": ("bridges", ONE_WAY, {}, "needed an undirected graph.*, for bridges"),
    "directed for articulation points": ("articulation_points", ONE_WAY, {}, "an undirected graph"),
    "weights of two directions for Kruskal": (
        "mst_kruskal",
        [[0, 1], [2, 0]],
        {},
        "graph: got an edge from 0 to 1 without its like back",
    ),
    "cyclic for topological sort": (
        "topological_sort",
        RING,
        {},
        r"graph: got a cycle among \[0, 1, 2\], needed an acyclic graph",
    ),
    "cyclic for shortest paths in order": (
        "dag_shortest_paths",
        nx.Graph([("a", "b")]),
        {"source": "a"},
        r"got a cycle among \['a', 'b'\]",
    ),
    "a loop where acyclic": ("topological_sort", [[1]], {}, r"got a cycle among \[0\], needed"),
    "no nodes": ("bfs", nx.Graph(), {"source": 0}, "graph: got no nodes, needed at least 1"),
    "no rows": ("dfs", np.empty((0, 0)), {}, "graph: got no nodes, needed at least 1"),
    "no nodes asked for": (
        "dfs",
        None,
        {"edge_index": np.empty((2, 0), int), "num_nodes": 0},
        "graph: got no nodes",
    ),
    "below the smallest": (
        "strongly_connected_components",
        PATH,
        {},
        "graph: got a problem of 3 nodes, needed at least 4 for strongly_connected_components",
    ),
    "not square": (
        "dfs",
        np.ones((3, 4)),
        {},
        r"graph: got an array of shape \[3, 4\], needed an adj",
    ),
    "not a matrix": (
        "dfs",
        [1, 2, 3],
        {},
        r"graph: got an array of shape \[3\], needed an adjacency",
    ),
    "ragged": (
        "dfs",
        [[0, 1], [1]],
        {},
        r"graph: got \[\[0, 1\], \[1\]\], needed an array of numbers \(rows of different lengths\)",
    ),
    "a matrix of words": ("dfs", [["a"]], {}, "graph: got a matrix of .*, needed numbers"),
    "sparse and not square": (
        "dfs",
        scipy.sparse.csr_array(np.ones((2, 3))),
        {},
        r"graph: got a sparse matrix \(2, 3\)",
    ),
    "edge_index points outside": (
        "dfs",
        None,
        {"edge_index": [[0, 1], [1, 5]], "num_nodes": 3},
        "edge_index: got node 5, needed nodes from 0 to 2",
    ),
    "edge_index below 0": (
        "dfs",
        None,
        {"edge_index": [[0, -1], [1, 2]]},
        "edge_index: got node -1, needed nodes from 0",
    ),
    "edge_index of floats": (
        "dfs",
        None,
        {"edge_index": [[0.5], [1]]},
        "edge_index: got values of type float64, needed int",
    ),
    "edge_index of three rows": (
        "dfs",
        None,
        {"edge_index": [[0], [1], [2]]},
        r"got an array of shape \[3, 1\]",
    ),
    "too few edge weights": (
        "dijkstra",
        None,
        {"edge_index": [[0, 1], [1, 0]], "edge_weight": [1], "source": 0},
        r"edge_weight: got \[1\] of int64, needed a number for each of the 2 edges",
    ),
    "num_nodes not an integer": (
        "dfs",
        None,
        {"edge_index": [[0], [1]], "num_nodes": 2.5},
        "num_nodes: got 2.5, needed an int",
    ),
    "edge_weight beside a graph": (
        "dijkstra",
        weighted(1),
        {"edge_weight": [1], "source": "a"},
        "edge_weight: got it beside a graph, needed an edge_index with it",
    ),
    "a graph and an edge_index": (
        "dfs",
        PATH,
        {"edge_index": [[0], [1]]},
        "graph: got both a graph and an edge_index, needed",
    ),
    "no graph": ("dfs", None, {}, "graph: got none, needed a networkx graph, an adjacency matrix"),
    "unknown input": (
        "dfs",
        PATH,
        {"weights": 1},
        "unknown input of dfs: 'weights'; did you mean weight or edge_w",
    ),
    "an input twice": ("dfs", PATH, {"graph": PATH}, "graph: got it twice, needed it once"),
}

SEQUENCES = {
    "empty list": ("insertion_sort", [], {}, "key: got an empty list, needed at least one number"),
    "no list": ("minimum", None, {}, "key: got none, needed a list of numbers"),
    "a number": ("minimum", 3, {}, "key: got 3, needed a list of numbers"),
    "masked values": (
        "minimum",
        np.ma.array([3.0, 1.0], mask=[False, True]),
        {},
        "key: got masked values, needed a number in each place",
    ),
    "target with a gradient": (
        "binary_search",
        [1, 2],
        {"target": torch.tensor(1.0, requires_grad=True)},
        r"target: got tensor\(1., requires_grad=True\), needed a number \(Can't call numpy",
    ),
    "a list of lists": (
        "minimum",
        [[1], [2]],
        {},
        r"key: got \[\[1\], \[2\]\], needed a list of num",
    ),
    "words": ("heapsort", ["a", "b"], {}, r"key: got \['a', 'b'\], needed a list of numbers"),
    "NaN key": ("heapsort", [1, float("nan")], {}, "key: got nan among the values, needed finite"),
    "infinite key": ("quickselect", [1, float("inf")], {}, "key: got inf among the values"),
    "below the smallest": (
        "quicksort",
        [1],
        {},
        "key: got a problem of 1 nodes, needed at least 2 for quicksort",
    ),
    "unsorted": (
        "binary_search",
        [1, 3, 2],
        {"target": 2},
        "key: got 3.0 before 2.0, needed keys in ascending",
    ),
    "no target": ("binary_search", [1, 2], {}, "target: got None, needed a number"),
    "target a list": (
        "binary_search",
        [1, 2],
        {"target": [1]},
        r"target: got \[1\], needed a number",
    ),
    "target NaN": ("binary_search", [1, 2], {"target": float("nan")}, "target: got nan among"),
    "needle longer": (
        "kmp_matcher",
        "ab",
        {"needle": "aba"},
        "needle: got 3 characters, needed at most the haystack's 2",
    ),
    "needle longer, naively": (
        "naive_string_matcher",
        ("a", "ab"),
        {},
        "needle: got 2 characters, needed at most the hay",
    ),
    "empty needle": (
        "kmp_matcher",
        "abc",
        {"needle": ""},
        "needle: got an empty string, needed at le",
    ),
    "no needle": ("kmp_matcher", "abc", {}, "needle: got None, needed a string"),
    "empty first": ("lcs_length", ("", "a"), {}, "first: got an empty string, needed at least one"),
    "short strings": (
        "kmp_matcher",
        "a",
        {"needle": "a"},
        "haystack: got a problem of 2 nodes, .*3",
    ),
    "five letters": (
        "lcs_length",
        ("abc", "de"),
        {},
        "alphabet: got 'abcde', needed 1 to 4 different characters",
    ),
    "not in the alphabet": (
        "kmp_matcher",
        "acgu",
        {"needle": "a", "alphabet": "acgt"},
        r"haystack: got 'u' in it, needed characters among \['a', 'c', 'g', 't'\]",
    ),
    "code 4": (
        "lcs_length",
        ([0, 4], [1]),
        {},
        r"first: got 4 in it, needed characters among \[0, 1",
    ),
    "a letter twice": (
        "lcs_length",
        ("a", "b"),
        {"alphabet": "abb"},
        "alphabet: got 'abb', needed a string without",
    ),
    "alphabet a number": (
        "lcs_length",
        ("a", "b"),
        {"alphabet": 4},
        "alphabet: got 4, needed a string",
    ),
    "no points": ("graham_scan", [], {}, "points: got an empty list, needed at least one point"),
    "points of three": (
        "jarvis_march",
        [(1, 2, 3)],
        {},
        r"points: got \[\(1, 2, 3\)\], needed pairs",
    ),
    "ragged points": (
        "jarvis_march",
        [(1, 2), (3,)],
        {},
        "points: got .*, needed pairs of numbers",
    ),
    "a point at infinity": (
        "graham_scan",
        [(0, 0), (1, np.inf)],
        {},
        "y: got inf among the values",
    ),
    "three on a line": (
        "graham_scan",
        [(0, 0), (1, 0), (0.1, 0.3), (0.2, 0.6), (0.3, 0.9)],
        {},
        "points: got numbers 0, 2 and 3 on a line, needed no three on one, for graham_scan",
    ),
    "a point twice": ("jarvis_march", [(1, 1), (1, 1)], {}, "points: got the same one twice"),
    "a point twice of three": (
        "jarvis_march",
        [(1, 1), (1, 1), (2, 5)],
        {},
        "0, 1 and 2 on a line",
    ),
    "x and y of two lengths": (
        "graham_scan",
        None,
        {"x": [1, 2], "y": [1]},
        "y: got 1 values, needed 2, as many as x has",
    ),
    "points and x": ("graham_scan", [(1, 2)], {"x": [1]}, "x: got it beside points, needed either"),
    "three ends": (
        "segments_intersect",
        [(0, 0), (1, 1), (2, 0)],
        {},
        "points: got a problem of 3 nodes",
    ),
    "five ends": (
        "segments_intersect",
        [(i, i * i) for i in range(5)],
        {},
        "points: got 5, needed 4",
    ),
    "a dimension of 0": (
        "matrix_chain_order",
        [3, 0],
        {},
        "p: got 0.0, needed matrix dimensions above 0",
    ),
    "q too short": (
        "optimal_bst",
        None,
        {"p": [0.5], "q": [0.5]},
        "q: got 1 values, needed 2, one more than p has",
    ),
    "negative probability": (
        "optimal_bst",
        None,
        {"p": [0.5], "q": [0.7, -0.2]},
        "q: got -0.2, needed probabilities of at",
    ),
    "finish before start": (
        "activity_selector",
        None,
        {"s": [1, 5], "f": [2, 4]},
        "s: got 5.0 for an activity that finishes at f = 4.0, needed at most that",
    ),
    "two lengths": (
        "activity_selector",
        None,
        {"s": [1, 5], "f": [2]},
        "f: got 1 values, needed 2, one for each node",
    ),
    "half a deadline": (
        "task_scheduling",
        None,
        {"d": [1.5], "w": [1]},
        "d: got 1.5, needed deadlines",
    ),
    "deadline 0": (
        "task_scheduling",
        None,
        {"d": [0], "w": [1]},
        "d: got 0.0, needed deadlines 1, 2",
    ),
    "no values": ("task_scheduling", None, {"d": [1]}, "w: got none, needed a list of numbers"),
    "unknown input": (
        "minimum",
        [1],
        {"keys": [1]},
        "unknown input of minimum: 'keys'; did you mean key",
    ),
    "unknown task": ("minimun", [1], {}, "unknown task: 'minimun'; did you mean minimum"),
}

CASES = [
    pytest.param(*case, id=f"{case[0]}: {what}")
    for cases in (GRAPHS, SEQUENCES)
    for what, case in cases.items()
]


@pytest.mark.parametrize(("name", "problem", "inputs", "message"), CASES)
def test_a_bad_problem_is_refused_with_the_reason(name, problem, inputs, message):
    with pytest.raises(ValueError, match=message):
        tasks.run(name, problem, **inputs)


@pytest.mark.parametrize(
    "cost",
    ["2.5", "2,5", Decimal("2.5"), Fraction(5, 2), np.array(2.5), np.float32(2.5), [2.5], 2.5 + 0j],
    ids=repr,
)
def test_a_number_in_any_form_is_read_or_refused_but_never_taken_for_1(cost):
    graph = nx.Graph([("a", "b", {"cost": cost})])
    with pytest.raises(ValueError, match="weight: got cost and no weight on the edge from 'a'"):
        tasks.run("dijkstra", graph, source="a")
    if str(cost) in ("2,5", "[2.5]", "(2.5+0j)"):
        with pytest.raises(ValueError, match=r"weights: got .* needed a number"):
            tasks.run("dijkstra", graph, weight="cost", source="a")
    else:
        assert tasks.run("dijkstra", graph, weight="cost", source="a").inputs["A"].max() == 2.5


@pytest.mark.parametrize("kind", ["road", True, np.True_, None, "nan", [1, 2], {}, np.ones(2)])
def test_what_is_no_number_is_no_weight(kind):
    graph = nx.Graph([("a", "b", {"kind": kind})])
    assert tasks.run("dijkstra", graph, source="a").inputs["A"].max() == 1
