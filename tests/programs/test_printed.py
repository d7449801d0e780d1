"""The paper's printed networks: its matrices, what they do, and that their certificates say where
they fail."""

import json
import sys

import numpy as np
import pytest

from algoscope import cli, networks, tasks
from algoscope.programs import verification
from algoscope.programs.compiler import compile_program
from algoscope.programs.printed import TASKS, as_printed, best, panels, printed, without_loops
from algoscope.programs.verification import compare_with_reference

NODES = 6
LOOP = "a node with a loop keeps its distance when it reads itself"

# Equations 20 and 22; their rows run from id to dist.
W_VALUE = [
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 1, 0, 0],
    [0, 0, 0, 0, 1, 0, 0, 0],
]
W_SKIP = [[0, 0, 0, 1, 0, 0, 0, 0], [0] * 8, [0] * 8, [0] * 8]
W_INFO = [[0] * 4, [0] * 4, [0] * 4, [1, 0, 0, 0]]


@pytest.fixture(params=TASKS)
def task(request):
    return request.param


def arrays_of(task, constants=None):
    named = networks.arrays(printed(task, NODES, constants).network)
    return {name: np.asarray(array, float) for name, array in named.items()}


def as_in_print(weight):
    return weight.T[::-1]


def test_it_has_the_parameters_of_dm_clrs_at_width_4_less_the_layer_norm_plus_b_and_w_info(task):
    of_dm_clrs, layer_norm = {"bfs": 516, "bellman_ford": 537}[task], 8
    w_info = {"bfs": 0, "bellman_ford": 16}[task]
    count = sum(array.size for array in arrays_of(task).values())
    assert count == of_dm_clrs - layer_norm + NODES**2 + w_info


def test_bellman_ford_as_printed_has_the_matrices_of_the_print():
    c, k, _, _ = constants = as_printed("bellman_ford", NODES)
    arrays = arrays_of("bellman_ford", constants)
    assert (as_in_print(arrays["processor.value.weight"]) == W_VALUE).all()
    assert (as_in_print(arrays["processor.skip.weight"]) == W_SKIP).all()
    assert (as_in_print(arrays["processor.information"]) == W_INFO).all()
    assert np.array_equal(arrays["processor.sender.weight"].T, [[0, k, 0, 0, -c, k, 0, 0]] * 4)
    assert (arrays["processor.edge.weight"] == -c * np.eye(4)[::-1]).all()
    assert (arrays["processor.bias"] == k * np.eye(NODES)).all()
    assert (arrays["processor.head.weight"] == 1).all()
    assert not arrays["processor.receiver.weight"].any()
    assert not arrays["processor.graph.weight"].any()


def test_bfs_differs_in_what_it_prefers():
    c, k, bias, _ = best("bfs", NODES)
    arrays = arrays_of("bfs")
    assert (as_in_print(arrays["processor.value.weight"])[:3] == W_VALUE[:3]).all()
    assert np.array_equal(arrays["processor.sender.weight"].T, [[0, k, 0, 0, 0, k, 0, 0]] * 4)
    assert not arrays["processor.edge.weight"].any()
    ids = np.arange(NODES) / NODES
    np.testing.assert_allclose(arrays["processor.bias"], bias * np.eye(NODES) - c * ids, rtol=1e-6)


def test_a_node_reads_the_nearest_visited_neighbour_and_else_itself():
    lengths = np.zeros((NODES, NODES))
    for i, j, length in [(0, 1, 0.9), (0, 2, 0.2), (1, 2, 0.3), (2, 3, 0.5), (4, 5, 0.1)]:
        lengths[i, j] = lengths[j, i] = length
    batch = tasks.run("bellman_ford", lengths, source=0)
    recorded = networks.run(printed("bellman_ford", NODES).network, batch)
    read = np.argmax(recorded.attention[0, :, 0], -1)
    assert read[0].tolist() == [0, 0, 0, 3, 4, 5]
    assert read[1].tolist() == [0, 2, 0, 2, 4, 5]
    np.testing.assert_allclose(np.max(recorded.attention[0, :2], -1), 1.0)
    np.testing.assert_allclose(recorded.hidden[0, 1, :, 0], [0, 0.5, 0.2, 0.7, 0, 0], atol=1e-6)
    np.testing.assert_allclose(recorded.hidden[0, 1, :, 1], [1, 1, 1, 1, 0, 0])


