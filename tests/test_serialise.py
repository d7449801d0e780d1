"""Typed values survive JSON, whatever they are made of."""

import dataclasses
import enum
import json
import math
from typing import Literal, NamedTuple, NotRequired, TypedDict

import numpy as np
import pytest

from algoscope.serialise import FormatError, from_json, parse_json, to_json


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
CONTENT = to_json(SHAPE)


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


class Described(TypedDict):
    shape: Shape
    scores: NotRequired[dict[str, list[float]]]


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        (Shape, 3, "value: got 3, needed the fields of Shape"),
        (Shape, {"points": [], "by_size": {}, "colour": "red"}, "value.area: not there"),
        (Shape, CONTENT | {"centre": {"z": 1}}, "unknown field of value.centre: 'z'"),
        (Shape, CONTENT | {"points": {}}, "value.points: got {}, needed a list"),
        (Shape, CONTENT | {"points": [{"x": "1"}]}, "points.0.x: got '1', needed a number"),
        (Shape, CONTENT | {"points": [{"x": True}]}, "points.0.x: got True, needed a number"),
        (Shape, CONTENT | {"points": [{"x": 10**400}]}, "needed a number"),
        (Shape, CONTENT | {"points": [{"x": 0, "name": 5}]}, "name: got 5, needed a text"),
        (Shape, CONTENT | {"points": [{"x": 0, "name": "\ud800"}]}, "needed a text"),
        (Shape, CONTENT | {"by_size": {"a": []}}, "by_size: got the key 'a', needed int"),
        (Shape, CONTENT | {"colour": "blue"}, "colour: got 'blue', needed one of red"),
        (Shape, CONTENT | {"area": [[1], [1, 2]]}, "area: got .* needed lists of numbers"),
        (Shape, CONTENT | {"area": {"array": "b"}}, "area: got .* needed the name of an array"),
        (tuple[int, int], [1], "needed a list of 2"),
        (Literal["a", 1], True, "got True, needed one of a, 1"),
        (int | str, 1.5, "got 1.5, needed an integer or a text"),
        (bool, 0, "needed true or false"),
        (
            Described,
            {"shape": CONTENT, "scores": {"a": ["1"]}, "more": 1},
            r"scores\.a\.0: got '1'",
        ),
    ],
)
def test_what_does_not_fit_is_named(kind, content, message):
    with pytest.raises(FormatError, match=message):
        from_json(kind, content)


def test_typed_dictionaries_may_have_more():
    content = {"shape": CONTENT, "more": [1]}
    assert from_json(Described, content)["more"] == [1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        (b"\xff", "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "got 'c' twice"),
        ("1" * 5_000, "not valid JSON"),
    ],
)
def test_what_is_no_json_is_refused(text, message):
    with pytest.raises(FormatError, match=message):
        parse_json(text)
