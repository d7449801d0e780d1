"""A user's own graph, in any of the forms of docs/how-to/own-graphs.md, as an adjacency matrix.

A 2 x 2 array could be either of two forms: it is read as a matrix, and as edges if it is given as
`edge_index=` or as a tuple. Neither networkx nor scipy is imported: their objects are recognised
by what they offer.
"""

import math
import numbers
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from algoscope import capacity
from algoscope.arrays import given_array
from algoscope.errors import short

NAMES = ("graph", "edge_index", "edge_weight", "num_nodes", "weight")
_MATRICES = 4
"""So many at least are made of a graph's weights until it is a batch."""
_WEIGHT = "weight"
"""The edge attribute that networkx takes for the weight where none is named."""


class Graph(NamedTuple):
    A: np.ndarray
    """float64 [n, n]: the weight of the edge from row to column, 0 for no edge."""
    labels: list[Hashable]
    """The user's name of each node."""


class _Edges(NamedTuple):
    senders: np.ndarray
    receivers: np.ndarray
    weights: np.ndarray
    labels: list[Hashable]


def read_graph(inputs: Mapping[str, Any], weighted: bool) -> Graph:
    """The graph among the inputs given, its weights made 1 if the task has none."""
    edges = _read_edges(inputs, weighted)
    nodes = len(edges.labels)
    _check_size(nodes)
    if nodes == 0:
        raise ValueError("graph: got no nodes, needed at least 1")
    weights = edges.weights
    for value, edge in _first(edges, weights, ~np.isfinite(weights)):
        raise ValueError(f"weights: got {value} on the edge {edge}, needed a finite number")
    if not weighted:
        weights = np.ones(len(weights))
    for value, edge in _first(edges, weights, weights == 0):
        raise ValueError(
            f"weights: got {value} on the edge {edge}, needed another, as 0 stands for no edge"
        )
    A = np.zeros((nodes, nodes))
    A[edges.senders, edges.receivers] = weights
    kept = A[edges.senders, edges.receivers]
    for value, edge in _first(edges, weights, kept != weights):
        raise ValueError(f"weights: got {value} and another on the edge {edge}, needed one")
    return Graph(A, edges.labels)


def _read_edges(inputs: Mapping[str, Any], weighted: bool) -> _Edges:
    graph, edge_index = inputs.get("graph"), inputs.get("edge_index")
    is_networkx = hasattr(graph, "nodes") and hasattr(graph, "edges")
    if "weight" in inputs and not (is_networkx and weighted):
        wanted = "a networkx graph with it" if weighted else "none, as the task reads no weights"
        raise ValueError(f"weight: got {inputs['weight']!r}, needed {wanted}")
    details = [name for name in ("edge_weight", "num_nodes") if inputs.get(name) is not None]
    if (graph is None) == (edge_index is None):
        raise ValueError(
            f"graph: got {'none' if graph is None else 'both a graph and an edge_index'}, needed a "
            "networkx graph, an adjacency matrix, a scipy sparse matrix or an edge_index"
        )
    if hasattr(graph, "edge_index"):
        raise ValueError(
            f"graph: got {short(graph)}, needed its parts: edge_index=, edge_weight=, num_nodes="
        )
    if edge_index is None and not details:
        if is_networkx:
            return _from_networkx(graph, _edge_weights(graph, inputs) if weighted else None)
        if hasattr(graph, "tocoo"):
            return _from_sparse(graph)
        if not isinstance(graph, tuple) and _is_square(matrix := given_array("graph", graph)):
            return _from_matrix(matrix)
    if hasattr(graph, "edges") or hasattr(graph, "tocoo"):
        raise ValueError(f"{details[0]}: got it beside a graph, needed an edge_index with it")
    ends = given_array("edge_index", graph if edge_index is None else edge_index)
    return _from_edge_index(ends, inputs.get("edge_weight"), inputs.get("num_nodes"))


def _check_size(nodes: int) -> None:
    """Before there is an adjacency matrix, or a list of so many nodes."""
    matrices = _MATRICES * nodes**2 * np.dtype(float).itemsize
    capacity.check(f"a graph of {short(nodes)} nodes", matrices, "give a smaller one")


def _first(edges: _Edges, weights: np.ndarray, where: np.ndarray) -> Iterator[tuple[float, str]]:
    """The weight and the name of the first edge where that is true, if there is one."""
    for edge in np.flatnonzero(where)[:1]:
        sender, receiver = edges.labels[edges.senders[edge]], edges.labels[edges.receivers[edge]]
        yield float(weights[edge]), f"from {sender!r} to {receiver!r}"


def _from_networkx(graph: Any, weights: list[float] | None) -> _Edges:
    labels = list(graph.nodes)
    places = {label: i for i, label in enumerate(labels)}
    ends = [(places[sender], places[receiver]) for sender, receiver in graph.edges()]
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    values = np.ones(len(pairs)) if weights is None else np.array(weights)
    if not graph.is_directed():
        pairs, values = np.concatenate([pairs, pairs[:, ::-1]]), np.concatenate([values, values])
    return _Edges(pairs[:, 0], pairs[:, 1], values, labels)


