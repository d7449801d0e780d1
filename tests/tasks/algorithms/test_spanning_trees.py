"""Against scipy's minimum spanning forests."""

import numpy as np
import pytest
from drawing import DECIMALS, PROBABILITIES, draws
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

OPTIONS = {
    "p": PROBABILITIES,
    "low": st.floats(0, 1),
    "high": st.floats(1, 5),
    "truncate_decimals": DECIMALS,
}


def least_weight(A: np.ndarray) -> float:
    return csgraph.minimum_spanning_tree(A).sum()


@given(draws("mst_kruskal", **OPTIONS))
def test_kruskal_spans_every_component_at_least_weight(draw):
    for sample in draw.samples():
        A, chosen = sample.inputs["A"], sample.outputs["in_mst"] == 1
        assert np.array_equal(chosen, chosen.T)
        assert (A[chosen] > 0).all()
        components = csgraph.connected_components(A, directed=False)[0]
        assert csgraph.connected_components(chosen, directed=False)[0] == components
        assert chosen.sum() == 2 * (draw.size - components)
        assert A[chosen].sum() / 2 == pytest.approx(least_weight(A))


@given(draws("mst_prim", **OPTIONS))
def test_prim_spans_the_component_of_the_source_at_least_weight(draw):
    for sample in draw.samples():
        A, source = sample.inputs["A"], int(np.argmax(sample.inputs["s"]))
        _, component = csgraph.connected_components(A, directed=False)
        inside = component == component[source]
        assert np.array_equal(sample.last("mark") == 1, inside)
        parents = sample.outputs["pi"]
        children = [node for node in np.flatnonzero(inside) if node != source]
        edges = np.zeros_like(A)
        edges[parents[children], children] = A[parents[children], children]
        assert np.count_nonzero(edges) == len(children)
        joined = csgraph.connected_components(edges, directed=False)[1]
        assert (joined[inside] == joined[source]).all()
        assert edges.sum() == pytest.approx(least_weight(np.where(np.outer(inside, inside), A, 0)))
        outside = np.flatnonzero(~inside)
        assert np.array_equal(parents[outside], outside)
        assert parents[source] == source
