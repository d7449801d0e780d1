"""No run is replaced or shared by accident."""

import contextlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

import numpy as np
import pytest
from finished import CONFIG, finished_run

from algoscope import files, runs
from algoscope.runs import (
    RunError,
    State,
    checkpoints,
    consolidated,
    index,
    live,
    lock,
    parquet,
    reservation,
)
from algoscope.runs.words import Words
from algoscope.sweeps import Sweep
from algoscope.sweeps.drive import driving, write_specification

HOLDER = """
import pathlib, sys
from algoscope.runs import lock
with lock.hold(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def held_by_another(path):
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_a_run_knows_whether_it_runs(tmp_path):
    run = reservation.create(tmp_path / "a", CONFIG)
    assert run.state is State.STOPPED
    with held_by_another(run.path) as process:
        assert run.state is State.RUNNING
        with pytest.raises(RunError, match="another process is training, at step 0 of 4"):
            run.ensemble()
        process.kill()
        process.wait()
        assert run.state is State.STOPPED
    assert finished_run(tmp_path / "b").state is State.FINISHED


@pytest.mark.parametrize("force", [False, True])
def test_a_run_that_is_being_trained_is_not_replaced(tmp_path, force):
    run = reservation.create(tmp_path / "a", CONFIG)
    with (
        held_by_another(run.path),
        pytest.raises(RunError, match="another process is training"),
        reservation.reserved(run.path, force=force),
    ):
        pass
    assert runs.open(run.path).created == run.created


def test_a_folder_that_holds_something_else_is_not_replaced(tmp_path):
    run = finished_run(tmp_path / "a")
    (run.path / "notes.md").write_text("what I found")
    with pytest.raises(RunError, match=r"holds notes\.md, which Algoscope did not write"):
        reservation.create(run.path, CONFIG, force=True)
    assert (run.path / "notes.md").exists()


def test_a_name_is_reserved_before_the_run_begins(tmp_path):
    with reservation.reserved(tmp_path / "a") as first:
        with (
            pytest.raises(RunError, match="another process"),
            reservation.reserved(tmp_path / "a"),
        ):
            pass
        first.begin(CONFIG)
    assert runs.open(tmp_path / "a").state is State.STOPPED


def test_what_fails_before_a_run_begins_leaves_everything_as_it_was(tmp_path):
    before = finished_run(tmp_path / "old")
    for path in (tmp_path / "new", before.path):
        with contextlib.suppress(ZeroDivisionError), reservation.reserved(path, force=True):
            raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert runs.open(before.path).results == before.results


def test_a_folder_in_which_a_process_was_killed_before_it_began_is_free(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / lock.FILE).write_text("")
    checkpoints.write(tmp_path / "a", 0, {})
    run = reservation.create(tmp_path / "a", CONFIG)
    assert run.step == 0
    assert not list(run.path.glob("checkpoint-*"))


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize(
    "name",
    ["figures/mine.png", "weights/mine.safetensors", "report.html", "reasoner/run.json",
     "checkpoint-000000500-abc.safetensors", "results.json"],
)  # fmt: skip
@pytest.mark.parametrize("force", [False, True])
def test_a_folder_that_holds_other_than_a_beginning_is_not_emptied(tmp_path, name, locked, force):
    """Of somebody's own, or of a run that lost its description."""
    path = tmp_path / "a" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    if locked:
        (tmp_path / "a" / lock.FILE).write_text("")
    with pytest.raises(RunError, match="exists"):
        reservation.create(tmp_path / "a", CONFIG, force=force)
    assert path.read_text() == "mine"


