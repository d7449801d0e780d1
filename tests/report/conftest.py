"""One small demo for all tests of reports, made once even where tests run in several processes."""

import fcntl
import os
import pathlib
import sys

import pytest
from in_page import write

from algoscope import cli, runs
from algoscope.report import findings

NAME = "<script>window.owned=1<script> \"&' $a$"
"""A run may be called what its folder may be called."""
FEW = 120
"""Problems that the falsifier tries on each network."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> tuple[runs.Run, str]:
    """The run of a demo with two networks that are hardly trained, and what it printed."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    path, printed = shared / "demos" / NAME, shared / "demo.txt"
    with (shared / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            before = sys.argv, sys.stdout
            with pytest.MonkeyPatch.context() as patch, (shared / "writing.txt").open("w") as file:
                patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
                patch.setattr(sys, "stdout", file)
                patch.setattr(sys, "stderr", file)
                small = ["--seeds", "2", "--steps", "12", "--sizes", "8", "--problems", str(FEW)]
                arguments = ["demo", "--out", str(path), *small]
                patch.setattr(sys, "argv", ["algoscope", *arguments])
                cli.main()
            assert (sys.argv, sys.stdout) == before
            (shared / "writing.txt").rename(printed)
    return runs.open(path), printed.read_text()


@pytest.fixture(scope="session")
def found(demo):
    return findings(demo[0], "bfs")


@pytest.fixture(scope="session")
def page_path(demo) -> pathlib.Path:
    return demo[0].path / "report.html"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    write(path)
    context = browser.new_context(offline=True)
    shown = context.new_page()
    shown.goto(path.as_uri())
    yield shown
    context.close()


@pytest.fixture(scope="module")
def families(page) -> list[str]:
    return page.evaluate("Families.names")
