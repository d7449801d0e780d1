"""Property tests draw the same examples on every run, few enough for two slow cores."""

import hypothesis

hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=25, database=None
)
hypothesis.settings.load_profile("repeatable")
