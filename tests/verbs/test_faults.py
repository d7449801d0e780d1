"""Faults that were found by trying, each with the command and the line that answers it now.

`TABLE` has the 28 that a command alone shows; what needs a broken file or a signal follows it.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import types
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from finished import finished_run, network

from algoscope import cli, networks, programs, runs, stopping, tasks, training
from algoscope.runs import lock, parquet, reservation
from algoscope.runs.folder import seal
from algoscope.verbs import ending
from algoscope.verbs.demo import Demo
from algoscope.verbs.tasks import Tasks
from algoscope.verbs.train import _results

TABLE = {
    # options of a network
    "train bfs --network processor=[1]": "processor: got [1], needed a text",
    "train bfs --network dropout=x": "dropout: got 'x', needed a number",
    "train bfs --network attention_mask=x": "attention_mask: got 'x', needed a number",
    "train bfs --network width=1.5": "width: got 1.5, needed an integer",
    "train bfs --first-seed 4294967296": "first_seed: got 4294967296, needed an integer",
    "train bfs --seeds 2 --first-seed 4294967295": "at most 4,294,967,294",
    f"sample bfs --options p={'[' * 10_000}": "p: got",
    "sample bfs --options p=NaN": "p: got nan, needed a finite number",
    # sizes that do not fit
    "sample bfs --size 100000": "32 problems of bfs with 100,000 nodes: needs about",
    "sample bfs --size 16 --count 100000000000": "needs about",
    "verify bfs --size 20000": "256 problems of bfs with 20,000 nodes: needs about",
    "sample floyd_warshall --size 2000": "32 problems of floyd_warshall with 2,000 nodes: needs",
    "train bfs --sizes 1000000": "with 1,000,000 nodes: needs about",
    "train bfs --sizes 500": "16,000 problems of bfs with 500 nodes: needs about",
    "train bfs --batch 1000000": "500,000,000 problems of bfs with up to 16 nodes: needs about",
    "train bfs --pool-steps 100000000 --steps 100000000": "problems of bfs with up to 16 nodes:",
    "train bfs --test-size 100000": "32 problems of bfs with 100,000 nodes: needs about",
    "train bfs --seeds 100000000": "100,000,000 networks of 397,316 weights (network.width 128):",
    "train bfs --network width=1000000": "(network.width 1,000,000): needs about",
    "verify bfs --width 100000000": "width: got 100000000, needed an integer from 1 to 16,777,216",
    "verify bfs --width 10000000": "a network of width 10,000,000: needs about",
    "compile bfs --variant printed --size 1000000 --out a.safetensors": "needs about",
    "transnar train bfs --samples 100000000 --out t": "problems of bfs with up to 12 nodes: needs",
    "transnar train bfs --width 600000 --heads 1 --out t": "a tower of width 600,000 with 6 layers",
    "transnar train bfs --sizes 40 --context 64 --samples 4 --out t": "needed at most 64",
    # what is not there
    "llm navigate --model navigator --device cuda": "device: got 'cuda', which torch does not have",
    "llm navigate --model navigator --device tpu9": "device: got 'tpu9'",
    "runs list --root /nowhere": "got no folder",
}


def test_the_first_lines_say_how_many_there_are():
    assert f"the {len(TABLE)} that a command alone shows" in (__doc__ or "")


@pytest.mark.parametrize("command", TABLE, ids=lambda command: command[:50])
def test_one_line_answers_in_seconds_and_nothing_is_left(command, refused, tmp_path):
    begun = time.monotonic()
    message = refused(*command.split())
    assert TABLE[command] in message
    assert len(message) < 500
    assert time.monotonic() - begun < 60  # A second, once everything is imported and compiled.
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_this_name", "line 1: ModuleNotFoundError: No module named"),
        ("x = 1\n1 / 0", "line 2: ZeroDivisionError"),
        ("def", "line 1: SyntaxError"),
        ("raise SystemExit(3)", "line 1: SystemExit: 3"),
        ("raise ValueError('first\\nsecond\\nthird')", "line 1: ValueError: first …"),
        ("raise ValueError('x' * 1000)", f"line 1: ValueError: {'x' * 300} …"),
        ("import torch.nothing", "torch has no such part; correct the name"),
        ("from json import nothing", "correct the name, or install a version of the package"),
    ],
)
def test_a_fault_in_the_users_own_file_is_said_with_its_line(refused, tmp_path, text, message):
    (tmp_path / "own.py").write_text(text)
    for command in (["sample", "own.py"], ["judge", "own.py", "--task", "bfs"]):
        answer = refused(*command)
        assert message in answer
        assert "\n" not in answer


def damage(path: pathlib.Path, kind: str) -> None:
    metadata = {"algoscope": json.dumps({"version": "0.1.0", "task": "bfs"})}
    arrays = {"a": np.zeros(2, np.float32)}
    match kind:
        case "metadata that is no object":
            octets = safetensors.numpy.save(arrays, {"algoscope": "[]"})
        case "metadata that nests deeply":
            octets = safetensors.numpy.save(arrays, {"algoscope": "[" * 100_000})
        case "metadata without a network":
            octets = safetensors.numpy.save(arrays, metadata)
        case "one name twice":
            entry = '"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
            header = f'{{"__metadata__":{json.dumps(metadata)},{entry},{entry}}}'.encode()
            octets = len(header).to_bytes(8, "little") + header + bytes(4)
        case _:
            network_ = network(0)
            named = {n: np.asarray(a, np.float64) for n, a in networks.arrays(network_).items()}
            value = {"NaN": np.nan, "infinity": np.inf, "too large a number": 1e300}[kind]
            next(iter(named.values())).flat[0] = value
            networks.save(network_, path, "bfs")
            with safetensors.safe_open(path, "numpy") as file:
                octets = safetensors.numpy.save(named, file.metadata())
    path.write_bytes(octets)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("metadata that is no object", "metadata: got [], needed the fields of"),
        ("metadata that nests deeply", "nested too deeply"),
        ("metadata without a network", "metadata.config: not there, and needed"),
        ("one name twice", "got 'a' twice in one object"),
        ("NaN", "got values that are not finite"),
        ("infinity", "got values that are not finite"),
        ("too large a number", "got values that are not finite in float32"),
    ],
)
def test_weights_that_are_wrong_are_refused(refused, tmp_path, kind, message):
    damage(tmp_path / "a.safetensors", kind)
    refusal = refused("judge", "a.safetensors")
    assert "a.safetensors: " in refusal
    assert message in refusal


def test_one_damaged_run_breaks_no_list(algoscope, refused, tmp_path):
    sound = finished_run(tmp_path / "runs" / "sound")
    parquet.write(sound)
    for number, (file, text) in enumerate(
        [
            ("run.json", "{"),
            ("run.json", json.dumps({**sound.description, "config": []})),
            ("run.json", json.dumps({**sound.description, "environment": None})),
            ("results.json", "[]"),
            ("results.json", json.dumps(sound.results | {"test": {"bfs": 3}})),
            ("results.parquet", "not Parquet"),
        ]
    ):
        run = finished_run(tmp_path / "runs" / f"damaged-{number}")
        parquet.write(run)
        (run.path / file).write_text(text)
    rows = {row["run"]: row["state"] for row in json.loads(algoscope("runs", "list", "--json"))}
    assert rows.pop("sound") == "finished"
    assert rows.pop("damaged-5") == "finished"
    assert set(rows.values()) == {"damaged"}
    assert "damaged-0" in algoscope("runs")
    counted = "select count(*) as n from results where run = 'sound'"
    assert json.loads(algoscope("runs", "query", counted, "--json"))[0]["n"] > 0
    for name in ("damaged-0", "damaged-1", "damaged-4"):
        assert f"{name}/" in refused("runs", "compare", "runs/sound", f"runs/{name}")
        assert f"{name}/" in refused("runs", "import", f"runs/{name}", "--root", "elsewhere")
        assert f"{name}/" in refused("train", "--resume", f"runs/{name}") or name == "damaged-4"


def test_demo_and_force_leave_other_runs_alone(refused, tmp_path):
    run = finished_run(tmp_path / "runs" / "mine")
    before = sorted(path.name for path in run.path.rglob("*"))
    assert "holds a run that is no demo" in refused("demo", "--out", "runs/mine")
    with lock.hold(run.path):
        message = refused("train", "bfs", "--out", "runs/mine", "--force")
        assert "another process is training" in message
    assert sorted(path.name for path in run.path.rglob("*")) == before


def test_a_demo_is_refused_before_any_work(refused, tmp_path, monkeypatch):
    def work(name):
        raise AssertionError

    monkeypatch.setattr(programs, "get", work)
    settings = json.loads(json.dumps(training.TrainingConfig(("bfs",)).as_json()))
    run = reservation.create(tmp_path / "demo", settings, made_by="demo")
    (tmp_path / "other" / "figures").mkdir(parents=True)
    assert "seeds: got 0" in refused("demo", "--seeds", "0")
    assert "other: exists already" in refused("demo", "--out", "other")
    with lock.hold(run.path):
        assert "a demo that another process is training" in refused("demo", "--out", "demo")


def test_a_demo_that_was_stopped_goes_on_or_stays_and_a_done_one_is_replaced(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(training, "resume", lambda path, **_: calls.append("goes on"))
    monkeypatch.setattr(
        training, "train", lambda config, path, force, **_: calls.append(f"force={force}")
    )
    config, other = (training.TrainingConfig(("bfs",), steps=steps) for steps in (4, 5))
    demo = Demo(out=tmp_path / "demo")
    demo._train(config, demo._before(config))
    settings = json.loads(json.dumps(config.as_json()))
    run = reservation.create(demo.out, settings, made_by="demo")
    demo._train(config, demo._before(config))
    assert calls == ["force=False", "goes on"]
    again = "stopped at step 0; go on with it .--seeds 1 --steps 4 --sizes 4 7 11 13 16., give"
    with pytest.raises(runs.RunError, match=again):
        demo._before(other)
    seal(run, {})
    demo._train(config, demo._before(config))  # It was stopped before there was a page.
    with pytest.raises(runs.RunError, match="a demo with other settings"):
        demo._before(other)
    assert calls[2:] == []
    (demo.out / "report.html").touch()
    demo._train(other, demo._before(other))
    assert calls[2:] == ["force=True"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("Unable to allocate 1 TiB"), "the memory does not suffice"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory"), "the memory does not suffice"),
        (ModuleNotFoundError("No module", name="torch"), "pip install 'algoscope[llm]'"),
        (ModuleNotFoundError("No module", name="wandb"), "pip install 'algoscope[track]'"),
        (ModuleNotFoundError("No module", name="nothing.here"), "pip install nothing"),
        (RuntimeError("Unable to initialize backend 'cuda'"), "JAX finds no such device"),
        (FileNotFoundError(2, "No such file", "runs/a"), "runs/a: No such file; give a file or"),
        (RecursionError("maximum depth"), "nested too deeply"),
        (KeyError("tokens"), "This is a fault of Algoscope: please report it"),
    ],
)
def test_every_failure_is_one_line(refused, monkeypatch, error, message):
    def fail(_verb):
        raise error

    monkeypatch.setattr(Tasks, "run", fail)
    monkeypatch.delenv("ALGOSCOPE_TRACEBACK", raising=False)
    refusal = refused("tasks")
    assert message in refusal
    assert "\n" not in refusal
    monkeypatch.setenv("ALGOSCOPE_TRACEBACK", "1")
    with pytest.raises(type(error)):
        refused("tasks")


@pytest.mark.parametrize(
    ("limit", "verb", "needed"),
    [
        (400_000, ["sample", "bfs"], "1 GB"),
        (900_000, ["verify", "bfs"], "3 GB"),
        (2_000_000, ["train", "bfs"], "3 GB"),
    ],
)
def test_too_little_address_space_is_refused_before_libraries_crash_for_want_of_it(
    tmp_path, limit, verb, needed
):
    command = ["bash", "-c", f'ulimit -v {limit}; exec "$0" -m algoscope "$@"', sys.executable]
    ended = subprocess.run([*command, *verb], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: ulimit -v: got ")
    assert f"needed at least {needed}; set ulimit -v" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("platform", ["cuda", "nonsense"])
def test_a_device_that_is_not_there_is_named(tmp_path, platform):
    command = [sys.executable, "-m", "algoscope", "verify", "bfs", "--size", "4", "--count", "1"]
    environment = {**os.environ, "JAX_PLATFORMS": platform}
    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert f"error: JAX finds no such device (JAX_PLATFORMS={platform}: " in ended.stderr
    assert "fault of Algoscope" not in ended.stderr


@pytest.mark.parametrize(
    ("package", "command", "advice"),
    [
        ("ray", "sweep sweep.toml --on ray", "pip install 'algoscope[ray]'"),
        ("submitit", "sweep sweep.toml --on slurm", "pip install 'algoscope[slurm]'"),
        ("wandb", "train bfs --track wandb", "pip install wandb"),
    ],
)
def test_an_extra_that_is_missing_is_named_before_any_work(
    refused, tmp_path, monkeypatch, package, command, advice
):
    (tmp_path / "sweep.toml").write_text('[base]\ntasks = "bfs"\n[axes]\nsteps = [1, 2]\n')
    monkeypatch.setitem(sys.modules, package, None)
    message = refused(*command.split())
    assert package in message
    assert advice in message
    assert "\n" not in message
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["sweep.toml"]


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_language_models_without_their_extra_are_one_line(tmp_path, package):
    text = f"import sys; sys.modules[{package!r}] = None; from algoscope import cli; cli.main()"
    command = [sys.executable, "-c", text, "llm", "navigate", "--model", "navigator"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    *_, last = ended.stderr.splitlines()
    assert last == f"error: {package} is not installed; it comes with pip install 'algoscope[llm]'"


@pytest.mark.parametrize(
    ("scores", "said"),
    [([0.5], "test score 0.5000 (32"), ([0.5, 0.5], "test score 0.5000 ± 0.0000 over 2 seeds (32")],
)
def test_one_seed_has_no_deviation(scores, said):
    described = {"nodes": 64, "samples": 32, "split": "canonical"}
    results = {"test": {"bfs": {"score": scores}}, "seen": {}, "fresh": {}}
    run: Any = types.SimpleNamespace(
        results=results | {"test_set": {"bfs": described}},
        tasks=("bfs",),
        keeps="best",
        notes=[],
        path="run",
    )
    first, last = _results(run)
    assert first == f"bfs: {said} problems of 64 nodes, canonical)"
    assert last == "run folder: run"


def test_a_finished_run_that_does_not_say_its_test_problems_is_shown_all_the_same(algoscope):
    """As one that was made elsewhere: found by benchmarks/fuzz.py."""
    run = finished_run(pathlib.Path("runs/done"))
    assert "test_set" not in run.results
    shown = algoscope("train", "--resume", "runs/done")
    assert "test score 0.6250 ± 0.1768 over 2 seeds; " in shown


INTERRUPTED = """
import signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # Ignored in the background of a shell.
from algoscope import cli
from algoscope.verbs.tasks import Tasks
def work(_verb):
    import jax, jax.numpy as jnp
    def compile():
        for n in range(1, 1000):
            jax.jit(lambda x: sum(jnp.sin(x * k) @ x for k in range(200))).lower(
                jnp.ones((n, n))).compile()
    for _ in range(2):
        threading.Thread(target=compile).start()
    print("working", flush=True)
    time.sleep(60)