def test_names_without_a_choice_differ(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with contextlib.ExitStack() as places:
        made = [places.enter_context(files.unused_folder("bfs")) for _ in range(3)]
        assert [path.name for path in made] == ["bfs-001", "bfs-002", "bfs-003"]
        (made[1] / "run.json").touch()
    assert [path.is_dir() for path in made] == [False, True, False]


def test_links_are_not_followed(tmp_path):
    finished_run(tmp_path / "elsewhere" / "a")
    (tmp_path / "root" / "deep").mkdir(parents=True)
    (tmp_path / "root" / "linked").symlink_to(tmp_path / "elsewhere" / "a")
    (tmp_path / "root" / "deep" / "back").symlink_to(tmp_path / "root")
    (tmp_path / "root" / "others").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "root" / "nowhere").symlink_to("nowhere")
    finished_run(tmp_path / "root" / "deep" / "b")
    assert [run.name for run in runs.survey(tmp_path / "root").runs] == ["b"]
    [linked] = runs.survey(tmp_path / "root" / "linked").runs  # Unless it is what was named.
    assert linked.finished


def test_runs_are_found_however_deep_and_damaged_ones_are_named(tmp_path):
    finished_run(tmp_path / "a")
    finished_run(tmp_path / "deep" / "deeper" / "b")
    broken = finished_run(tmp_path / "deep" / "c")
    (broken.path / "run.json").write_text("{")
    listing = runs.survey(tmp_path)
    assert [run.path.name for run in listing.runs] == ["a", "b"]
    assert [(each.path, "not valid JSON" in each.fault) for each in listing.damaged] == [
        (broken.path, True)
    ]
    with pytest.raises(RunError, match="got no folder"):
        runs.survey(tmp_path / "nowhere")


def test_a_run_within_a_run_is_refused_since_no_list_would_find_it(tmp_path):
    outer = finished_run(tmp_path / "a")
    before = sorted(outer.path.rglob("*"))
    for place in (outer.path / "b", outer.path / "deep" / "b"):
        for taken in (reservation.reserved(place), reservation.for_runs(place, "a study")):
            with pytest.raises(RunError, match=r"b: lies in a run \("), taken:
                pass
    assert sorted(outer.path.rglob("*")) == before
    (tmp_path / "run.json").write_text('{"of": "another program"}')
    assert finished_run(tmp_path / "c").finished


def test_a_folder_for_runs_is_one_process_s_and_no_run(tmp_path):
    with reservation.for_runs(tmp_path / "new" / "study", "a study"):
        assert reservation.create(tmp_path / "new" / "study" / "a", CONFIG).step == 0
        with (
            pytest.raises(RunError, match="a study that another process is driving"),
            reservation.for_runs(tmp_path / "new" / "study", "a study"),
        ):
            pass
    run = finished_run(tmp_path / "run")
    before = sorted(run.path.iterdir())
    with (
        pytest.raises(RunError, match="got a run folder, needed one for the runs of a study"),
        reservation.for_runs(run.path, "a study"),
    ):
        pass
    assert sorted(run.path.iterdir()) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": None}, "run.config: got None, needed the fields of Settings"),
        ({"config": CONFIG | {"seeds": "two"}}, "run.config.seeds: got 'two', needed an integer"),
        ({"config": CONFIG | {"seeds": 10**12}}, "needed an integer from 1 to 1,000,000"),
        ({"config": CONFIG | {"tasks": ["../../etc"]}}, "got '../../etc', needed the name of"),
        ({"state": "done"}, "run.state: got 'done', needed one of running, finished"),
        ({"created": "yesterday"}, "created: got 'yesterday', needed a moment"),
        ({"finished": "2020-01-01"}, "finished: got '2020-01-01', needed a moment"),
        ({"environment": {}}, "run.environment.commit: not there, and needed"),
        ({"notes": "none"}, "run.notes: got 'none', needed a list"),
    ],
)
def test_a_description_that_is_wrong_is_refused_by_field(tmp_path, changes, message):
    run = finished_run(tmp_path / "a")
    (run.path / "run.json").write_text(json.dumps(run.description | changes))
    with pytest.raises(RunError) as error:
        runs.open(run.path)
    assert str(run.path / "run.json") in str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": []}, "results.test: got [], needed an object"),
        ({"test": {"bfs": {"pi": [1, 2]}}}, "test.bfs.score: not there"),
        ({"best_step": [1]}, "best_step: got 1 numbers, needed one a seed, 2"),
        ({"fresh": {"bfs": {"score": ["a", 1]}}}, "fresh.bfs.score.0: got 'a', needed a number"),
    ],
)
def test_results_that_are_wrong_are_refused_by_field(tmp_path, changes, message):
    run = finished_run(tmp_path / "a")
    (run.path / "results.json").write_text(json.dumps(run.results | changes))
    with pytest.raises(RunError) as error:
        run.results  # noqa: B018
    assert message in str(error.value)


