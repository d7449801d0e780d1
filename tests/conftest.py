"""Settings of all tests.

Property tests draw the same examples on every run, few enough for two slow cores. XLA compiles fast
instead of well, since the networks here are tiny and many. (Level 0 would be faster still, and
gives NaN in gradients of max-aggregations with jax 0.10.2.)
"""

import itertools
import os
import sys

import hypothesis
import pytest

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=1"

hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=25, database=None
)
hypothesis.settings.load_profile("repeatable")

_FINISHED = itertools.count(1)
_TESTS_BETWEEN_CLEARINGS = 10


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Forgets compiled functions now and then: a process can only hold so many."""
    if "jax" in sys.modules and next(_FINISHED) % _TESTS_BETWEEN_CLEARINGS == 0:
        sys.modules["jax"].clear_caches()
