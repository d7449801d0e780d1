"""Progress: shown to whoever waits, and to nobody else."""

import io
import sys
import time

import jax
import nbclient
import nbformat
import pytest

from algoscope import progress
from algoscope.progress import ProgressLine
from algoscope.training.compile_cache import side_by_side


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def soon(monkeypatch):
    """Jobs are shown after a moment."""
    for name, seconds in (("_SHOWN_AFTER", 0.05), ("_EVERY", 0.02), ("_LOGGED_AFTER", 0.05)):
        monkeypatch.setattr(progress, name, seconds)
    time.sleep(1.1)  # A thread that watched earlier jobs has ended.


def wait_for(stream: io.StringIO, text: str) -> None:
    for _ in range(500):
        if text in stream.getvalue():
            return
        time.sleep(0.01)
    raise AssertionError(f"{text!r} is not in {stream.getvalue()!r}")


def test_a_job_is_shown_on_one_line_and_leaves_nothing_behind(soon):
    stream = Terminal()
    line = ProgressLine(stream)
    with progress.shown_on(line):
        with progress.job("compiling", total=4) as job:
            job.advance(2, "bfs")
            wait_for(stream, "compiling: 2 of 4, bfs, 0 s, 0:00:00 left")
        line.report("done")
    assert "\n" not in stream.getvalue().removesuffix("done\n")
    assert stream.getvalue().endswith("\r\x1b[K\rdone\n")


def test_inner_jobs_are_shown_after_outer_ones_and_the_outer_goes_on(soon):
    stream = Terminal()
    with progress.shown_on(ProgressLine(stream)), progress.job("judging", 2) as outer:
        with progress.job("measuring"):
            wait_for(stream, "judging: 0 of 2, 0 s · measuring: 0 s")
        outer.advance()
        wait_for(stream, "\x1b[Kjudging: 1 of 2, 0 s, 0:00:00 left")


def test_what_is_not_known_yet_is_shown_until_anything_else_is(soon):
    stream = io.StringIO()
    line = ProgressLine(stream)
    with progress.shown_on(line), progress.job("starting", until_told=True):
        wait_for(stream, "starting: 0 s\n")
        with progress.job("compiling"):
            wait_for(stream, "compiling: 0 s\n")
        time.sleep(0.2)
    assert stream.getvalue().count("starting") == 1


def test_a_line_of_steps_stays_when_a_job_follows(soon):
    stream = Terminal()
    line = ProgressLine(stream)
    with progress.shown_on(line):
        line.step(5, 5, "loss 1")
        with progress.job("scoring"):
            wait_for(stream, "scoring: ")
    assert "step 5 of 5  loss 1\n" in stream.getvalue()


def test_a_log_gets_lines_that_stay_and_short_jobs_none(soon, monkeypatch):
    stream = io.StringIO()
    with progress.shown_on(ProgressLine(stream)):
        for _ in range(20):
            with progress.job("short"):
                pass
        with progress.job("long"):
            wait_for(stream, "long: 0 s\n")
    assert stream.getvalue() == "long: 0 s\n"


def test_python_and_notebooks_are_told_on_stderr(soon, monkeypatch):
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", notebook)
    for _ in progress.over(["a", "b"], "items"):
        wait_for(notebook, "items: ")
        notebook.truncate(0)
    assert "\n" not in notebook.getvalue()


KERNEL = """
import time
from algoscope import progress
progress._SHOWN_AFTER, progress._EVERY = 0.1, 0.05
with progress.job("training", total=3) as job:
    for _ in range(3):
        job.advance()
        time.sleep(0.5)
"""


def test_a_kernel_of_a_notebook_shows_one_line_that_is_written_over():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(KERNEL)])
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    text = "".join(output.text for output in book.cells[0].outputs if output.name == "stderr")
    lines = text.split("\r")
    assert any(line.startswith("training: 2 of 3") for line in lines)
    assert "\n" not in text
    assert lines[-1].strip() == ""


def test_compiling_says_how_many_programs_are_done(soon):
    stream = Terminal()

    program = jax.jit(lambda x: x).lower(1.0).compile()

    def slow():
        wait_for(stream, "compiling: 1 of 2")
        return program

    with progress.shown_on(ProgressLine(stream)):
        assert side_by_side({1: lambda: program, 2: slow}) == {1: program, 2: program}
