"""What a network shows portion by portion, without its silent parts, is what it shows in a run."""

import jax
import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.networks import showing
from algoscope.networks.lean import lean
from algoscope.programs.compiler import compile_program


def shown(network, batch, most=None):
    """By all parts, in the order of the batch."""
    how = networks.Showing.of(network, batch, most)
    whole = {}
    for samples in how.parts:
        for name, values in how.part(samples).items():
            shape = batch.hints[name][:, 1:].shape if name in batch.hints else None
            kept = whole.setdefault(name, np.zeros(shape or (len(batch), *values.shape[1:])))
            if name in batch.hints:
                kept[samples, : values.shape[1]] = values
            else:
                kept[samples] = values
    return whole


def assert_as_in_a_run(network, batch, most=None):
    recording = networks.run(network, batch, path=networks.PLAIN)
    account, valid = shown(network, batch, most), np.asarray(recording.valid)
    for name, values in recording.hints.items():
        assert np.allclose(account[name][valid], np.asarray(values)[valid], atol=1e-6)
    for name, values in recording.outputs.items():
        assert np.allclose(account[name], values, atol=1e-6)


@pytest.mark.parametrize("name", ["bfs", "dijkstra", "quicksort", "bridges", "binary_search"])
def test_compiled_networks(name, monkeypatch):
    monkeypatch.setattr(showing, "_STEPS_AT_ONCE", 4)
    program = programs.get(name)
    batch = tasks.sample(program.task, 5, 5, 3)
    assert_as_in_a_run(compile_program(program).network, batch, most=2)


@pytest.mark.parametrize("processor", ["gatv2", "gatv2_full", "mpnn"])
def test_networks_without_silent_parts(processor):
    config = networks.NetworkConfig(
        processor=processor,
        width=8,
        heads=2 if processor.startswith("gat") else 1,
        head_combination="sum" if processor.startswith("gat") else "concatenate",
        layer_norm=False,
    )
    batch = tasks.sample("bellman_ford", 6, 4, 1)
    network = networks.build("bellman_ford", config, key=jax.random.key(0))
    assert_as_in_a_run(network, batch)


def test_silent_parts_are_left_out():
    network = compile_program(programs.get("dfs")).network
    slim = lean(network)
    sizes = [sum(leaf.size for leaf in jax.tree.leaves(n)) for n in (network, slim)]
    assert sizes[1] < sizes[0]
    assert slim.encoders.keys() < network.encoders.keys()


def test_a_loud_part_stays():
    """A network that differs in one weight of a head shows something else."""
    network = compile_program(programs.get("bfs")).network
    batch = tasks.sample("bfs", 6, 5, 3)
    arrays = dict(networks.arrays(network))
    arrays["processor.head.weight"] = -arrays["processor.head.weight"]
    changed = networks.with_arrays(network, arrays)
    assert_as_in_a_run(changed, batch)
    before, after = shown(network, batch), shown(changed, batch)
    assert not np.array_equal(before["pi"], after["pi"])


def test_samples_that_have_ended_show_no_more():
    batch = tasks.sample("bfs", 8, 6, 2, p=0.3)
    assert len(set(batch.lengths.tolist())) > 1
    network = compile_program(programs.get("bfs")).network
    whole = shown(network, batch, most=2)
    for k in range(len(batch)):
        assert np.array_equal(whole["pi"][k], shown(network, batch.take(np.array([k])))["pi"][0])
