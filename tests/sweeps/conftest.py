"""What tests of all engines share: what was compiled, and the runs of the tiny sweep, made one
after the other."""

import fcntl
import importlib
import os
import pathlib
import subprocess
import sys

import pytest
from pages import ROOT
from tiny import contents

_HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> pathlib.Path:
    """A folder for all processes of the test run."""
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if session is None:
        return tmp_path_factory.mktemp("sweeps")
    folder = tmp_path_factory.getbasetemp().parent / f"sweeps-{session}"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def surroundings(shared) -> dict[str, str]:
    """So that processes share what they compile."""
    return os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(shared / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }


@pytest.fixture(scope="session")
def shared_cache(surroundings):
    """The same for processes that a test starts from here."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"):
            patch.setenv(name, surroundings[name])
        yield


@pytest.fixture(scope="session")
def reference(shared, surroundings) -> dict[str, bytes]:
    """The results of the sweep without any engine: who asks first makes them."""
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            [sys.executable, str(_HERE / "tiny.py"), str(shared / "reference")],
            env=surroundings,
            check=True,
        )
    made = contents(shared / "reference")
    assert len(made) == 9 * 4
    return made


@pytest.fixture(scope="session")
def scale():
    """The script that makes synthetic runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return importlib.import_module("scale")
