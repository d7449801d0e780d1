"""Traces as somebody reads them: what each kind of feature looks like in a cell, and in a page."""

import numpy as np
import pytest

from algoscope import tasks
from algoscope.tasks import Feature, Kind, Location, Stage
from algoscope.tasks.display import cell


@pytest.mark.parametrize(
    ("location", "kind", "value", "text"),
    [
        (Location.NODE, Kind.SCALAR, [0.5, 1 / 3], "0.5 0.333"),
        (Location.GRAPH, Kind.SCALAR, 0.25, "0.25"),
        (Location.NODE, Kind.MASK, [1, 0, -1, 1], "{0 3}"),
        (Location.EDGE, Kind.MASK, [[0, 1], [1, -1]], "{0-1 1-0}"),
        (Location.GRAPH, Kind.MASK, 1, "1"),
        (Location.NODE, Kind.MASK_ONE, [0, 0, 1], "2"),
        (Location.NODE, Kind.CATEGORICAL, [[1, 0], [0, 1], [0, -1]], "0 1 1"),
        (Location.GRAPH, Kind.CATEGORICAL, [0, 0, 1], "2"),
        (Location.NODE, Kind.POINTER, [1, 1], "1 1"),
        (Location.EDGE, Kind.POINTER, [[0, 1], [1, 0]], "0 1; 1 0"),
    ],
)
def test_a_value_in_few_characters(location, kind, value, text):
    assert cell(Feature("name", Stage.HINT, location, kind), np.array(value), range(9)) == text


def test_a_row_is_a_step_and_the_title_the_output():
    batch = tasks.sample("insertion_sort", 4, 3, 0)
    table = batch.table(sample=2)
    steps = int(batch.lengths[2])
    assert table.columns == ["step", "pred_h", "i", "j"]
    assert [row[0] for row in table.rows] == [str(step) for step in range(steps)]
    assert table.rows[0] == ["0", "0 0 1 2", "0", "0"]
    answer = " ".join(str(node) for node in batch.outputs["pred"][2])
    assert table.title == f"insertion_sort: pred = {answer} (sample 2 of 3)"
    assert table.rows[-1][1] == answer


@pytest.mark.parametrize("name", tasks.names())
def test_every_task_has_a_table(name):
    batch = tasks.sample(name, max(5, tasks.get(name).smallest), 1, 0)
    table = batch.table()
    assert len(table.rows) == batch.lengths[0]
    assert all(len(row) == len(table.columns) and all(row) for row in table.rows)
