"""Equal keys in the queue of Dijkstra's and Prim's algorithms: dm-clrs's choice among them."""

import numpy as np
import pytest

from algoscope.tasks.algorithms.shortest_paths import extract_min
from algoscope.tasks.compilation import in_python


@pytest.mark.parametrize(
    "extract", [extract_min, in_python(extract_min)], ids=["compiled", "plain"]
)
def test_the_first_of_the_least_in_numpy_order_is_taken(extract):
    random = np.random.RandomState(0)
    tied = 0
    for _ in range(500):
        key = random.randint(0, 4, random.randint(1, 80)) / 4
        in_queue = random.randint(0, 2, len(key)).astype(np.int8)
        in_queue[random.randint(len(key))] = 1
        queued = key[in_queue == 1]
        tied += np.sum(queued == queued.min()) > 1
        expected = np.argsort(key + (1.0 - in_queue) * 1e9)[0]
        before = in_queue.copy()
        assert extract(key, in_queue) == expected
        before[expected] = 0
        assert np.array_equal(in_queue, before)
    assert tied > 400


def test_keys_beyond_any_weight_still_leave_the_queue():
    key = np.array([0.0, 2e9, 2e9])
    in_queue = np.array([0, 1, 1], np.int8)
    assert {extract_min(key, in_queue), extract_min(key, in_queue)} == {1, 2}
