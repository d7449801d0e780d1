"""Sweeps on a real Ray cluster: the same bits as one run after the other, whoever is killed."""

import os
import pathlib
import secrets
import signal
import subprocess
import sys

import object_storage
import pytest
import ray_cluster
from tiny import LONG, ONE, SETTINGS, SWEEP, TOML, attempts, begun, contents, wait_until

from algoscope import runs, sweeps

ALGOSCOPE = [sys.executable, "-c", "from algoscope.cli import main; main()"]


@pytest.fixture(scope="module")
def s3():
    with object_storage.s3() as settings:
        yield settings


@pytest.fixture(scope="module")
def knowing_ray(surroundings, s3) -> dict[str, str]:
    """Ray's servers listen on every interface, but answer only who knows the token. Its workers
    know of an S3 server."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    return surroundings | token | s3


@pytest.fixture(scope="module")
def address(knowing_ray):
    with ray_cluster.ray(knowing_ray, workers=2) as found:
        yield found


def command(file: pathlib.Path, folder: pathlib.Path, address: str, *more: str) -> list[str]:
    words = ["sweep", str(file), "--out", str(folder), "--on", "ray", "--address", address]
    return [*ALGOSCOPE, *words, "--checkpoint-seconds", "0", *more]


def test_kills_change_no_bit_and_the_same_command_goes_on(
    tmp_path, knowing_ray, address, reference
):
    folder, file, log = tmp_path / "tiny", tmp_path / "tiny.toml", tmp_path / "log"
    file.write_text(TOML)
    words = command(file, folder, address, "--gpus", "0.5")
    with log.open("w") as out:
        first = subprocess.Popen(words, env=knowing_ray, stdout=out, stderr=out)
    name = sweeps.plan(SWEEP, folder, SETTINGS)[0].item.name
    wait_until(lambda: name in begun(folder) or first.poll() is not None)
    assert first.poll() is None, log.read_text()
    (lost,) = attempts(folder / f"{name}.log")
    os.kill(lost, signal.SIGKILL)
    wait_until(lambda: len(begun(folder)) > 2)
    first.send_signal(signal.SIGKILL)
    first.wait()
    with log.open("a") as out:
        subprocess.run(words, env=knowing_ray, stdout=out, stderr=out, check=True)
    assert contents(folder) == reference
    assert len(attempts(folder / f"{name}.log")) > 1


def test_workers_without_the_folder_go_on_from_copies(tmp_path, knowing_ray, address, reference):
    folder, file, log = tmp_path / "tiny", tmp_path / "tiny.toml", tmp_path / "log"
    file.write_text(ONE)
    stored = tmp_path / "stored"
    words = command(file, folder, address, "--storage", f"file://{stored}")
    with log.open("w") as out:
        driver = subprocess.Popen(words, env=knowing_ray, stdout=out, stderr=out)
    wait_until(lambda: begun(stored) or driver.poll() is not None)
    assert driver.poll() is None, log.read_text()
    (run,) = runs.list_runs(stored)
    assert not folder.joinpath(run.name).exists()
    driver.terminate()
    assert driver.wait() == 128 + signal.SIGTERM, log.read_text()
    (stopped,) = runs.list_runs(folder)
    assert run.step <= stopped.step < LONG
    assert "stopped at step" in (folder / f"{run.name}.log").read_text()

    with log.open("w") as out:
        driver = subprocess.Popen(words, env=knowing_ray, stdout=out, stderr=out)
    wait_until(lambda: len(attempts(stored / f"{run.name}.log")) == 2 or driver.poll() is not None)
    assert driver.poll() is None, log.read_text()
    (_, lost) = attempts(stored / f"{run.name}.log")
    os.kill(lost, signal.SIGKILL)
    reached = runs.open(stored / run.name).step
    assert driver.wait() == 0, log.read_text()
    made = contents(folder)
    assert made
    assert made == {path: reference[path] for path in made}
    _, first, second = attempts(folder / f"{run.name}.log")
    assert first == lost != second
    last_attempt = (folder / f"{run.name}.log").read_text().rpartition("--- ")[2]
    steps = [int(line.split()[1]) for line in last_attempt.splitlines() if "step " in line[:5]]
    assert min(steps) > reached
    assert contents(stored) == made


def test_a_lost_worker_s_run_goes_on_from_object_storage(
    tmp_path, knowing_ray, address, s3, reference
):
    folder, file, log = tmp_path / "tiny", tmp_path / "tiny.toml", tmp_path / "log"
    file.write_text(ONE)
    place = f"{object_storage.BUCKET}/tiny"
    words = command(file, folder, address, "--storage", f"s3://{place}")
    with log.open("w") as out:
        driver = subprocess.Popen(words, env=knowing_ray, stdout=out, stderr=out)
    files = object_storage.client(s3)

    def checkpoints() -> list[str]:
        return [path for path in files.find(place) if "/checkpoint-" in path]

    wait_until(lambda: checkpoints() or driver.poll() is not None)
    assert driver.poll() is None, log.read_text()
    (told,) = (path for path in files.find(place) if path.endswith(".log"))
    files.get_file(told, str(tmp_path / "told"))
    (lost,) = attempts(tmp_path / "told")
    os.kill(lost, signal.SIGKILL)
    assert driver.wait() == 0, log.read_text()
    made = contents(folder)
    assert made
    assert made == {path: reference[path] for path in made}
    before, after = attempts(folder / pathlib.PurePath(told).name)
    assert before == lost != after
    assert not checkpoints()
    copied = {path.removeprefix(f"{place}/"): path for path in files.find(place)}
    assert {path: files.cat_file(copied[path]) for path in made} == made


def test_runs_for_which_no_node_has_room_are_told(algoscope, tmp_path, knowing_ray, address):
    """And not begun: Ray itself says nothing, and waits. The sweep can be cancelled."""
    folder, file, log = tmp_path / "tiny", tmp_path / "tiny.toml", tmp_path / "log"
    file.write_text(ONE)
    words = command(file, folder, address, "--gpus", "2")
    with log.open("w") as out:
        driver = subprocess.Popen(words, env=knowing_ray, stdout=out, stderr=out)
    told = "--cpus 1 --gpus 2: no node of the cluster has so many (they have 2 and 1)"
    wait_until(lambda: told in log.read_text() or driver.poll() is not None)
    assert driver.poll() is None, log.read_text()
    assert f"asked process {driver.pid} to stop" in algoscope("sweep", "cancel", str(folder))
    assert driver.wait() == 128 + signal.SIGTERM, log.read_text()
    assert not begun(folder)
    assert "nothing is under way" in algoscope("sweep", "cancel", str(folder))