def _edge_weights(graph: Any, inputs: Mapping[str, Any]) -> list[float] | None:
    """The weight of each edge in the order of `graph.edges`; None if `weight=None` makes each 1.

    An attribute that is named has to be on every edge. Where none is named it is `weight`, if any
    edge has that; else each edge counts 1, unless it has other numbers, one of which may be meant.
    """
    attribute = inputs.get("weight", _WEIGHT)
    if attribute is None:
        return None
    if not isinstance(attribute, Hashable):
        raise ValueError(f"weight: got {short(attribute)}, needed the name of an edge attribute")
    edges = list(graph.edges(data=True))
    is_needed = "weight" in inputs or any(attribute in attributes for *_, attributes in edges)
    return [
        _edge_weight(attribute, is_needed, attributes, f"{sender!r} to {receiver!r}")
        for sender, receiver, attributes in edges
    ]


def _edge_weight(
    attribute: Hashable, is_needed: bool, attributes: Mapping[Hashable, Any], ends: str
) -> float:
    numeric = sorted(str(name) for name, value in attributes.items() if _is_number(value))
    if attribute in attributes:
        try:
            return float(attributes[attribute])
        except (TypeError, ValueError, OverflowError):
            given = short(attributes[attribute])
            raise ValueError(
                f"weights: got {given} on the edge from {ends}, needed a number"
            ) from None
    if is_needed or numeric:
        got = f"{' and '.join(numeric)} and no {attribute}" if numeric else f"no {attribute}"
        example = numeric[0] if numeric else "length"
        raise ValueError(
            f"weight: got {got} on the edge from {ends}, needed an attribute that every edge has, "
            f"such as weight={example!r}, or weight=None for 1 on each edge"
        )
    return 1.0


def _is_number(value: Any) -> bool:
    """Whether the value of an attribute may be meant as a weight: a number, one in an array or a
    list, or one that is written out, as files of graphs have them."""
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, numbers.Number):
        return True
    if isinstance(value, np.ndarray):
        return value.size == 1 and _is_number(value.item())
    if isinstance(value, list | tuple):
        return len(value) == 1 and _is_number(value[0])
    written = value.replace(",", ".") if isinstance(value, str) else value
    try:
        return math.isfinite(float(written))
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return False


def _from_sparse(matrix: Any) -> _Edges:
    if not _is_square(matrix):
        raise ValueError(f"graph: got a sparse matrix {matrix.shape}, needed [n, n]")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"graph: got a sparse matrix of {matrix.dtype}, needed numbers")
    entries = matrix.tocsr().tocoo()
    return _Edges(
        entries.row, entries.col, entries.data.astype(float), list(range(matrix.shape[0]))
    )


def _from_matrix(matrix: np.ndarray) -> _Edges:
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"graph: got a matrix of {matrix.dtype}, needed numbers")
    senders, receivers = np.nonzero(matrix)
    return _Edges(
        senders, receivers, matrix[senders, receivers].astype(float), list(range(len(matrix)))
    )


def _from_edge_index(edge_index: np.ndarray, edge_weight: Any, num_nodes: Any) -> _Edges:
    if edge_index.ndim != 2 or len(edge_index) != 2:
        raise ValueError(
            f"graph: got an array of shape {list(edge_index.shape)}, "
            "needed an adjacency matrix [n, n] or an edge_index [2, edges]"
        )
    if edge_index.size and edge_index.dtype.kind not in "iu":
        raise ValueError(f"edge_index: got values of type {edge_index.dtype}, needed integers")
    edge_index = edge_index.astype(np.int64)
    highest = int(edge_index.max(initial=-1))
    if num_nodes is None:
        num_nodes = highest + 1
    elif isinstance(num_nodes, bool) or not isinstance(num_nodes, (int, np.integer)):
        raise ValueError(f"num_nodes: got {num_nodes!r}, needed an integer")
    _check_size(int(num_nodes))
    outside = edge_index[(edge_index < 0) | (edge_index >= num_nodes)]
    if outside.size:
        raise ValueError(
            f"edge_index: got node {outside[0]}, needed nodes from 0 to {num_nodes - 1}"
        )
    weights = np.ones(edge_index.shape[1])
    if edge_weight is not None:
        array = given_array("edge_weight", edge_weight)
        if array.size != len(weights) or array.dtype.kind not in "biuf":
            raise ValueError(
                f"edge_weight: got {list(array.shape)} of {array.dtype}, "
                f"needed a number for each of the {len(weights)} edges"
            )
        weights = array.reshape(-1).astype(float)
    return _Edges(edge_index[0], edge_index[1], weights, list(range(num_nodes)))


def read_matrix(name: str, value: Any, nodes: int) -> np.ndarray:
    """A number for each pair of nodes: float64 [nodes, nodes]."""
    matrix = given_array(name, value)
    if matrix.shape != (nodes, nodes) or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}: got {list(matrix.shape)} of {matrix.dtype}, "
            f"needed a number for each pair of the {nodes} nodes"
        )
    return matrix.astype(float)


def _is_square(matrix: Any) -> bool:
    return len(matrix.shape) == 2 and matrix.shape[0] == matrix.shape[1]
