"""Features are read from a table, and know their shapes and types in both of their forms."""

import numpy as np
import pytest

from algoscope import tasks
from algoscope.tasks import Feature, Kind, Location, Stage
from algoscope.tasks.features import parse_features


def feature(location: Location, kind: Kind, stage: Stage = Stage.HINT, **more) -> Feature:
    return Feature("name", stage, location, kind, **more)


def test_a_table_is_read_line_by_line():
    matrix, color, i, j, pi = parse_features(
        """
        A      input   edge  scalar  whole
        color  hint    node  categorical  3
        i j    hint    node  mask_one  # a cursor
        pi     output  node  pointer
        """
    )
    assert [f.meaning for f in (color, i, j, pi)] == ["", "a cursor", "a cursor", ""]
    assert matrix == Feature("A", Stage.INPUT, Location.EDGE, Kind.SCALAR, whole=True)
    assert color == Feature("color", Stage.HINT, Location.NODE, Kind.CATEGORICAL, classes=3)
    assert (i, j) == tuple(Feature(n, Stage.HINT, Location.NODE, Kind.MASK_ONE) for n in "ij")
    assert pi == Feature("pi", Stage.OUTPUT, Location.NODE, Kind.POINTER)


@pytest.mark.parametrize("name", tasks.names(variants=True))
def test_every_feature_of_a_task_has_a_meaning(name):
    assert [f.name for f in tasks.get(name).features if not f.meaning] == []


@pytest.mark.parametrize(
    "line",
    [
        "A input edge",
        "input edge scalar",
        "color hint node categorical",
        "color hint node categorical three",
        "A nowhere edge scalar",
        "A input corner scalar",
        "A input edge number",
        "A input edge scalar half",
    ],
)
def test_a_line_that_does_not_fit_is_refused_with_what_is_wrong_in_it(line):
    with pytest.raises(ValueError, match=r"needed|not a valid|invalid literal"):
        parse_features(line)


@pytest.mark.parametrize(
    ("given", "register", "dense"),
    [
        (feature(Location.NODE, Kind.SCALAR), (5,), (5,)),
        (feature(Location.EDGE, Kind.SCALAR), (5, 5), (5, 5)),
        (feature(Location.GRAPH, Kind.SCALAR), (1,), ()),
        (feature(Location.NODE, Kind.MASK), (5,), (5,)),
        (feature(Location.GRAPH, Kind.MASK), (1,), ()),
        (feature(Location.NODE, Kind.MASK_ONE), (1,), (5,)),
        (feature(Location.NODE, Kind.CATEGORICAL, classes=3), (5,), (5, 3)),
        (feature(Location.EDGE, Kind.CATEGORICAL, classes=3), (5, 5), (5, 5, 3)),
        (feature(Location.GRAPH, Kind.CATEGORICAL, classes=3), (1,), (3,)),
        (feature(Location.NODE, Kind.POINTER), (5,), (5,)),
        (feature(Location.EDGE, Kind.POINTER), (5, 5), (5, 5)),
        (feature(Location.NODE, Kind.PERMUTATION), (5,), (5,)),
    ],
    ids=lambda value: f"{value.location} {value.kind}" if isinstance(value, Feature) else None,
)
def test_shapes(given, register, dense):
    assert given.register_shape(5) == register
    assert given.dense_shape(5) == dense


@pytest.mark.parametrize(
    ("given", "register", "dense"),
    [
        (feature(Location.NODE, Kind.SCALAR), np.float64, np.float64),
        (feature(Location.NODE, Kind.MASK), np.int8, np.int8),
        (feature(Location.NODE, Kind.MASK_ONE), np.int32, np.int8),
        (feature(Location.NODE, Kind.POINTER), np.int32, np.int32),
        (feature(Location.NODE, Kind.POINTER, Stage.OUTPUT), np.int32, np.int64),
        (feature(Location.EDGE, Kind.POINTER, Stage.OUTPUT), np.int32, np.float64),
        (feature(Location.NODE, Kind.PERMUTATION, Stage.OUTPUT), np.int32, np.int64),
        (feature(Location.NODE, Kind.MASK, Stage.OUTPUT), np.int8, np.float64),
        (feature(Location.NODE, Kind.MASK_ONE, Stage.INPUT), np.int32, np.float64),
        (feature(Location.EDGE, Kind.SCALAR, Stage.INPUT), np.float64, np.float64),
        (feature(Location.EDGE, Kind.SCALAR, Stage.INPUT, whole=True), np.float64, np.int64),
    ],
)
def test_types(given, register, dense):
    assert given.register_dtype == register
    assert given.dense_dtype == dense


def test_thirty_tasks_have_features_of_each_stage_a_problem_and_a_summary():
    assert len(tasks.names()) == 30
    assert tasks.names() == sorted(tasks.names())
    for name in tasks.names():
        task = tasks.get(name)
        names = [f.name for f in task.features]
        assert len(set(names)) == len(names), name
        assert all(task.at(stage) for stage in Stage), name
        assert task.problem, name
        assert task.summary, name
