"""Exports: nothing of a batch is lost, or changed, on the way to other libraries."""

import dataclasses
import json
import warnings

import networkx as nx
import numpy as np
import pytest
import torch
from drawing import samples_of

from algoscope import tasks
from algoscope.tasks import Location, Stage, export

with warnings.catch_warnings():
    # Some of what it imports is deprecated by torch.
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric import loader as pyg

NAMES = tasks.names(variants=True)


def batch_of(name: str) -> tasks.Batch:
    return tasks.sample(name, max(6, tasks.get(name).smallest), 3, 2)


@pytest.mark.parametrize("name", NAMES)
def test_rows_hold_every_feature_in_plain_python(name):
    batch = batch_of(name)
    rows = json.loads(json.dumps(export.to_rows(batch)))
    assert len(rows) == len(batch)
    for row, sample, steps in zip(rows, samples_of(batch), batch.lengths, strict=True):
        assert (row.pop("task"), row.pop("length")) == (name, steps)
        assert row.pop("nodes") == len(next(iter(sample.inputs.values())))
        stages = {"input": sample.inputs, "hint": sample.hints, "output": sample.outputs}
        expected = {
            f"{s}_{key}": value for s, values in stages.items() for key, value in values.items()
        }
        assert row.keys() == expected.keys()
        for key, value in expected.items():
            assert np.array_equal(row[key], value), key


@pytest.mark.parametrize("name", NAMES)
def test_pyg_dictionaries_have_places_first_and_can_be_collated(name):
    batch = batch_of(name)
    loader = pyg.DataLoader(export.to_pyg(batch), batch_size=2)
    graphs = [graph for collated in loader for graph in collated.to_data_list()]
    for data, sample in zip(graphs, samples_of(batch), strict=True):
        nodes, (senders, receivers) = data.num_nodes, data.edge_index.numpy()
        assert data.x.shape[0] == nodes
        assert data.edge_attr.shape[0] == len(senders)
        assert data.x.dtype == data.edge_attr.dtype == torch.float32
        for feature in batch.task.features:
            value = data[f"{feature.stage}_{feature.name}"]
            assert value.dtype == (torch.int64 if feature.is_pointer else torch.float32)
            value = value.numpy()
            over_time = feature.stage is Stage.HINT
            dense = (sample.inputs | sample.hints | sample.outputs)[feature.name]
            if over_time:
                assert value.shape[1] == batch.lengths.max()
                value = np.moveaxis(value[:, : data["length"]], 1, 0)
            if feature.location is Location.GRAPH:
                expected = dense[:, None] if over_time else dense[None]
            elif feature.location is Location.NODE:
                expected = dense
            else:
                expected = dense[:, senders, receivers] if over_time else dense[senders, receivers]
            assert np.array_equal(value, expected.astype(value.dtype)), feature.name


@pytest.mark.parametrize("name", NAMES)
def test_torch_loaders_stack_the_samples(name):
    batch = batch_of(name)
    [stacked] = torch.utils.data.DataLoader(export.to_torch(batch), batch_size=len(batch))
    assert stacked.pop("length").tolist() == batch.lengths.tolist()
    for feature in batch.task.features:
        tensor = stacked.pop(f"{feature.stage}_{feature.name}")
        values = batch.values(feature.stage)[feature.name]
        assert np.array_equal(tensor, values.astype(tensor.numpy().dtype)), feature.name
    assert not stacked


def test_collated_pyg_graphs_keep_pointers_inside_their_sample():
    batch = batch_of("bfs")
    [collated] = pyg.DataLoader(export.to_pyg(batch), batch_size=len(batch))
    assert collated.output_pi.tolist() == batch.outputs["pi"].ravel().tolist()
    assert collated.edge_index.max() == len(batch) * batch.nodes - 1


def test_features_that_collating_would_change_are_refused():
    feature = tasks.Feature("batches", Stage.INPUT, Location.NODE, tasks.Kind.SCALAR)
    batch = dataclasses.replace(batch_of("bfs"), features=(feature,))
    with pytest.raises(ValueError, match="got batches, needed a name without index or batch"):
        export.to_pyg(batch)


def test_pyg_edges_are_the_graphs_or_all_pairs_where_pairs_are_what_the_task_is_about():
    for name, all_pairs in {
        "bfs": False,
        "bridges": False,
        "floyd_warshall": True,
        "minimum": True,
    }.items():
        batch = batch_of(name)
        for data, sample in zip(export.to_pyg(batch), samples_of(batch), strict=True):
            present = np.ones((6, 6)) if all_pairs else sample.inputs["adj"]
            assert np.array_equal(data.edge_index, np.argwhere(present).T)


def test_pyg_inputs_are_columns():
    batch = batch_of("dijkstra")
    for data, sample in zip(export.to_pyg(batch), samples_of(batch), strict=True):
        assert np.allclose(data.x, np.stack([sample.inputs["pos"], sample.inputs["s"]], 1))
        edges = tuple(data.edge_index.numpy())
        assert np.allclose(data.edge_attr[:, 0], sample.inputs["A"][edges])


@pytest.mark.parametrize("name", [n for n in NAMES if "A" in tasks.get(n).problem])
def test_a_networkx_graph_run_again_gives_the_same_trace(name):
    batch = batch_of(name)
    for graph, sample in zip(export.to_networkx(batch), samples_of(batch), strict=True):
        given = {"source": int(sample.inputs["s"].argmax())} if "s" in sample.inputs else {}
        [trace] = samples_of(tasks.run(name, graph, **given))
        for ours, theirs in zip((trace.inputs, trace.hints, trace.outputs), sample, strict=True):
            for key, value in theirs.items():
                assert np.array_equal(ours[key], value), key


def test_networkx_attributes_are_the_features():
    batch = batch_of("bridges")
    for graph, sample in zip(export.to_networkx(batch), samples_of(batch), strict=True):
        assert type(graph) is nx.Graph
        assert graph.graph["task"] == "bridges"
        assert graph.graph["time"] == sample.hints["time"].tolist()
        assert [graph.nodes[i]["pi_h"] for i in range(6)] == sample.hints["pi_h"].T.tolist()
        for i, j, data in graph.edges(data=True):
            assert data["weight"] == 1
            assert data["is_bridge"] == sample.outputs["is_bridge"][i, j]
            assert data["is_bridge_h"] == sample.hints["is_bridge_h"][:, i, j].tolist()
    [first, *_] = export.to_networkx(batch_of("dfs"))
    assert type(first) is nx.DiGraph
    for graph, sample in zip(
        export.to_networkx(batch_of("floyd_warshall")),
        samples_of(batch_of("floyd_warshall")),
        strict=True,
    ):
        assert np.array_equal(graph.graph["Pi"], sample.outputs["Pi"])


@pytest.mark.parametrize("name", [n for n in NAMES if "A" not in tasks.get(n).problem])
def test_networkx_without_a_graph_has_nodes_alone(name):
    batch = batch_of(name)
    for graph, sample in zip(export.to_networkx(batch), samples_of(batch), strict=True):
        assert graph.number_of_edges() == 0
        for feature in batch.task.features:
            value = (sample.inputs | sample.hints | sample.outputs)[feature.name]
            if feature.location is Location.NODE:
                found = [graph.nodes[i][feature.name] for i in graph]
                expected = value.swapaxes(0, 1) if feature.stage is Stage.HINT else value
                assert np.array_equal(found, expected), feature.name
            else:
                assert np.array_equal(graph.graph[feature.name], value), feature.name
