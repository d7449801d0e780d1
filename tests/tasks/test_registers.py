"""Registers are aligned views of one array, and their rows spread into dense arrays."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algoscope.tasks import Feature, Kind, Location, Stage
from algoscope.tasks.registers import Registers

ANY_FEATURES = st.lists(
    st.sampled_from(
        [
            Feature("", Stage.HINT, location, kind, classes=3 if kind is Kind.CATEGORICAL else 1)
            for location, kind in itertools.product(Location, Kind)
        ]
    ),
    min_size=1,
    max_size=8,
).map(
    lambda features: [
        Feature(f"f{i}", f.stage, f.location, f.kind, f.classes) for i, f in enumerate(features)
    ]
)


@given(ANY_FEATURES, st.integers(1, 7))
def test_registers_are_aligned_and_do_not_overlap(features, nodes):
    registers = Registers(features, nodes)
    assert list(registers.views) == [f.name for f in features]
    for number, feature in enumerate(features, 1):
        view = registers.views[feature.name]
        assert view.dtype == feature.register_dtype
        assert view.shape == feature.register_shape(nodes)
        assert view.flags.aligned
        assert view.flags.c_contiguous
        assert np.shares_memory(view, registers.words)
        view[:] = number
    for number, feature in enumerate(features, 1):
        assert (registers.views[feature.name] == number).all()


@given(ANY_FEATURES, st.integers(1, 7))
def test_scalars_are_all_scalar_registers_and_nothing_else(features, nodes):
    registers = Registers(features, nodes)
    registers.scalars[:] = 1.5
    for feature in features:
        expected = 1.5 if feature.kind is Kind.SCALAR else 0
        assert (registers.views[feature.name] == expected).all()


def test_no_features_are_no_registers():
    registers = Registers((), 4)
    assert registers.views == {}
    assert registers.dense(np.empty((3, 0), np.int64)) == {}


def rows_of(registers: Registers, steps: list[dict]) -> np.ndarray:
    rows = np.empty((len(steps), len(registers.words)), np.int64)
    for row, values in zip(rows, steps, strict=True):
        for name, value in values.items():
            registers.views[name][:] = value
        row[:] = registers.words
    return rows


FEATURES = (
    Feature("d", Stage.HINT, Location.NODE, Kind.SCALAR),
    Feature("seen", Stage.HINT, Location.NODE, Kind.MASK),
    Feature("u", Stage.HINT, Location.NODE, Kind.MASK_ONE),
    Feature("color", Stage.HINT, Location.NODE, Kind.CATEGORICAL, classes=3),
    Feature("arrow", Stage.HINT, Location.EDGE, Kind.CATEGORICAL, classes=2),
    Feature("phase", Stage.HINT, Location.GRAPH, Kind.CATEGORICAL, classes=2),
    Feature("time", Stage.HINT, Location.GRAPH, Kind.SCALAR),
    Feature("pi", Stage.HINT, Location.NODE, Kind.POINTER),
)

STEPS = [
    {
        "d": [0.5, -1.5],
        "seen": [1, -1],
        "u": [1],
        "color": [2, ~0],
        "arrow": [[0, 1], [~1, 0]],
        "phase": [1],
        "time": [0.25],
        "pi": [1, 0],
    },
    {"d": [3.0, 4.0], "u": [0], "color": [~2, 1], "phase": [~0], "time": [0.5]},
    {"seen": [0, 1], "pi": [1, 1]},
]


def test_rows_become_dense_arrays_with_masked_classes():
    registers = Registers(FEATURES, 2)
    dense = registers.dense(rows_of(registers, STEPS))
    assert {name: array.dtype for name, array in dense.items()} == {
        f.name: f.dense_dtype for f in FEATURES
    }
    assert dense["d"].tolist() == [[0.5, -1.5], [3.0, 4.0], [3.0, 4.0]]
    assert dense["seen"].tolist() == [[1, -1], [1, -1], [0, 1]]
    assert dense["u"].tolist() == [[0, 1], [1, 0], [1, 0]]
    masked = [[[0, 0, 1], [-1, 0, 0]], [[0, 0, -1], [0, 1, 0]], [[0, 0, -1], [0, 1, 0]]]
    assert dense["color"].tolist() == masked
    assert dense["arrow"].tolist() == [[[[1, 0], [0, 1]], [[0, -1], [1, 0]]]] * 3
    assert dense["phase"].tolist() == [[0, 1], [-1, 0], [-1, 0]]
    assert dense["time"].tolist() == [0.25, 0.5, 0.5]
    assert dense["pi"].tolist() == [[1, 0], [1, 0], [1, 1]]


def test_traces_are_padded_with_zeros():
    registers = Registers(FEATURES, 2)
    rows = rows_of(registers, STEPS)
    dense = registers.dense(rows)
    padded = registers.dense_traces(rows, np.array([0, 1, 3]), 4)
    for name, array in dense.items():
        assert padded[name].shape == (2, 4, *array.shape[1:])
        assert padded[name].dtype == array.dtype
        assert np.array_equal(padded[name][0, :1], array[:1])
        assert np.array_equal(padded[name][1, :2], array[1:])
        assert not padded[name][0, 1:].any()
        assert not padded[name][1, 2:].any()


@pytest.mark.parametrize("nodes", [1, 3])
def test_an_input_has_the_type_that_dm_clrs_gives_it(nodes):
    whole = Feature("A", Stage.INPUT, Location.EDGE, Kind.SCALAR, whole=True)
    registers = Registers((whole,), nodes)
    [array] = registers.dense(rows_of(registers, [{"A": 1.0}])).values()
    assert array.dtype == np.int64
    assert array.shape == (1, nodes, nodes)
