"""Sweeps on a real Slurm: the same bits as one run after the other, whoever is killed and whatever
the time limit."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest
import slurm_cluster
from tiny import LONG, ONE, TOML, attempts, begun, contents, wait_until

from algoscope import runs

ALGOSCOPE = [sys.executable, "-c", "from algoscope.cli import main; main()"]
_PENDING = 1 << (signal.SIGUSR2 - 1)


@pytest.fixture(scope="module")
def slurm(surroundings, tmp_path_factory):
    """The settings of processes that use it."""
    reason = slurm_cluster.why_not()
    if reason:
        print(reason, file=sys.__stderr__)
        pytest.skip(reason)
    with slurm_cluster.slurm(tmp_path_factory.mktemp("slurm")) as settings:
        yield surroundings | settings


def command(file: pathlib.Path, folder: pathlib.Path, *more: str) -> list[str]:
    words = ["sweep", str(file), "--out", str(folder), "--on", "slurm", "--checkpoint-seconds", "0"]
    return [*ALGOSCOPE, *words, *more]


def test_stops_and_kills_change_no_bit_and_the_same_command_goes_on(tmp_path, slurm, reference):
    folder, file, log = tmp_path / "tiny", tmp_path / "tiny.toml", tmp_path / "log"
    file.write_text(TOML)

    def driving(more_than: int) -> subprocess.Popen:
        """The sweep, when so many runs have begun."""
        with log.open("a") as out:
            driver = subprocess.Popen(command(file, folder), env=slurm, stdout=out, stderr=out)
        wait_until(lambda: len(begun(folder)) > more_than or driver.poll() is not None)
        assert driver.poll() is None, log.read_text()
        return driver

    stopped = driving(0)
    stopped.terminate()
    assert stopped.wait() == 128 + signal.SIGTERM, log.read_text()
    assert not subprocess.check_output(["squeue", "--noheader"], env=slurm)
    assert not all(run.finished for run in runs.list_runs(folder))

    before = begun(folder)
    killed = driving(len(before))
    killed.kill()
    killed.wait()
    name = min(begun(folder) - before)
    # An attempt of the command that was stopped may have ended before its run began.
    *earlier, lost = attempts(folder / f"{name}.log")
    os.kill(lost, signal.SIGKILL)
    submitted = set((folder / ".slurm").glob("*_submitted.pkl"))
    with log.open("a") as out:
        subprocess.run(command(file, folder), env=slurm, stdout=out, stderr=out, check=True)
    assert contents(folder) == reference
    assert len(attempts(folder / f"{name}.log")) == len(earlier) + 2
    # Jobs that were submitted before were waited for, and one was lost.
    assert len(set((folder / ".slurm").glob("*_submitted.pkl")) - submitted) == 1


def test_jobs_that_nobody_waits_for_are_cancelled_into_checkpoints(tmp_path, slurm):
    folder, file = tmp_path / "tiny", tmp_path / "tiny.toml"
    file.write_text(ONE)
    driver = subprocess.Popen(command(file, folder), env=slurm, stderr=subprocess.DEVNULL)
    wait_until(lambda: begun(folder) or driver.poll() is not None)
    driver.kill()
    driver.wait()
    cancel = [*ALGOSCOPE, "sweep", "cancel", str(folder)]
    printed = subprocess.check_output(cancel, env=slurm, text=True)
    assert "asked the jobs of 1 runs to stop" in printed
    wait_until(lambda: not subprocess.check_output(["squeue", "--noheader"], env=slurm))
    (run,) = runs.list_runs(folder)
    assert 0 < run.step < LONG
    assert "stopped at step" in pathlib.Path(f"{run.path}.log").read_text()
    assert "nothing is under way" in subprocess.check_output(cancel, env=slurm, text=True)


def test_a_job_is_requeued_at_its_time_limit(tmp_path, slurm, reference):
    folder, file, log = tmp_path / "tiny", tmp_path / "tiny.toml", tmp_path / "log"
    file.write_text(ONE)
    words = command(file, folder, "--minutes", "30", "--grace", "115")
    with log.open("w") as out:
        driver = subprocess.Popen(words, env=slurm, stdout=out, stderr=out)
    wait_until(lambda: begun(folder) or driver.poll() is not None)
    assert driver.poll() is None, log.read_text()
    (run,) = runs.list_runs(folder)
    told = pathlib.Path(f"{run.path}.log")
    (process,) = attempts(told)
    os.kill(process, signal.SIGSTOP)  # Until Slurm says that the time is over, which is soon:
    (job,) = json.loads((folder / ".slurm" / "jobs.json").read_text())
    asked = ["squeue", "--noheader", "--jobs", job, "--format=%M"]
    minutes = subprocess.check_output(asked, env=slurm, text=True).strip().split(":")[-2]
    change = ["scontrol", "update", f"JobId={job}"]
    subprocess.run([*change, f"TimeLimit={int(minutes) + 2}"], env=slurm, check=True)
    status = pathlib.Path(f"/proc/{process}/status")
    # Slurm may let it go on by itself, so that it has ended already.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        wait_until(lambda: _waiting_signals(status) & _PENDING)
        os.kill(process, signal.SIGCONT)
    wait_until(lambda: not status.exists())
    (run,) = runs.list_runs(folder)
    assert 0 < run.step < LONG
    assert "stopped at step" in told.read_text()
    # Slurm would wait two minutes before it begins with a job again.
    asked[-1] = "--format=%T"
    wait_until(lambda: "PENDING" in subprocess.check_output(asked, env=slurm, text=True))
    subprocess.run([*change, "StartTime=now", "TimeLimit=30"], env=slurm, check=True)
    assert driver.wait() == 0, log.read_text()
    before, after = attempts(told)
    assert before == process != after
    assert "Requeued job" in (folder / ".slurm" / f"{job}_0_log.out").read_text()
    made = contents(folder)
    assert made
    assert made == {path: reference[path] for path in made}


def _waiting_signals(status: pathlib.Path) -> int:
    fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
    return int(fields["ShdPnd"], 16)
