"""Programs that wait on themselves are exact, and read themselves where the references do not."""

import numpy as np
import pytest

from algoscope import tasks
from algoscope.experiments.mind_the_gap import waiting
from algoscope.measures.references import reference, reference_class


@pytest.mark.parametrize("task", waiting.PROGRAMS)
def test_they_are_exact_and_read_themselves_while_there_is_nothing_to_read(task):
    batch = tasks.sample(task, size=12, count=16, seed=5)
    recording = reference(waiting.PROGRAMS[task], batch).recording
    valid = recording.valid
    for name, truth in batch.outputs.items():
        np.testing.assert_array_equal(recording.outputs[name], truth)
    there = np.arange(1, valid.shape[1] + 1) < batch.lengths[:, None]
    for name, hint in batch.hints.items():
        np.testing.assert_allclose(
            np.asarray(recording.hints[name])[there], hint[:, 1:][there], atol=1e-6
        )
    visited = batch.hints["reach_h" if task == "bfs" else "msk"][:, : valid.shape[1]] > 0

    def reads_itself(one) -> np.ndarray:
        choices = np.asarray(one.attention).mean(2).argmax(-1)
        idle = ~visited & ~np.take_along_axis(visited, choices, 2) & valid[:, :, None]
        return (choices == np.arange(12))[idle]

    assert reads_itself(recording).all()
    for other in reference_class(batch):
        assert not reads_itself(other.recording).all()
