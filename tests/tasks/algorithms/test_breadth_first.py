"""Against scipy's shortest paths in unweighted graphs."""

import numpy as np
from drawing import PROBABILITIES, draws
from hypothesis import given
from scipy.sparse import csgraph


@given(draws("bfs", p=PROBABILITIES))
def test_reaches_each_level_in_one_step_through_parents_a_level_above(draw):
    for sample in draw.samples():
        A, source = sample.inputs["A"], int(np.argmax(sample.inputs["s"]))
        depth = csgraph.shortest_path(A, unweighted=True, indices=source)
        deepest = int(depth[np.isfinite(depth)].max())
        for step, reached in enumerate(sample.hints["reach_h"]):
            # The source counts as reached, as do its neighbours after one step.
            assert np.array_equal(reached == 1, depth <= step)
        assert len(sample.hints["reach_h"]) == deepest + 1
        parent = sample.outputs["pi"]
        for node in range(draw.size):
            if 0 < depth[node] < np.inf:
                assert A[parent[node], node] != 0
                assert depth[parent[node]] == depth[node] - 1
            else:
                assert parent[node] == node