Tasks.run = work
sys.argv = ["algoscope", "tasks"]
cli.main()
"""


def test_ctrl_c_while_threads_compile_is_one_line_at_once():
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 128 + signal.SIGINT
    assert errors.strip() == "interrupted; what was finished before is safe"


DEAF = """
import ctypes, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from algoscope import cli
from algoscope.verbs.tasks import Tasks
def work(_verb):
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    print("working", flush=True)
    while True:
        library.pthread_mutex_lock(mutex)  # Waits for itself, and for no signal.
Tasks.run = work
sys.argv = ["algoscope", "tasks"]
cli.main()
"""


@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]
)
def test_a_signal_that_the_main_thread_does_not_hear_ends_the_process(number, said):
    """As while XLA compiles there."""
    process = subprocess.Popen(
        [sys.executable, "-c", DEAF], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert errors.strip() == f"{said}; what was finished before is safe"


def test_ctrl_c_of_an_earlier_command_is_over(refused, monkeypatch):
    """Commands of one process, as in a notebook."""
    monkeypatch.setattr(ending._interrupts, "heard", signal.SIGINT)
    assert "nosuch" in refused("train", "nosuch")


@pytest.mark.parametrize("time", ["first", "second"])
def test_commands_of_other_tests_hear_no_signals_of_this_one(algoscope, monkeypatch, time):
    """A process of tests runs many commands, in any order."""
    assert signal.getsignal(signal.SIGINT) != ending._interrupts.hear
    monkeypatch.setattr(sys, "argv", ["algoscope", "--version"])
    cli.main()
    assert signal.getsignal(signal.SIGINT) == ending._interrupts.hear
    assert signal.set_wakeup_fd(-1) == -1, "and nothing ends the process"


def test_signals_ended_every_long_verb_in_one_line():
    """What benchmarks/interrupts.py last found."""
    path = pathlib.Path(__file__).parents[2] / "benchmarks" / "interrupts.json"
    trials = json.loads(path.read_text())["trials"]
    assert len({trial["verb"] for trial in trials}) == 9
    assert {trial["signal"] for trial in trials} == {signal.SIGINT, signal.SIGTERM}
    for trial in trials:
        assert not trial["traceback"]
        if (trial["status"], trial["last"]) != (-signal.SIGTERM, ""):  # Python was starting.
            assert trial["status"] == 128 + trial["signal"]
            assert trial["last"].startswith(("interrupted; ", "terminated; ", "stopped"))


LOADING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from algoscope import cli
from algoscope.verbs.tasks import Tasks
Tasks.run = lambda _verb: __import__("interrupted_here")
sys.argv = ["algoscope", "tasks"]
cli.main()
"""


