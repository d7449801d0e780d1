"""Batches in the forms of other libraries: PyTorch, PyTorch Geometric, networkx, Hugging Face
datasets.

A library is imported by the function that makes its objects; rows are plain Python values.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from algoscope.tasks.batch import Batch
from algoscope.tasks.features import Feature, Kind, Location, Stage

if TYPE_CHECKING:
    import networkx
    import torch
    import torch_geometric.data

_EDGES = ("A", "adj")
"""The input features that are the graph itself."""
_COUNTED_ON = ("index", "batch", "face")
"""In names of attributes: PyTorch Geometric adds to their values, sample by sample."""


def to_rows(batch: Batch) -> list[dict[str, Any]]:
    """A dictionary of plain Python values per sample, as `datasets.Dataset.from_list` takes them.

    `task`, `nodes`, `length` (steps), then each feature in nested lists, named after its stage:
    input_A, hint_pi_h, output_pi. Hints have as many entries as the sample has steps.
    """
    rows = []
    for sample in range(len(batch)):
        values = _sample(batch, sample)
        rows.append(
            {
                "task": batch.task.name,
                "nodes": batch.nodes,
                "length": int(batch.lengths[sample]),
                **{_column(f): values[f.name].tolist() for f in batch.features},
            }
        )
    return rows


def to_torch(batch: Batch) -> "list[dict[str, torch.Tensor]]":
    """A dictionary of tensors per sample, which torch's DataLoader stacks: [batch, …].

    `length` (steps), then each feature, named after its stage: input_A, hint_pi_h, output_pi. Hints
    are padded with zeros to the longest sample's steps. Pointers are int64, all others float32.
    """
    import torch

    samples = []
    for sample in range(len(batch)):
        values = _sample(batch, sample, padded=True)
        tensors = {_column(f): _tensor(f, values[f.name]) for f in batch.features}
        samples.append({"length": torch.tensor(int(batch.lengths[sample])), **tensors})
    return samples


def to_pyg(batch: Batch) -> "list[torch_geometric.data.Data]":
    """A graph of PyTorch Geometric per sample, which its DataLoader collates.

    - `edge_index` [2, edges]: the edges of the graph and a loop at every node, as in `adj`; all
      pairs of nodes if the task has no graph or knows more about pairs than whether they are marked
    - `edge_attr` [edges, columns], `x` [nodes, columns]: the inputs at edges and nodes
    - every feature, named after its stage (input_A, hint_pi_h, output_pi): [edges, …], [nodes, …],
      or [1, …] at the graph; hints [edges or nodes or 1, time, …], padded with zeros to the
      longest sample's steps
    - `num_nodes`, and `length`, the steps of the sample

    Pointers are int64, all others float32. Pointers are numbers of nodes in the sample, also after
    collating.
    """
    import torch
    from torch_geometric.data import Data

    features = batch.features
    for feature in features:
        if any(part in feature.name for part in _COUNTED_ON):
            raise ValueError(
                f"features: got {feature.name}, needed a name without {' or '.join(_COUNTED_ON)}, "
                "whose values PyTorch Geometric changes when it collates"
            )
    inputs = batch.at(Stage.INPUT)
    all_pairs = np.ones((batch.nodes, batch.nodes))
    graphs = []
    for sample in range(len(batch)):
        values = _sample(batch, sample, padded=True)
        edges = np.argwhere(values["adj"] != 0 if _lives_on_edges(batch) else all_pairs).T
        arrays = {f.name: _places_first(f, values[f.name], edges) for f in features}
        graphs.append(
            Data(
                x=torch.from_numpy(_columns(inputs, Location.NODE, arrays, batch.nodes)),
                edge_index=torch.from_numpy(np.ascontiguousarray(edges)),
                edge_attr=torch.from_numpy(_columns(inputs, Location.EDGE, arrays, edges.shape[1])),
                **{_column(f): _tensor(f, arrays[f.name]) for f in features},
                num_nodes=batch.nodes,
                length=int(batch.lengths[sample]),
            )
        )
    return graphs


def to_networkx(batch: Batch) -> "list[networkx.Graph]":
    """A networkx graph per sample, directed unless all its edges go both ways.

    Edges have the attribute `weight`. The features at nodes and edges are attributes by their
    names, hints as lists over time; all others (at the graph, or about all pairs of nodes) are in
    `graph.graph`, beside the task's name.
    """
    import networkx

    graphs = []
    for sample in range(len(batch)):
        values = _sample(batch, sample)
        weights = values.get("A", np.zeros((batch.nodes, batch.nodes)))
        symmetric = bool((weights == weights.T).all())
        graph = networkx.Graph() if symmetric else networkx.DiGraph()
        graph.graph["task"] = batch.task.name
        graph.add_nodes_from(range(batch.nodes))
        senders, receivers = np.nonzero(weights)
        for i, j in zip(senders.tolist(), receivers.tolist(), strict=True):
            graph.add_edge(i, j, weight=weights[i, j].item())
        for feature in batch.features:
            if feature.name not in _EDGES:
                _attach(graph, feature, values[feature.name], _lives_on_edges(batch))
        graphs.append(graph)
    return graphs


def _attach(graph: "networkx.Graph", feature: Feature, value: np.ndarray, on_edges: bool) -> None:
    over_time = feature.stage is Stage.HINT
    if feature.location is Location.NODE:
        for i, attributes in graph.nodes.items():
            attributes[feature.name] = (value[:, i] if over_time else value[i]).tolist()
    elif feature.location is Location.EDGE and on_edges:
        for (i, j), attributes in graph.edges.items():
            attributes[feature.name] = (value[:, i, j] if over_time else value[i, j]).tolist()
    else:
        graph.graph[feature.name] = value.tolist()


def _lives_on_edges(batch: Batch) -> bool:
    """Are the features at edges about edges of the graph, and not about all pairs of nodes?"""
    at_edges = [f for f in batch.features if f.location is Location.EDGE]
    return "adj" in batch.inputs and all(
        f.stage is Stage.INPUT or f.kind is Kind.MASK for f in at_edges
    )


def _column(feature: Feature) -> str:
    return f"{feature.stage}_{feature.name}"


def _tensor(feature: Feature, value: np.ndarray) -> "torch.Tensor":
    import torch

    dtype = np.int64 if feature.is_pointer else np.float32
    return torch.from_numpy(np.array(value, dtype))


def _sample(batch: Batch, sample: int, padded: bool = False) -> dict[str, np.ndarray]:
    """Each feature of one sample; hints [time, …]."""
    steps = None if padded else int(batch.lengths[sample])
    return {
        **{name: array[sample] for name, array in batch.inputs.items()},
        **{name: array[sample, :steps] for name, array in batch.hints.items()},
        **{name: array[sample] for name, array in batch.outputs.items()},
    }


def _places_first(feature: Feature, value: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The value as [edges or nodes or 1, …]; a hint's time comes second."""
    over_time = feature.stage is Stage.HINT
    if feature.location is Location.EDGE:
        return np.moveaxis(value[:, *edges], 0, 1) if over_time else value[tuple(edges)]
    if feature.location is Location.NODE:
        return np.moveaxis(value, 0, 1) if over_time else value
    return value[None]


def _columns(
    inputs: tuple[Feature, ...], location: Location, arrays: dict[str, np.ndarray], places: int
) -> np.ndarray:
    """The inputs at that location side by side: float32 [places, columns]."""
    parts = [arrays[f.name].reshape(places, -1) for f in inputs if f.location is location]
    return np.concatenate([np.empty((places, 0)), *parts], axis=1).astype(np.float32)
