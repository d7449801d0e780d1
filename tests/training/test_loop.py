"""Whole trainings: results, kills at random points, devices, given weights, several tasks."""

import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from small import CONFIG, changed

from algoscope import networks, programs, runs, tasks, training
from algoscope.networks import ConfigError, NetworkConfig, WeightsError, arrays
from algoscope.programs.compiler import compile_program
from algoscope.runs import RunError
from algoscope.training import ensemble
from algoscope.training.ensemble import start_learners
from algoscope.training.evaluation import evaluate, problems_for_test
from algoscope.training.graph_objective import GraphObjective
from algoscope.training.plan import plan_training

ALGOSCOPE = [sys.executable, "-c", "from algoscope.cli import main; main()"]
STEPS = 300
TRAIN = ["train", "bfs", "--seeds", "2", "--steps", str(STEPS), "--evaluate-every", "50"]
TRAIN += ["--sizes", "4", "--batch", "4", "--learning-rate", "0.01", "--network", "width=4"]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> pathlib.Path:
    return tmp_path_factory.mktemp("trainings")


@pytest.fixture(scope="module")
def surroundings(place) -> dict[str, str]:
    """So that processes share what they compile."""
    return os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(place / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }


@pytest.fixture(scope="module")
def reference(place, surroundings) -> runs.Run:
    """A run that nothing interrupted."""
    command = [*ALGOSCOPE, *TRAIN, "--out", str(place / "reference"), "--json"]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    run = runs.open(place / "reference")
    assert json.loads(done.stdout) == {"run": str(run.path), **run.results}
    return run


def contents(run: runs.Run) -> dict[str, bytes]:
    """All that has to be equal bit for bit."""
    return {
        str(path.relative_to(run.path)): path.read_bytes()
        for path in [*run.path.rglob("*.safetensors"), run.path / "results.json"]
    }