def test_ctrl_c_while_a_module_is_loaded_ends_at_once(tmp_path):
    (tmp_path / "interrupted_here.py").write_text(
        "import os, signal, time\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(60)\n"
        "except BaseException:\n    raise ImportError('as modules in C do')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", LOADING], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.strip() == "interrupted; what was finished before is safe"


SIGNALLED = """
import os, signal, sys, time
from algoscope import cli
from algoscope.verbs.tasks import Tasks
signal.signal(signal.SIGINT, signal.default_int_handler)
first, second = (getattr(signal, name) for name in sys.argv[1:])
def work(_verb):
    try:
        os.kill(os.getpid(), first)
        time.sleep(60)
    finally:
        print("cleaned", flush=True)
        os.kill(os.getpid(), second)
        time.sleep(60)
Tasks.run = work
sys.argv = ["algoscope", "tasks"]
cli.main()
"""


@pytest.mark.parametrize(
    ("signals", "said"),
    [
        (("SIGINT", "SIGINT"), "interrupted"),
        (("SIGHUP", "SIGTERM"), "terminated"),
        (("SIGTERM", "SIGHUP"), "the terminal is gone"),
    ],
)
def test_a_signal_unwinds_and_a_second_one_ends_at_once(signals, said):
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, *signals], capture_output=True, text=True, timeout=50
    )
    assert done.stdout == "cleaned\n"
    assert done.returncode == 128 + getattr(signal, signals[1])
    assert done.stderr == f"{said}; what was finished before is safe\n"


def test_under_nohup_the_end_of_a_terminal_is_not_heard(monkeypatch):
    heard = {number: signal.getsignal(number) for number in ending._WORDS}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        ending.hear_interrupts()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        with stopping.asked_to_stop() as asked:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not asked.is_set()
        signal.signal(signal.SIGHUP, ending._interrupts.hear)
        with stopping.asked_to_stop() as asked:
            os.kill(os.getpid(), signal.SIGHUP)
            assert asked.wait(10)
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


def test_networks_are_built_by_the_name_of_a_task():
    import jax

    config = networks.NetworkConfig(width=2)
    built = networks.build("bfs", config, key=jax.random.key(0))
    assert built.features == tasks.get("bfs").features
