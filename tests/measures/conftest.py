"""Subjects without a network, which need no compilation: programs, interpreted."""

import jax
import numpy as np
import pytest

from algoscope import programs, tasks
from algoscope.programs.interpreter import follow
from algoscope.recording import Recording


def interpreted(name: str):
    """A subject that does what the program of that name does."""
    program = programs.get(name)
    return lambda batch: jax.tree.map(np.asarray, follow(program, batch).recording)


def with_attention(recording: Recording, attention: np.ndarray) -> Recording:
    return Recording(
        attention, recording.hidden, recording.hints, recording.outputs, recording.lengths, {}
    )


@pytest.fixture(scope="session")
def graphs():
    return tasks.sample("bfs", 12, 8, seed=4)
