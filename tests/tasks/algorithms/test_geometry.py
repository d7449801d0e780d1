"""Against scipy's convex hulls, and exact fractions for segments."""

from fractions import Fraction

import numpy as np
import pytest
from drawing import draws
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull


def meet(points: list[tuple[Fraction, Fraction]]) -> bool:
    """Do the segments 0-1 and 2-3 have a point in common? Solves for it."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points
    ux, uy, vx, vy = bx - ax, by - ay, dx - cx, dy - cy
    determinant = ux * vy - uy * vx
    if determinant == 0:
        raise ValueError("parallel segments; drawn points are none")
    along_first = ((cx - ax) * vy - (cy - ay) * vx) / determinant
    along_second = ((cx - ax) * uy - (cy - ay) * ux) / determinant
    return 0 <= along_first <= 1 and 0 <= along_second <= 1


@given(draws("segments_intersect", low=st.floats(-5, 0), high=st.floats(1, 5)))
def test_segments_intersect_if_they_have_a_point_in_common(draw):
    for sample in draw.samples():
        points = [
            (Fraction(float(x)), Fraction(float(y)))
            for x, y in zip(sample.inputs["x"], sample.inputs["y"], strict=True)
        ]
        assert sample.outputs["intersect"] == meet(points)


@pytest.mark.parametrize("name", ["graham_scan", "jarvis_march"])
@given(data=st.data())
def test_hulls_are_scipys(name, data):
    draw = data.draw(
        draws(
            name,
            largest=14,
            origin_x=st.floats(-5, 5),
            origin_y=st.floats(-5, 5),
            radius=st.floats(0.5, 9),
            truncate_decimals=st.integers(5, 9),
        )
    )
    for sample in draw.samples():
        points = np.stack([sample.inputs["x"], sample.inputs["y"]], axis=-1)
        hull = ConvexHull(points).vertices if draw.size > 2 else range(draw.size)
        assert set(np.flatnonzero(sample.outputs["in_hull"])) == set(hull)
        center = [draw.options.get("origin_x", 0), draw.options.get("origin_y", 0)]
        radii = np.linalg.norm(points - center, axis=-1)
        assert radii.max() <= draw.options.get("radius", 2) + 1e-4
