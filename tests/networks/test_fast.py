"""The fast path equals the plain one: predictions, attention, states and gradients, in float64."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import rule

from algoscope import networks, tasks
from algoscope.networks import NetworkConfig, Noise, Path
from algoscope.networks.fast.encoders import Encoders, MergedNodes
from algoscope.networks.layers import Linear
from algoscope.networks.objective import trajectory_loss

NODES = 5
PAPER = {"edge_information": True, "attention_bias": NODES, "activation": "skip"}
CASES = {
    "gatv2": ("bfs", {}),
    "gatv2_full": ("bellman_ford", {"processor": "gatv2_full"}),
    "gatv2, heads": ("bellman_ford", {"heads": 4}),
    "gatv2, heads summed": (
        "bfs",
        {"heads": 2, "head_combination": "sum", "attention_width": 12},
    ),
    "gatv2, as in the paper": ("bellman_ford", PAPER | {"heads": 2, "layer_norm": False}),
    "gatv2, edge information, heads summed": (
        "dijkstra",
        {"edge_information": True, "heads": 2, "head_combination": "sum"},
    ),
    "gatv2, edges three ways": ("dfs", {"edge_views": True, "edge_information": True}),
    "gatv2, rounds": ("bfs", {"rounds": 3}),
    "gatv2, rounds of their own": ("bfs", {"rounds": 2, "shared_rounds": False}),
    "simple decoders": ("dfs", {"simple_decoders": True}),
    "hard hints": ("dfs", {"hint_repred_mode": "hard"}),
    "no memory": ("bfs", {"memory": False}),
    "no hints read": ("bellman_ford", {"encode_hints": False}),
    "no hints": ("bfs", {"encode_hints": False, "decode_hints": False}),
    "gat": ("bfs", {"processor": "gat", "heads": 2}),
    "gat_full": ("bellman_ford", {"processor": "gat_full"}),
    "pgn": ("bellman_ford", {"processor": "pgn"}),
    "pgn, gated, no norm": ("bfs", {"processor": "pgn", "gated": True, "layer_norm": False}),
    "mpnn": ("bellman_ford", {"processor": "mpnn", "gated": True}),
    "deepsets": ("bfs", {"processor": "deepsets"}),
    "triplet_gmpnn": ("bellman_ford", {"processor": "triplet_gmpnn"}),
    "triplet_gmpnn, pointers of edges": ("floyd_warshall", {"processor": "triplet_gmpnn"}),
    "pointers of edges": ("floyd_warshall", {}),
    "a permutation": ("insertion_sort", {}),
    "features of the graph": ("binary_search", {}),
    "categories at edges": ("lcs_length", {}),
}
ON_GPU = (
    "gatv2, as in the paper",
    "gatv2, rounds of their own",
    "hard hints",
    "gat",
    "triplet_gmpnn",
    "pointers of edges",
    "a permutation",
)
"""Those whose form for a GPU is compared too. In float64 no kernel serves, so it runs anywhere."""


def random_noise(network: networks.Network, batch: tasks.Batch) -> Noise:
    """With dropout, and hints that are forced at every other step."""
    count, nodes, steps = len(batch), batch.nodes, batch.steps
    random = np.random.default_rng(5)
    return Noise(
        jnp.asarray(random.integers(0, 2, (count, steps, nodes, network.config.width)) * 2.0),
        jnp.broadcast_to(jnp.arange(steps) % 2 == 1, (count, steps)),
        jnp.asarray(random.gumbel(size=(count, nodes, nodes))),
    )


def test_every_processor_is_compared():
    processors = {options.get("processor", "gatv2") for _, options in CASES.values()}
    assert processors == set(networks.PROCESSORS)


@pytest.mark.parametrize("case", CASES)
def test_the_fast_path_equals_the_plain_one(case):
    task, options = CASES[case]
    batch = tasks.sample(task, NODES, 2, seed=4)
    paths = [networks.PLAIN, Path(backend="cpu")] + [Path(backend="gpu")] * (case in ON_GPU)
    with jax.enable_x64(True):
        network = rule.with_rule(
            networks.skeleton(batch.task, NetworkConfig(width=8, **options)), draw=1
        )
        arrays, noise = networks.to_device(network, batch), random_noise(network, batch)

        @functools.partial(jax.jit, static_argnames="path")
        def results(network, path: Path):
            def loss(network):
                run = networks.trajectories(network, arrays, noise, training=True, path=path)
                return trajectory_loss(network, run, arrays), run

            return jax.value_and_grad(loss, has_aux=True)(network)

        plain, *fast = (jax.tree_util.tree_leaves_with_path(results(network, p)) for p in paths)
    for leaves in fast:
        for (place, expected), (_, value) in zip(plain, leaves, strict=True):
            np.testing.assert_allclose(
                value, expected, rtol=1e-9, atol=1e-10, err_msg=jax.tree_util.keystr(place)
            )


@pytest.mark.parametrize("mode", ["soft", "hard_on_eval"])
def test_evaluation_is_the_same_on_both_paths(mode):
    batch = tasks.sample("dfs", NODES, 2, seed=4)
    config = NetworkConfig(width=8, hint_repred_mode=mode)
    with jax.enable_x64(True):
        network = networks.build(batch.task, config, key=jax.random.key(0))
        plain, fast = (networks.run(network, batch, path=p) for p in (networks.PLAIN, None))
    for expected, value in zip(jax.tree.leaves(plain), jax.tree.leaves(fast), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-10)


def test_a_run_from_states_is_the_same_on_both_paths():
    batch = tasks.sample("bfs", NODES, 3, seed=4)
    with jax.enable_x64(True):
        network = networks.build(batch.task, NetworkConfig(width=8), key=jax.random.key(0))
        recording = networks.run(network, batch)
        start = networks.state_after(network, recording, np.zeros(3, int))
        plain, fast = (
            networks.run_from(network, batch, start, path=path) for path in (networks.PLAIN, None)
        )
    np.testing.assert_allclose(plain.hidden, fast.hidden, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(plain.hidden[:, 0], recording.hidden[:, 1], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(plain.outputs["pi"], fast.outputs["pi"])


@pytest.mark.parametrize("task", ["bfs", "dfs"])
def test_merged_encoders_give_the_same_loss_and_gradient_in_float32(task):
    batch = tasks.sample(task, 6, 3, seed=1)
    network = networks.build(batch.features, NetworkConfig(width=16), key=jax.random.key(1))
    arrays = networks.to_device(network, batch)

    def computed(path: Path):
        return jax.jit(jax.value_and_grad(lambda n: networks.loss(n, arrays, path=path)))(network)

    (loss, gradient), (merged_loss, merged_gradient) = (
        computed(Path(backend=backend, second_derivatives=True)) for backend in ("cpu", "gpu")
    )
    np.testing.assert_allclose(merged_loss, loss, rtol=1e-5)
    for a, b in zip(jax.tree.leaves(merged_gradient), jax.tree.leaves(gradient), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_exact_scalars_are_read_in_two_parts_that_a_gpu_does_not_round():
    scalars = jax.random.normal(jax.random.key(0), (5, 3))
    merged = MergedNodes.of(Linear(jnp.ones((3, 8)), jnp.zeros(8)), [0, 2], merges=True)
    inputs = merged.inputs(jnp.zeros((5, 8)), [scalars])
    assert inputs.shape == (5, 16)
    np.testing.assert_array_equal(inputs[:, 1], scalars[:, 1])
    coarse, off = inputs[:, [0, 2]], inputs[:, 3:5]
    np.testing.assert_array_equal(coarse, jax.lax.reduce_precision(coarse, 8, 10))
    np.testing.assert_array_equal(coarse + off, scalars[:, [0, 2]])
    assert 0 < np.abs(off).max() < 2**-10 * np.abs(scalars).max()


@pytest.mark.parametrize(
    ("backend", "precision", "merges"),
    [("gpu", "default", True), ("gpu", "highest", False), ("cpu", "default", False)],
)
def test_encoders_of_nodes_are_merged_only_on_gpus_and_not_in_full_precision(
    backend, precision, merges, monkeypatch
):
    asked = []
    plain_of = Encoders.of
    monkeypatch.setattr(
        Encoders, "of", lambda network, merges: asked.append(merges) or plain_of(network, merges)
    )
    batch = tasks.sample("bfs", 4, 1)
    config = NetworkConfig(width=4, matrix_precision=precision)
    network = networks.build(batch.task, config, key=jax.random.key(0))
    arrays = networks.to_device(network, batch)
    jax.eval_shape(lambda: networks.trajectories(network, arrays, path=Path(backend=backend)))
    assert asked == [merges]
