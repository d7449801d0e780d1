"""Compiled, trained, untrained: probes and counterfactuals put them in this order."""

import itertools

import jax
import numpy as np
import optax
import pytest

from algoscope import networks, programs, tasks
from algoscope.measures import counterfactual
from algoscope.measures.nulls import untrained
from algoscope.measures.probes import mean_score, probe_scores
from algoscope.programs.compiler import compile_program

STEPS = 250


def trained(network: networks.Network) -> networks.Network:
    """After a few steps on a few hundred small graphs."""
    arrays = networks.to_device(network, tasks.sample("bfs", 8, 128, seed=11))
    optimiser = optax.adam(1e-2)

    @jax.jit
    def train(network):
        def step(carry, _):
            network, state = carry
            gradient = jax.grad(networks.loss)(network, arrays)
            updates, state = optimiser.update(gradient, state)
            return (optax.apply_updates(network, updates), state), None

        return jax.lax.scan(step, (network, optimiser.init(network)), None, STEPS)[0][0]

    return train(network)


@pytest.fixture(scope="module")
def subjects():
    config = networks.NetworkConfig(width=8)
    start = networks.build(tasks.get("bfs"), config, key=jax.random.key(3))
    compiled = compile_program(programs.get("bfs"), width=8).network
    return {"compiled": compiled, "trained": trained(start), "untrained": untrained(start, seed=3)}


def test_probes_and_counterfactuals_are_in_order(subjects):
    plain, other = (tasks.sample("bfs", 8, 32, seed) for seed in (1, 2))
    used, unused = counterfactual.changes(plain, seed=0)
    batches = [plain, other, used.before, used.after, unused.before, unused.after]
    everything = tasks.Batch.join(batches)
    ends = np.cumsum([0, *map(len, batches)])
    places = [slice(start, end) for start, end in itertools.pairwise(ends)]
    probes, effects = {}, {}
    for name, network in subjects.items():
        whole = networks.run(network, everything)
        recordings = [jax.tree.map(lambda array, at=at: array[at], whole) for at in places]
        mine, fresh = ((recordings[k], everything.take(places[k])) for k in (0, 1))
        probes[name] = mean_score(probe_scores(mine, fresh, fresh)).same_size
        response = counterfactual.response((used, *recordings[2:4]), (unused, *recordings[4:]))
        effects[name] = response.effect
    assert probes["compiled"] > 0.9
    assert effects["compiled"] == 1
    assert probes["compiled"] > probes["trained"] > probes["untrained"]
    assert effects["compiled"] > effects["trained"] > effects["untrained"]
