"""Run folders: what they hold, and that nothing is lost."""

import json
import pathlib
import platform
import resource
import shutil

import numpy as np
import pytest
from finished import CONFIG, SEEDS, finished_run, network

from algoscope import files, networks, runs
from algoscope.runs import RunError, checkpoints, environment, reservation
from algoscope.training import loop


def test_a_finished_run_describes_itself(tmp_path):
    finished_run(tmp_path / "a")
    run = runs.open(tmp_path / "a")
    assert run.finished
    assert (run.tasks, run.seeds, run.step) == (("bfs",), SEEDS, 4)
    assert run.config == CONFIG
    assert run.results["test"]["bfs"]["score"] == [0.5, 0.75]
    assert run.metrics.loss.shape == (4, 2, 1)
    place = run.description["environment"]
    assert place["platform"] == "cpu"
    assert place["packages"]["jax"]
    assert {"algoscope", "commit", "device", "python", "vectors"} <= set(place)


def test_each_seed_s_weights_are_an_ordinary_network(tmp_path):
    finished_run(tmp_path / "a")
    ensemble = runs.load_ensemble(tmp_path / "a")
    assert (len(ensemble), ensemble.seeds, ensemble.tasks) == (2, SEEDS, ("bfs",))
    path = tmp_path / "a" / "weights" / "bfs" / "seed-00004.safetensors"
    alone, task = networks.load(path)
    assert task == "bfs"
    for name, array in networks.arrays(network(4)).items():
        assert (networks.arrays(ensemble[1])[name] == array).all()
        assert (networks.arrays(alone)[name] == array).all()
    assert runs.load_ensemble(tmp_path / "a", seeds=[4]).seeds == (4,)
    with pytest.raises(IndexError, match="needed one of its 2 networks"):
        ensemble[2]
    with pytest.raises(RunError, match="the run has the seeds 3 to 4"):
        runs.load_ensemble(tmp_path / "a", seeds=[7])
    path.unlink()
    run = runs.open(tmp_path / "a")
    with pytest.raises(RunError, match=r"weights for seeds=\[3\]"):
        run.ensemble()
    assert run.ensemble(run.seeds_with_weights).seeds == (3,)


def test_a_finished_run_is_not_overwritten_unless_forced(tmp_path):
    finished_run(tmp_path / "a")
    with pytest.raises(RunError, match=r"holds a finished run.*--force"):
        reservation.create(tmp_path / "a", CONFIG)
    assert runs.open(tmp_path / "a").finished
    reservation.create(tmp_path / "a", CONFIG, force=True)
    assert not runs.open(tmp_path / "a").finished
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_stopped_run_says_how_to_go_on(tmp_path):
    run = reservation.create(tmp_path / "a", CONFIG)
    checkpoints.write(run.path, 3, {"x": np.zeros(1)})
    for ask in (lambda: run.results, run.ensemble):
        with pytest.raises(RunError, match=r"stopped at step 3 of 4.*--resume"):
            ask()
    with pytest.raises(RunError, match="--resume"):
        reservation.create(tmp_path / "a", CONFIG)


def test_force_replaces_nothing_but_runs(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match="is no run folder"):
        reservation.create(tmp_path / "a", CONFIG, force=True)
    assert (tmp_path / "a" / "thesis.tex").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"format": 99, "version": "9.0"}', "format 99, written by version 9.0"),
        ("{", "not valid JSON"),
        (None, "got no run folder"),
    ],
)
def test_what_is_no_run_of_this_version_is_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunError, match=message):
        runs.open(tmp_path)


def test_runs_are_listed_by_name_and_others_left_out(tmp_path):
    finished_run(tmp_path / "b")
    shutil.copytree(tmp_path / "b", tmp_path / "a")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "run.json").write_text(json.dumps({"format": 0}))
    assert [run.name for run in runs.list_runs(tmp_path)] == ["a", "b"]


def test_two_processes_cannot_train_one_run(tmp_path):
    run = reservation.create(tmp_path / "a", CONFIG)
    with (
        reservation.held(run),
        pytest.raises(RunError, match="another process"),
        reservation.held(run),
    ):
        pass
    with reservation.held(run):
        pass


def test_what_a_killed_process_left_behind_is_cleared(tmp_path):
    run = reservation.create(tmp_path / "a", CONFIG)
    (run.path / ".unfinished-xyz").mkdir()
    with reservation.held(run):
        assert sorted(p.name for p in run.path.iterdir()) == [".lock", "run.json"]


def test_a_disk_that_is_full_leaves_what_was_there(tmp_path):
    """The system's limit on the size of files stands in for the end of the disk: the same refusal
    in the same place."""
    run = reservation.create(tmp_path / "a", CONFIG)
    checkpoints.write(run.path, 1, {"x": np.ones(10)})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(RunError, match=r"cannot be written.*as it was"):
            checkpoints.write(run.path, 2, {"x": np.ones(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert checkpoints.read(run.path).step == 1
    assert not list(run.path.glob(".unfinished-*"))


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        reservation.create(tmp_path / "file" / "run", CONFIG)


def test_a_run_that_goes_on_with_other_instructions_has_a_note(tmp_path, monkeypatch):
    run = finished_run(tmp_path / "a")
    assert loop._moved(run) == ()
    begun = run.description["environment"]["vectors"]
    monkeypatch.setattr(environment, "vector_instructions", lambda: "MMX")
    [note] = loop._moved(run)
    assert f"begun on 1 × cpu ({begun}), went on from step 4 on 1 × cpu (MMX): " in note


def test_a_limit_to_xlas_instructions_is_known(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setattr(pathlib.Path, "read_text", lambda path: "flags : fpu sse4_2 avx avx2")
    assert environment.vector_instructions() == "AVX2"
    for limit, name in {"AVX512": "AVX2", "AVX2": "AVX2", "sse4_2": "SSE4_2", "x": "AVX2"}.items():
        monkeypatch.setenv("XLA_FLAGS", f"--a=b --xla_cpu_max_isa={limit}")
        assert environment.vector_instructions() == name

    def nothing(path):
        raise OSError

    monkeypatch.setattr(pathlib.Path, "read_text", nothing)
    assert environment.vector_instructions() == platform.machine()


def test_a_folder_that_cannot_be_made_is_refused_before_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="file cannot be written to"):
        files.check_new(tmp_path / "file" / "out")
    files.check_new(tmp_path / "a" / "b" / "out")
    monkeypatch.setattr(files.os, "access", lambda path, mode: False)
    with pytest.raises(ValueError, match="cannot be written to; needed a folder that can"):
        files.check_new(tmp_path / "a" / "b" / "out")