class Killable:
    """`algoscope train` in a process of its own."""

    def __init__(self, arguments: list[str], surroundings: dict[str, str]):
        self.process = subprocess.Popen(
            [*ALGOSCOPE, *arguments],
            env=surroundings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.text = ""

    def end_after(self, reports: int, seconds: float, how: signal.Signals) -> int:
        """Waits for so many reports of progress, or the last, and a little longer; then sends it a
        signal."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.text += line
            if self.text.count("loss") == reports or f"step {STEPS} of" in line:
                break
        time.sleep(seconds)
        self.process.send_signal(how)
        self.text += self.process.communicate()[0]
        return self.process.returncode


def test_killed_again_and_again_a_run_ends_with_the_same_bits(place, surroundings, reference):
    chance = random.Random(7)
    path = place / "killed"
    again = ["train", "--resume", str(path), "--checkpoint-seconds", "0"]

    first = Killable([*TRAIN, "--out", str(path), "--checkpoint-seconds", "0"], surroundings)
    code = first.end_after(chance.randint(1, 3), chance.random() / 20, signal.SIGKILL)
    assert code == -signal.SIGKILL
    reached = runs.open(path).step
    assert 0 < reached < STEPS
    assert not runs.open(path).finished

    second = Killable(again, surroundings)
    assert second.end_after(chance.randint(1, 2), 0, signal.SIGINT) == 130, second.text
    assert f"go on with `algoscope train --resume {path}`" in second.text

    third = Killable(again, surroundings)
    third.end_after(2, chance.random() / 20, signal.SIGKILL)
    assert reached < runs.open(path).step < STEPS
    newest = max(path.glob("checkpoint-*"))
    newest.write_bytes(newest.read_bytes()[:-1])

    fourth = Killable(again, surroundings)
    fourth.end_after(STEPS, chance.random() / 2, signal.SIGKILL)

    subprocess.run([*ALGOSCOPE, *again], env=surroundings, check=True, capture_output=True)
    run = runs.open(path)
    assert any("is damaged" in note for note in run.description["notes"])
    assert contents(run) == contents(reference)
    assert not list(path.glob("checkpoint-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_while_a_training_waits_for_its_programs(tmp_path, monkeypatch, number):
    """It stops there, and the steps that were taken before are safe."""
    config, prepare = changed(steps=4, pool_steps=2), GraphObjective.prepare

    def compile_for_ever(objective, placed, step):
        if step < 2:
            return prepare(objective, placed, step)
        threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
        threading.Event().wait(60)
        raise AssertionError

    monkeypatch.setattr(GraphObjective, "prepare", compile_for_ever)
    with pytest.raises(training.Stopped, match="stopped at step 2 of 4; go on with") as stopped:
        training.train(config, tmp_path / "run", checkpoint_seconds=1e9)
    assert stopped.value.signal == number
    run = runs.open(tmp_path / "run")
    assert (run.step, run.state) == (2, runs.State.STOPPED)
    monkeypatch.undo()
    whole = training.train(config, tmp_path / "whole")
    assert contents(training.resume(run.path)) == contents(whole)


def test_ctrl_c_in_the_final_evaluation_loses_nothing(tmp_path, monkeypatch):
    def score(*_):
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(60)
        raise AssertionError

    monkeypatch.setattr(ensemble, "evaluate", score)
    with pytest.raises(
        training.Stopped, match="stopped at step 12 of 12; go on with `algoscope tr"
    ):
        training.train(CONFIG, tmp_path / "run")
    monkeypatch.undo()
    whole = training.train(CONFIG, tmp_path / "whole")
    assert contents(training.resume(tmp_path / "run")) == contents(whole)


def test_of_two_trainings_of_one_name_one_is_refused_at_once(place, surroundings, reference):
    command = [*ALGOSCOPE, *TRAIN, "--out", str(place / "same")]
    both = [
        subprocess.Popen(command, env=surroundings, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    ended = sorted(((one.communicate()[1], one.returncode) for one in both), key=lambda e: e[1])
    assert [status for _, status in ended] == [0, 1]
    last = ended[1][0].splitlines()[-1]
    assert last.startswith("error: ")
    assert "another process" in last
    assert contents(runs.open(place / "same")) == contents(reference)


def test_results_say_what_the_best_weights_do(reference):
    metrics, results = reference.metrics, reference.results
    assert metrics.loss.shape == (STEPS, 2, 1)
    assert np.isfinite(metrics.loss).all()
    assert metrics.validation_steps.tolist() == [0, 50, 100, 150, 200, 250]
    assert metrics.loss[-20:].mean() < metrics.loss[:20].mean()
    assert results["best_validation"] == pytest.approx(metrics.validation.max(0)[:, 0])
    best = metrics.validation[:, :, 0].argmax(0)
    assert results["best_step"] == metrics.validation_steps[best].tolist()
    assert results["test_set"] == {"bfs": {"nodes": 64, "samples": 32, "split": "canonical"}}
    test = tasks.split("bfs", "test")
    network = reference.ensemble()[1]
    expected = networks.score(networks.run(network, test), test)["score"]
    assert results["test"]["bfs"]["score"][1] == pytest.approx(expected, abs=1e-6)


def test_the_last_weights_are_kept_and_scored_beside_the_best(reference, tmp_path):
    test = tasks.split("bfs", "test")
    for index, seed in enumerate(reference.seeds):
        best, last = (reference.ensemble([seed], weights)[0] for weights in ("best", "last"))
        expected = networks.score(networks.run(last, test), test)["score"]
        scored = reference.results_of("last")["test"]["bfs"]["score"][index]
        assert scored == pytest.approx(expected, abs=1e-6)
        same = [
            np.array_equal(*pair)
            for pair in zip(arrays(best).values(), arrays(last).values(), strict=True)
        ]
        stopped_early = reference.results["best_step"][index] < STEPS - 1
        assert all(same) != stopped_early
    other = training.train(changed(keep="last", scored_on=("test",)), tmp_path / "last")
    assert other.keeps == "last"
    assert set(other.results["best"]["test"]["bfs"]) == set(other.results["test"]["bfs"])
    usual = training.train(changed(scored_on=("test",)), tmp_path / "best")
    for weights in ("best", "last"):
        assert other.results_of(weights)["test"] == usual.results_of(weights)["test"]
        ours, theirs = (run.ensemble([0], weights)[0] for run in (other, usual))
        for name, array in arrays(ours).items():
            np.testing.assert_array_equal(array, arrays(theirs)[name])


def test_a_finished_run_stays_as_it_is(reference, surroundings):
    before = contents(reference)
    assert training.resume(reference.path).results == reference.results
    with pytest.raises(RunError, match="holds a finished run"):
        training.train(CONFIG, reference.path)
    assert contents(reference) == before


def test_two_devices_share_the_networks_and_change_no_bit(place, surroundings, reference):
    command = [*ALGOSCOPE, *TRAIN, "--out", str(place / "two"), "--devices", "2"]
    subprocess.run(command, env=surroundings, capture_output=True, check=True)
    run = runs.open(place / "two")
    assert run.description["environment"]["devices"] == 2
    assert contents(run) == contents(reference)


_PLACED = """
import json
import jax.numpy as jnp
from algoscope.runs.environment import use_devices
use_devices(4)
from algoscope.training.plan import plan_training
from small import changed
placed = {}
for seeds, devices in ((8, 4), (8, None), (6, 4), (4, 2), (3, 2)):
    plan = plan_training(changed(seeds=seeds), devices=devices)
    shards = plan.placement.spread(jnp.arange(seeds)).addressable_shards
    parts = sorted((shard.device.id, shard.data.tolist()) for shard in shards)
    placed[f"{seeds} {devices}"] = [part for _, part in parts]
print(json.dumps(placed))
"""


def test_each_device_has_an_equal_part_of_the_networks(surroundings):
    """And whoever asked for more devices than get a part is told."""
    done = subprocess.run(
        [sys.executable, "-c", _PLACED],
        env=surroundings,
        cwd=pathlib.Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {
        "8 4": [[0, 1], [2, 3], [4, 5], [6, 7]],
        "8 None": [[0, 1], [2, 3], [4, 5], [6, 7]],
        "6 4": [[0, 1], [2, 3], [4, 5]],
        "4 2": [[0, 1], [2, 3]],
        "3 2": [[0, 1, 2]],
    }
    assert [line for line in done.stderr.splitlines() if line.startswith("devices")] == [
        "devices: got 4, of which 3 are used: 6 networks are spread in equal parts",
        "devices: got 2, of which 1 is used: 3 networks are spread in equal parts",
    ]


def test_more_devices_than_there_are_is_a_fault(tmp_path):
    with pytest.raises(ConfigError, match="devices: got 64, needed 1 to 1, which is what JAX has"):
        training.train(CONFIG, tmp_path / "run", devices=64)


def test_compiled_weights_are_a_start(tmp_path):
    """At a learning rate of 0 they stay what they are: exact, on the canonical test."""
    network = compile_program(programs.get("bfs")).network
    config = changed(seeds=1, steps=1, learning_rate=0.0, network=network.config, evaluate_every=1)
    run = training.train(config, tmp_path / "run", start=network)
    assert run.results["test"]["bfs"]["score"] == [1.0]
    for name, array in networks.arrays(network).items():
        assert (networks.arrays(run.ensemble()[0])[name] == array).all()


def test_several_tasks_share_a_processor_and_frozen_weights_stay(tmp_path):
    config = changed(
        tasks=("bfs", "bellman_ford"),
        seeds=1,
        steps=2,
        teacher_forcing=0.5,
        freeze=("encoders.A", "processor.skip"),
        network=NetworkConfig(width=4, dropout=0.2),
    )
    run = training.train(config, tmp_path / "run")
    ensemble = run.ensemble()
    assert ensemble.tasks == ("bfs", "bellman_ford")
    assert set(run.results["test"]) == {"bfs", "bellman_ford"}
    assert run.metrics.loss.shape == (2, 1, 2)
    first, second = (networks.arrays(ensemble.member(0, task)) for task in ensemble.tasks)
    plan = plan_training(config)
    begun = start_learners(plan)
    start = plan.layout.unpack({name: vector[0] for name, vector in begun.weights.items()})
    before = networks.arrays(start.network("bfs"))
    for name, array in first.items():
        if name.startswith("processor."):
            assert (array == second[name]).all()
        frozen = name.startswith(("encoders.A.", "processor.skip."))
        unused = name == "processor.graph.weight"
        assert (array == before[name]).all() == (frozen or unused), name
    with pytest.raises(ValueError, match="needed a choice among them"):
        ensemble[0]


def test_a_network_of_one_size_is_tested_at_it():
    network = NetworkConfig(width=4, attention_bias=5)
    config = changed(recipe=tasks.Recipe(sizes=(5,), count=4), network=network)
    plan = plan_training(config, at_once=2)
    assert problems_for_test(config, plan.tasks[0]).inputs["pos"].shape == (32, 5)
    described = evaluate(plan, start_learners(plan).weights)["test_set"]["bfs"]
    assert described["nodes"] == 5
    assert "pre-attention bias" in described["split"]


def test_a_network_of_any_size_is_tested_at_the_one_asked_for():
    """With the problems of a network that has that size alone, so that the two can be compared."""
    biased = changed(
        recipe=tasks.Recipe(sizes=(5,), count=4),
        network=NetworkConfig(width=4, attention_bias=5),
    )
    plain = dataclasses.replace(biased, network=NetworkConfig(width=4), test_size=5)
    first, second = (
        problems_for_test(config, plan_training(config, at_once=2).tasks[0])
        for config in (biased, plain)
    )
    for name, values in first.inputs.items():
        np.testing.assert_array_equal(values, second.inputs[name])
    plan = plan_training(plain, at_once=2)
    described = evaluate(plan, start_learners(plan).weights)["test_set"]["bfs"]
    assert described == {"nodes": 5, "samples": 32, "split": "the size asked for"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": NetworkConfig(width=8)}, "network.width: got 8, needed 4"),
        ({"tasks": ("bellman_ford",)}, "got weights for the features pos, s, A, adj, pi, reach_h"),
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path, changes, message, reference):
    with pytest.raises(WeightsError, match=message):
        training.train(changed(**changes), tmp_path / "run", start=reference.ensemble()[0])
    assert not (tmp_path / "run").exists()


def test_faults_are_found_before_a_folder_is_made(tmp_path):
    for config, message in [
        (changed(steps=-1), "steps: got -1"),
        (changed(freeze=("procesor",)), "did you mean processor"),
    ]:
        with pytest.raises(ConfigError, match=message):
            training.train(config, tmp_path / "run")
    with pytest.raises(ConfigError, match="at_once: got 3, needed a divisor of 2"):
        training.train(CONFIG, tmp_path / "run", at_once=3)
    assert not (tmp_path / "run").exists()


def test_a_config_of_the_command_line_is_the_config_of_the_run(reference):
    assert training.config_of(reference) == changed(steps=STEPS, evaluate_every=50)
