"""Checkpoints of dm-clrs are converted by name, and nothing in their pickle is executed."""

import pathlib
import pickle

import jax
import numpy as np
import pytest

from algoscope import networks, tasks
from algoscope.networks import dm_clrs


class Adam:
    """Stands for the optimiser states that checkpoints carry."""

    def __init__(self):
        self.mu = np.zeros(3)


class Malicious:
    def __init__(self, marker: pathlib.Path):
        self.marker = marker

    def __reduce__(self):
        return pathlib.Path.touch, (self.marker,)


def build(processor: str, **options) -> networks.Network:
    config = networks.NetworkConfig(processor=processor, width=8, **options)
    return networks.build(tasks.get("insertion_sort"), config, key=jax.random.key(1))


@pytest.mark.parametrize("processor", sorted(networks.PROCESSORS))
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_checkpoint_gives_the_same_weights(processor, protocol, tmp_path):
    network = build(processor, **({"heads": 4} if "gat" in processor else {}))
    checkpoint = {"params": dm_clrs.to_parameters(network), "opt_state": (Adam(), {"a": [Adam()]})}
    path = tmp_path / "best.pkl"
    path.write_bytes(pickle.dumps(checkpoint, protocol))
    other = jax.tree.map(lambda x: x + 1, network)
    read = dm_clrs.from_parameters(other, dm_clrs.read_checkpoint(path))
    for name, array in networks.arrays(network).items():
        np.testing.assert_array_equal(networks.arrays(read)[name], array)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_nothing_in_a_malicious_checkpoint_is_executed(protocol, tmp_path):
    marker = tmp_path / "executed"
    hostile = Malicious(marker)
    path = tmp_path / "best.pkl"
    parameters = dm_clrs.to_parameters(build("gatv2"))
    path.write_bytes(pickle.dumps({"params": parameters, "opt_state": hostile}, protocol))
    assert set(dm_clrs.read_checkpoint(path)) == set(parameters)
    for content in ({"params": hostile}, {"params": {"net": {"w": hostile}}}, hostile):
        path.write_bytes(pickle.dumps(content, protocol))
        with pytest.raises(networks.WeightsError, match="needed a dictionary with arrays"):
            dm_clrs.read_checkpoint(path)
    assert not marker.exists()
    pickle.loads(pickle.dumps(hostile))
    assert marker.exists()


def test_bytes_that_are_no_checkpoint_are_refused(tmp_path):
    path = tmp_path / "best.pkl"
    for content in (b"", b"hello", pickle.dumps({"params": {"a": {"w": 3}}}), pickle.dumps([1])):
        path.write_bytes(content)
        with pytest.raises(networks.WeightsError):
            dm_clrs.read_checkpoint(path)


def test_missing_parameters_are_all_listed():
    network = build("gatv2")
    parameters = dm_clrs.to_parameters(network)
    del parameters["net/gatv2_aggr_clrs_processor/linear_6"]
    del parameters["net/gatv2_aggr_clrs_processor/layer_norm"]["scale"]
    with pytest.raises(networks.WeightsError) as error:
        dm_clrs.from_parameters(network, parameters)
    assert "linear_6 w, for processor.head.weight" in str(error.value)
    assert "layer_norm scale, for processor.norm.scale" in str(error.value)


def test_a_network_that_dm_clrs_cannot_have_is_refused():
    with pytest.raises(networks.WeightsError, match="edge information"):
        dm_clrs.to_parameters(build("gatv2", edge_information=True))
