"""What tests of all engines share: the runs of the tiny sweep, made one after the other."""

import os
import pathlib

import pytest
from tiny import SETTINGS, SWEEP, contents

from algoscope import sweeps


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory) -> dict[str, str]:
    """So that processes share what they compile."""
    return os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path_factory.mktemp("compiled")),
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
def reference(tmp_path_factory) -> dict[str, bytes]:
    """The results of the sweep, without any engine."""
    folder = tmp_path_factory.mktemp("reference")
    for one in sweeps.plan(SWEEP, folder, SETTINGS):
        assert sweeps.do(one.item).end is sweeps.End.FINISHED
    return contents(pathlib.Path(folder))
