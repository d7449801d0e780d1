"""Commands where something around them is missing: streams, room, a folder, permissions."""

import dataclasses
import io
import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest
from finished import finished_run

from algoscope import progress, runs
from algoscope.files import RunError
from algoscope.report import kept, server
from algoscope.runs import parquet

ALGOSCOPE = f"{sys.executable} -m algoscope"


def shell(command: str, **settings: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_answer(closed, tmp_path):
    made = tmp_path / "problems.npz"
    ended = shell(f"{ALGOSCOPE} sample bfs --size 4 --count 2 --out {made} {closed}")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert made.is_file()


def test_output_that_cannot_be_written_is_one_line():
    ended = shell(f"{ALGOSCOPE} completion bash > /dev/full")
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: what is printed cannot be written (No space left")
    assert ended.stderr.count("\n") == 1


def test_help_fits_into_a_terminal_of_four_columns():
    assert "usage" in shell(f"{ALGOSCOPE} tasks --help", COLUMNS="4").stdout


def test_a_folder_that_is_gone_is_said(tmp_path):
    place = tmp_path / "gone"
    place.mkdir()
    ended = shell(f"cd {place} && rmdir {place} && {ALGOSCOPE} train bfs --steps 1")
    assert ended.stderr.startswith("error: the folder that this was started in is gone")


def test_a_name_that_is_no_text_is_refused_before_work_and_breaks_no_list(
    algoscope, refused, tmp_path, capsys
):
    odd = "odd\udcff"
    for command in (["train", "bfs", "--out"], ["train", "--resume"], ["demo", "--out"]):
        assert "no text in UTF-8" in refused(*command, odd)
    assert not (tmp_path / odd).exists()
    parquet.write(finished_run(tmp_path / "runs" / "mine"))
    parquet.write(finished_run(tmp_path / "runs" / "moved"))
    (tmp_path / "runs" / "moved").rename(tmp_path / "runs" / odd)
    rows = {row["run"]: row["state"] for row in json.loads(algoscope("runs", "list", "--json"))}
    assert rows == {"mine": "finished", odd: "damaged"}
    asked = "select run, count(*) > 0 from results group by run"
    assert json.loads(algoscope("runs", "query", asked, "--json"))[0]["run"] == "mine"


def test_names_do_not_command_a_terminal(algoscope, refused, tmp_path):
    name = "\x1b[31mred\x07"
    finished_run(tmp_path / "runs" / name)
    for printed in (algoscope("runs"), refused("judge", f"runs/{name}", "--seeds", "9")):
        assert "\\x1b[31mred\\x07" in printed
        assert "\x1b" not in printed
    stream = io.StringIO()
    progress.ProgressLine(stream).report(name)
    assert stream.getvalue() == "\\x1b[31mred\\x07\n"


def test_no_training_took_less_than_no_time(tmp_path):
    """The clock was set back meanwhile."""
    run = finished_run(tmp_path / "run")
    later = {**run.description, "created": "2999-01-01T00:00:00+00:00"}
    assert dataclasses.replace(run, description=later).seconds == 0


class FullError(OSError):
    pass


class Full(io.StringIO):
    def write(self, text: str) -> int:
        raise FullError(28, "No space left on device")


@pytest.mark.parametrize("broken", [None, Full(), "closed"])
def test_progress_that_cannot_be_shown_ends_no_work(broken, monkeypatch):
    if broken == "closed":
        broken = io.StringIO()
        broken.close()
    monkeypatch.setattr(sys, "stderr", broken)
    progress.note("seen by nobody")
    with progress.job("unseen", total=2) as job:
        job.advance()
    assert job.done == 1


def denied(path: pathlib.Path, monkeypatch) -> None:
    """As of folders of others: the system administrator, who may run this, is refused nothing."""
    refuse = PermissionError(13, "Permission denied")

    def guarded(real):
        def guard(given, *others, **named):
            if os.path.abspath(str(given)).startswith(str(path)):
                raise refuse
            return real(given, *others, **named)

        return guard

    monkeypatch.setattr(os, "scandir", guarded(os.scandir))
    monkeypatch.setattr(os, "stat", guarded(os.stat))


def test_a_run_that_nobody_may_read_is_listed_as_damaged(algoscope, tmp_path, monkeypatch, capsys):
    parquet.write(finished_run(tmp_path / "runs" / "mine"))
    theirs = finished_run(tmp_path / "runs" / "theirs").path
    denied(theirs, monkeypatch)
    rows = {row["run"]: row["state"] for row in json.loads(algoscope("runs", "list", "--json"))}
    assert rows == {"mine": "finished", "theirs": "damaged"}
    assert "Permission denied" in runs.survey(tmp_path / "runs").damaged[0].fault
    algoscope("runs", "query", "select count(*) from results")
    parquet.query(tmp_path / "runs", "select 1")
    assert "left out: " in capsys.readouterr().err


def test_a_judgement_that_cannot_be_kept_is_given_all_the_same(tmp_path, monkeypatch):
    run = finished_run(tmp_path / "run")
    lines: list[str] = []

    def refuse(*_):
        raise RunError("findings: cannot be written (Permission denied)")

    class Judged:
        class verdict:  # noqa: N801
            word = "fails"

        def _replace(self, **_):
            return self

    monkeypatch.setattr(kept.measures, "judge", lambda *_, **__: Judged())
    monkeypatch.setattr(kept, "_write", refuse)
    network = run.ensemble().member(0, "bfs")
    judged = kept.judge_seed(
        run, "bfs", 0, network, problem_seed=0, problems=10, report=lines.append
    )
    assert judged.verdict.word == "fails"
    assert "not kept: findings: cannot be written" in lines[-1]


def test_a_port_that_is_taken_is_said_and_0_is_any():
    with server.listening(0) as listener:
        host, port = listener.getsockname()
        assert (host, port > 0) == ("127.0.0.1", True)
        listener.listen()
        with pytest.raises(ValueError, match=f"--port: got {port}, which is not to be had"):
            server.listening(port)
        with socket.create_connection((host, port), timeout=60):
            pass
