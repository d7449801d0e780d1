"""Typed values survive JSON, whatever they are made of."""

import dataclasses
import enum
import json
import math
from typing import NamedTuple

import numpy as np
import pytest

from algoscope.serialise import FormatError, from_json, to_json


class Colour(enum.StrEnum):
    RED = "red"


class Point(NamedTuple):
    x: float
    name: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Shape:
    points: list[Point]
    by_size: dict[int, tuple[float, ...]]
    colour: Colour
    area: np.ndarray
    centre: Point | None = None


SHAPE = Shape([Point(1.0, "a"), Point(math.nan)], {3: (1.0, 2.0)}, Colour.RED, np.eye(2))


@pytest.mark.parametrize("arrays", [None, {}])
def test_there_and_back(arrays):
    content = json.loads(json.dumps(to_json(SHAPE, arrays), allow_nan=False))
    assert content["points"][1] == {"x": None, "name": None}
    again = from_json(Shape, content, arrays or {})
    assert again.points[0] == SHAPE.points[0]
    assert math.isnan(again.points[1].x)
    assert again.by_size == SHAPE.by_size
    assert again.colour is Colour.RED
    assert np.array_equal(again.area, SHAPE.area)
    assert again.centre is None
    if arrays is not None:
        assert content["area"] == {"array": "area"}
        assert list(arrays) == ["area"]


def test_types_can_be_written_by_name():
    names = {Point: {"origin": Point(0.0, "origin")}.__getitem__}
    shape = dataclasses.replace(SHAPE, points=[], centre=Point(0.0, "origin"))
    content = to_json(shape, names=names)
    assert content["centre"] == "origin"
    assert from_json(Shape, content, names=names).centre == Point(0.0, "origin")


def test_what_does_not_fit_is_named():
    with pytest.raises(FormatError, match="unknown field of centre: 'z'"):
        from_json(Shape, to_json(SHAPE) | {"centre": {"z": 1}})
    with pytest.raises(FormatError, match="value: got 3, needed the fields of Shape"):
        from_json(Shape, 3)
    with pytest.raises(FormatError, match=r"missing .* 'area'"):
        from_json(Shape, {"points": [], "by_size": {}, "colour": "red"})
