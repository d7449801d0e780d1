"""Weights come in and go out by name, and what does not fit is refused with all its faults."""

import jax
import numpy as np
import pytest
import safetensors.numpy

from algoscope import networks, tasks
from algoscope.files import RunError


@pytest.fixture
def network():
    config = networks.NetworkConfig(width=8, heads=2)
    return networks.build(tasks.get("bfs"), config, key=jax.random.key(0))


def test_names_say_what_the_arrays_are(network):
    names = set(networks.arrays(network))
    assert {
        "encoders.A.weight",
        "encoders.reach_h.bias",
        "processor.value.weight",
        "processor.head.weight",
        "processor.norm.scale",
        "decoders.pi.receiver.weight",
        "decoders.reach_h.node.bias",
    } <= names


def test_a_network_has_the_number_of_parameters_that_dm_clrs_has():
    sizes = {"bfs": (397_316, 516), "bellman_ford": (397_957, 537), "dfs": (518_159, 831)}
    for task, counts in sizes.items():
        for width, count in zip((128, 4), counts, strict=True):
            config = networks.NetworkConfig(width=width)
            network = networks.build(tasks.get(task), config, key=jax.random.key(0))
            assert sum(a.size for a in networks.arrays(network).values()) == count


def test_a_file_gives_back_the_network_its_task_and_config(network, tmp_path):
    path = tmp_path / "bfs.safetensors"
    networks.save(network, path, "bfs")
    loaded, task = networks.load(path)
    assert task == "bfs"
    assert loaded.config == network.config
    assert loaded.features == network.features
    for name, array in networks.arrays(network).items():
        np.testing.assert_array_equal(networks.arrays(loaded)[name], array)
    assert [p.name for p in tmp_path.iterdir()] == ["bfs.safetensors"]


def test_all_faults_are_listed_at_once(network):
    named = dict(networks.arrays(network))
    del named["encoders.A.weight"]
    named["processor.valve.weight"] = named["processor.value.weight"]
    named["processor.skip.bias"] = np.zeros(3)
    named["processor.skip.weight"] = np.zeros((16, 8), int)
    named["processor.edge.bias"] = np.full(8, np.nan)
    with pytest.raises(networks.WeightsError) as error:
        networks.with_arrays(network, named)
    message = str(error.value)
    assert "missing: encoders.A.weight [1, 8]" in message
    assert "'processor.valve.weight'; did you mean processor.value.weight" in message
    assert "processor.skip.bias: got shape [3], needed [8]" in message
    assert "processor.skip.weight: got int64, needed a floating-point type" in message
    assert "processor.edge.bias: got values that are not finite" in message


def test_a_truncated_file_is_refused(network, tmp_path):
    path = tmp_path / "bfs.safetensors"
    networks.save(network, path, "bfs")
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(networks.WeightsError, match="not a whole safetensors file"):
        networks.load(path)


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    safetensors.numpy.save_file({"x": np.zeros(2)}, path)
    with pytest.raises(networks.WeightsError, match="without Algoscope's metadata"):
        networks.load(path)


def test_metadata_of_another_version_is_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    metadata = {"algoscope": '{"version": "9.9", "config": {"brain": 1}, "features": []}'}
    safetensors.numpy.save_file({"x": np.zeros(2)}, path, metadata)
    with pytest.raises(networks.WeightsError, match=r"of version '9\.9', cannot be read"):
        networks.load(path)


def test_a_failed_write_leaves_the_old_file(network, tmp_path, monkeypatch):
    path = tmp_path / "bfs.safetensors"
    networks.save(network, path, "bfs")
    before = path.read_bytes()

    def full_disk(self, target):
        raise OSError("no space left")

    monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(RunError, match=r"cannot be written \(no space left\)"):
        networks.save(network, path, "bfs")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["bfs.safetensors"]