def test_nothing_was_lost_when_commands_were_killed():
    """What benchmarks/kills.py last found."""
    path = pathlib.Path(__file__).parents[2] / "benchmarks/kills.json"
    trials = json.loads(path.read_text())["trials"]
    assert len(trials) >= 50
    assert {trial["command"] for trial in trials} == {"train", "demo", "gap", "sweep", "study"}
    for trial in trials:
        assert trial["kills"]
        assert not trial["differing"]
        assert not trial["faults"]


def write_all_kinds_of_files(root: pathlib.Path) -> None:
    """Runs, tables, checkpoints, how far a training is, words, index, sweep, weights and arrays."""
    run = finished_run(root / "a")
    parquet.write(run)
    Words(50, {"bfs": ["runs", "fails"]}).write(run.path)
    shutil.copytree(run.path, root / "b", copy_function=shutil.copyfile)
    stopped = reservation.create(root / "c", CONFIG)
    checkpoints.write(stopped.path, 2, {"a": np.zeros(2)})
    live.Publisher(stopped.path).publish(live.Live(2, 4, 1.0, 2.0, live.Curves([], [])))
    parquet.query(root, "select count(*) from results, validation, verdicts")
    with driving(root / "sweep"):
        write_specification(Sweep("sweep", {"tasks": ["bfs"]}), root / "sweep")
    files.place_new(root / "pages", lambda folder: (folder / "report.html").write_text("x"))


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o027, 0o002])
def test_files_have_the_mode_that_the_user_wants(tmp_path, mask, monkeypatch):
    for module in (index, consolidated):
        monkeypatch.setattr(module, "MANY", 1)
    before = os.umask(mask)
    try:
        write_all_kinds_of_files(tmp_path / "root")
    finally:
        os.umask(before)
    written = list((tmp_path / "root").rglob("*"))
    names = {path.name for path in written}
    assert {".index.json", ".tables", "live.json", "sweep.json", "verdicts.json"} <= names
    for path in written:
        full = 0o777 if path.is_dir() else 0o666
        assert stat.S_IMODE(path.stat().st_mode) == full & ~mask, path


def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(tmp_path):
    """As whoever opens one would, until somebody used it."""
    names = (lock.FILE, live.FILE, "results.json", "metrics.parquet", "findings/bfs.json")
    for number, name in enumerate(names):
        run = finished_run(tmp_path / f"run-{number}")
        parquet.write(run)
        (run.path / name).parent.mkdir(exist_ok=True)
        (run.path / name).unlink(missing_ok=True)
        os.mkfifo(run.path / name)
    stopped = reservation.create(tmp_path / "stopped", CONFIG)
    (stopped.path / lock.FILE).unlink(missing_ok=True)
    os.mkfifo(stopped.path / lock.FILE)
    os.mkfifo(tmp_path / ".index.json")
    states = {entry.name: entry.state for entry in index.entries(tmp_path)}
    assert states.pop("run-2") == State.DAMAGED
    assert states.pop("stopped") == State.STOPPED
    assert set(states.values()) == {State.FINISHED}
    assert live.read(tmp_path / "run-1") is None
    assert parquet.query(tmp_path, "select count(*) from metrics").rows
    with pytest.raises(RunError, match="cannot be written"), lock.hold(stopped.path):
        pass
