"""Settings of all tests.

Property tests draw the same examples on every run, few enough for two slow cores. XLA compiles fast
instead of well, since the networks here are tiny and many: a program takes a fifth of the usual CPU
time. That needs a processor without fused multiply-add. The gradient of a maximum finds its place
by comparing with the maximum; where one side of that comparison is computed with fused operations
and the other without, no place is found, and the gradient is 0 / 0.
"""

import os
import pathlib
import platform
import sys

import hypothesis
import pytest

_FAST_COMPILATION = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
    "--xla_cpu_max_isa=AVX",
)
if platform.machine() in ("x86_64", "AMD64"):
    os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *_FAST_COMPILATION])

hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=25, database=None
)
hypothesis.settings.load_profile("repeatable")

_MAPS = pathlib.Path("/proc/self/maps")
_MOST_MAPS = 10_000
"""Every compiled function takes some of the 65,530 memory maps that Linux allows a process, and so
many of them take two gigabytes."""


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Forgets compiled functions when there are too many."""
    if "jax" in sys.modules and _maps() > _MOST_MAPS:
        sys.modules["jax"].clear_caches()


def _maps() -> int:
    return _MAPS.read_bytes().count(b"\n") if _MAPS.exists() else _MOST_MAPS + 1
