"""Sweeps on one machine: the same bits as one run after the other, whoever is killed."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from tiny import AXES, BASE, LONG, ONE, SETTINGS, SWEEP, TOML, begun, contents, wait_until

from algoscope import runs, sweeps
from algoscope.runs import RunError, lock

ALGOSCOPE = [sys.executable, "-c", "from algoscope.cli import main; main()"]


def worker_of(process: subprocess.Popen) -> int:
    children = pathlib.Path(f"/proc/{process.pid}/task").glob("*/children")
    (child,) = {int(number) for path in children for number in path.read_text().split()}
    return child


@pytest.mark.usefixtures("shared_cache")
def test_kills_change_no_bit_and_the_same_command_goes_on(
    algoscope, tmp_path, surroundings, reference
):
    folder, file = tmp_path / "tiny", tmp_path / "tiny.toml"
    file.write_text(TOML)
    command = [*ALGOSCOPE, "sweep", str(file), "--out", str(folder), "--checkpoint-seconds", "0"]
    with (tmp_path / "log").open("w") as log:
        first = subprocess.Popen(command, env=surroundings, stdout=log, stderr=log)
    wait_until(lambda: begun(folder))
    lost = worker_of(first)
    os.kill(lost, signal.SIGKILL)
    wait_until(lambda: len(begun(folder)) == 2)
    orphan = worker_of(first)
    assert orphan != lost
    first.send_signal(signal.SIGKILL)
    first.wait()
    wait_until(lambda: not pathlib.Path(f"/proc/{orphan}").exists())
    stages = sweeps.counts(sweeps.positions(folder))
    assert sum(stages.values()) == 9
    assert stages[sweeps.Stage.DONE] < 9

    algoscope("sweep", str(file), "--out", str(folder), "--checkpoint-seconds", "0")
    assert contents(folder) == reference
    printed = algoscope("sweep", "status", str(folder), "--json")
    assert json.loads(printed)["stages"] == {"done": 9}
    said: list[str] = []
    assert not sweeps.drive(SWEEP, folder, sweeps.Local(folder), report=said.append).outcomes
    assert "9 done before" in said[0]


@pytest.mark.usefixtures("shared_cache")
def test_a_sweep_is_stopped_extended_and_refused_twice(tmp_path, reference):
    folder = tmp_path / "tiny"
    part = sweeps.checked(sweeps.Sweep("tiny", BASE, AXES | {"data_seed": [1]}, seeds=2))
    stop = threading.Event()
    items = [one.item for one in sweeps.plan(part, folder, SETTINGS)]
    ending = sweeps.Local(folder).run(items, stop)
    threading.Thread(target=lambda: (wait_until(lambda: begun(folder)), stop.set())).start()
    ends = [outcome.end for outcome in ending]
    assert ends == [sweeps.End.STOPPED] * 3
    (run,) = runs.list_runs(folder)
    assert 0 < run.step < LONG
    assert run.description.get("sweep") == "tiny"

    driven = sweeps.drive(SWEEP, folder, sweeps.Local(folder, workers=2), SETTINGS)
    assert driven.ends == {sweeps.End.FINISHED: 9}
    assert contents(folder) == reference
    with sweeps.driving(folder), pytest.raises(RunError, match="another process is driving"):
        sweeps.drive(SWEEP, folder, sweeps.Local(folder), SETTINGS)


def test_seeds_are_spread_over_devices_and_no_bit_changes(tmp_path, surroundings, reference):
    folder, file = tmp_path / "tiny", tmp_path / "one.toml"
    file.write_text(ONE)
    command = [*ALGOSCOPE, "sweep", str(file), "--out", str(folder), "--devices", "2"]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (run,) = runs.list_runs(folder)
    assert run.description["environment"]["devices"] == 2
    made = contents(folder)
    assert made
    assert made == {path: reference[path] for path in made}


def test_a_run_that_fails_says_why_and_others_go_on(tmp_path):
    planned = sweeps.plan(SWEEP, tmp_path, SETTINGS)
    item = planned[0].item
    pathlib.Path(item.path).mkdir()
    (pathlib.Path(item.path) / "mine.txt").write_text("mine")
    sweeps.write_specification(SWEEP, tmp_path)
    outcome = sweeps.do(item)
    assert outcome.end is sweeps.End.FAILED
    assert "exists already" in outcome.error
    places = {place.planned.item.name: place for place in sweeps.positions(tmp_path)}
    assert places[item.name].stage is sweeps.Stage.FAILED
    assert places[item.name].error == outcome.error
    assert sweeps.counts(list(places.values())) == {"failed": 1, "waiting": 8}
    assert "exists already" in str(sweeps.status_table(tmp_path, list(places.values())))
    assert "Traceback" in item.log.read_text()


@pytest.fixture
def finished(tmp_path, shared, reference) -> sweeps.Item:
    """A run of the sweep that was made before."""
    sweeps.write_specification(SWEEP, tmp_path)
    item = sweeps.plan(SWEEP, tmp_path, SETTINGS)[-1].item
    shutil.copytree(shared / "reference" / item.name, item.path)
    return item


def test_a_run_that_failed_and_was_finished_by_hand_is_done_by_the_same_command(finished, tmp_path):
    """Nothing is left of its error, so that the sweep does not end with a failure for ever."""
    finished.error.write_text("no space left on device\n")
    assert sweeps.counts(sweeps.positions(tmp_path)) == {"failed": 1, "waiting": 8}
    assert not sweeps.is_done(finished)
    assert sweeps.do(finished).end is sweeps.End.FINISHED
    assert sweeps.is_done(finished)
    assert sweeps.counts(sweeps.positions(tmp_path)) == {"done": 1, "waiting": 8}


def test_two_attempts_at_one_run_take_turns(finished):
    """The second may not fail because the first, which was taken for lost, is still at it."""
    ends: list[sweeps.Outcome] = []
    second = threading.Thread(target=lambda: ends.append(sweeps.do(finished)))
    with finished.log.open("a") as first:
        assert lock.take(first)
        second.start()
        wait_until(lambda: "waiting for it" in finished.log.read_text() or not second.is_alive())
        assert second.is_alive()
        assert not ends
    second.join()
    assert [outcome.end for outcome in ends] == [sweeps.End.FINISHED]
    assert not finished.error.exists()
