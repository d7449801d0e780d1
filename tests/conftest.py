"""Settings of all tests.

Property tests draw the same examples on every run, few enough for two slow cores. XLA compiles fast
instead of well, since the networks here are tiny and many. (Level 0 would be faster still, and
gives NaN in gradients of max-aggregations with jax 0.10.2.)
"""

import os
import pathlib
import sys

import hypothesis
import pytest

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=1"

hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=25, database=None
)
hypothesis.settings.load_profile("repeatable")

_MAPS = pathlib.Path("/proc/self/maps")
_MOST_MAPS = 20_000
"""Linux allows a process 65,530 memory maps, and every compiled function takes some."""


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Forgets compiled functions when there are too many."""
    if "jax" in sys.modules and _maps() > _MOST_MAPS:
        sys.modules["jax"].clear_caches()


def _maps() -> int:
    return _MAPS.read_bytes().count(b"\n") if _MAPS.exists() else _MOST_MAPS + 1
