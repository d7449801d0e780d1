"""Settings of all tests.

Property tests draw the same examples on every run, few enough for two slow cores. XLA compiles fast
instead of well, since the networks here are tiny and many.
"""

import os

import hypothesis

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "")
    + " --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=25, database=None
)
hypothesis.settings.load_profile("repeatable")