def test_visit_counts_down_along_the_tree_of_bfs():
    path = np.eye(NODES, k=1) + np.eye(NODES, k=-1)
    batch = tasks.run("bfs", path, source=0)
    recorded = networks.run(printed("bfs", NODES).network, batch)
    assert recorded.hidden[0, 3, :, 1].tolist() == [4, 4, 3, 2, 1, 0]
    assert recorded.outputs["pi"][0].tolist() == [0, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("reading", [best, as_printed])
def test_it_is_exact_without_loops_if_the_certificate_finds_nothing_else(task, reading):
    network, certificate = printed(task, NODES, reading(task, NODES))
    batch = without_loops(tasks.sample(task, NODES, 32, 5))
    exact = compare_with_reference(network, batch).exact_traces == 1.0
    assert exact == (set(certificate.broken) <= {LOOP})
    assert exact == (reading is best)


def test_with_bools_the_parent_of_bfs_is_lost_as_the_certificate_says():
    network, certificate = printed("bfs", NODES, best("bfs", NODES)._replace(counts=False))
    assert certificate.broken == ("a settled node keeps its parent",)
    exactness = compare_with_reference(network, tasks.sample("bfs", NODES, 32, 5))
    assert exactness.hints["reach_h"] == 1.0
    assert exactness.hints["pi_h"] < 0.5


def test_a_loop_is_added_to_the_distance_of_whoever_reads_itself():
    lengths = np.zeros((NODES, NODES))
    lengths[0, 1] = lengths[1, 0] = 0.5
    lengths[3, 3] = 0.25
    batch = tasks.run("bellman_ford", lengths, source=0)
    network, certificate = printed("bellman_ford", NODES)
    assert certificate.broken == (LOOP,)
    recorded = networks.run(network, batch)
    assert recorded.hints["d"][0, 0].tolist() == [0, 0.5, 0, 0.25, 0, 0]


def test_the_certificate_knows_the_size_at_which_float32_no_longer_tells_ids_apart():
    kept = [not printed("bfs", size).certificate.broken for size in (16, 64, 256, 1024)]
    assert kept == [True, True, True, False]


def test_the_certificate_knows_how_far_a_node_may_be():
    c, k, *_ = constants = best("bellman_ford", NODES)
    network, certificate = printed("bellman_ford", NODES, constants._replace(k=0.75 * c))
    assert k / c - 1e-3 < printed("bellman_ford", NODES).certificate.largest_distance < k / c
    assert 0.74 < certificate.largest_distance < 0.75
    for length, reached in [(0.7, 1.0), (0.8, 0.0)]:
        lengths = np.zeros((NODES, NODES))
        lengths[0, 1] = lengths[1, 0] = length
        batch = tasks.run("bellman_ford", lengths, source=0)
        assert networks.run(network, batch).hints["msk"][0, 0, 1] == reached


def test_figures_6_to_9_hold_every_parameter(task):
    drawn = panels(printed(task, NODES).network)
    assert list(drawn) == ["main", "auxiliary"]
    sizes = [panel.values.size for picture in drawn.values() for panel in picture]
    assert sum(sizes) == sum(array.size for array in arrays_of(task).values())
    by_title = {panel.title: panel for panel in drawn["main"]}
    value = by_title["W_value"]
    assert value.values[value.rows.index("x"), value.columns.index("pi")] == 1
    assert by_title["B"].values.shape == (NODES, NODES)


@pytest.fixture
def algoscope(monkeypatch, capsys):
    def run(arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["algoscope", *arguments.split()])
        cli.main()
        return capsys.readouterr().out

    return run


def test_verify_prints_shares_and_limits(algoscope):
    arguments = f"verify bellman_ford --variant printed --size {NODES} --count 8 --without-loops"
    said = json.loads(algoscope(f"{arguments} --json"))
    assert said["exact_traces"] == said["exact_outputs"] == said["hints"]["d"] == 1.0
    assert said["certificate"]["size"] == said["nodes"] == NODES
    table = algoscope(arguments)
    assert "interpreter" not in table
    assert table.splitlines()[-1] == f"not kept: {LOOP}"


def test_compile_and_draw_write_files(algoscope, tmp_path):
    path = tmp_path / "bfs.safetensors"
    algoscope(f"compile bfs --variant printed --size {NODES} --out {path}")
    network, task = networks.load(path)
    assert (task, network.config.attention_bias) == ("bfs", NODES)
    written = algoscope(f"draw bfs --variant printed --size {NODES} --out {tmp_path}").split()
    assert [name.rpartition("-printed-")[2] for name in written] == [
        "main.svg", "main.png", "auxiliary.svg", "auxiliary.png",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("verify dfs --variant printed", "printed: got 'dfs', needed one of bfs, bellman_ford"),
        ("verify bfs --variant printed --width 8", "--width: got 8 with --variant printed"),
        ("verify bfs --without-loops", "--without-loops: got True with --variant compiled"),
        ("compile bfs --variant printed --out x.safetensors", "--size: got None with"),
        ("compile bfs --size 8 --out x.safetensors", "--size: got 8 with --variant compiled"),
    ],
)
def test_what_has_no_meaning_is_refused(algoscope, arguments, message):
    with pytest.raises(SystemExit, match=f"error: {message}"):
        algoscope(arguments)


def test_verify_fails_when_the_network_is_not_what_the_certificate_says(
    algoscope, monkeypatch, capsys
):
    arguments = f"verify bfs --size {NODES} --count 4"
    assert algoscope(arguments).splitlines()[-1].endswith("4 of the 4 samples above the margin")

    def compile_softly(program, width, precision):
        certificate = compile_program(program, width, precision=precision).certificate
        soft = compile_program(program, width, precision=precision, sharpness=1.0)
        return soft._replace(certificate=certificate)

    monkeypatch.setattr(verification, "compile_program", compile_softly)
    with pytest.raises(SystemExit) as exit_:
        algoscope(arguments)
    assert exit_.value.code == 1
    assert capsys.readouterr().out.splitlines()[-1].endswith("a fault of the compiler")
