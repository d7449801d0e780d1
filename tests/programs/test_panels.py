"""Pictures of parameters: every matrix is there, and what its rows and columns mean."""

import numpy as np
import pytest

from algoscope import networks, programs
from algoscope.programs.compiler import compile_program
from algoscope.programs.panels import panels


@pytest.mark.parametrize("name", programs.names())
def test_every_weight_of_the_network_is_in_a_panel(name):
    drawn = [panel for picture in panels(programs.get(name)).values() for panel in picture]
    arrays = networks.arrays(compile_program(programs.get(name)).network)
    assert sum(panel.values.size for panel in drawn) == sum(a.size for a in arrays.values())
    for panel in drawn:
        assert panel.values.shape == (len(panel.rows), len(panel.columns))


@pytest.mark.parametrize("name", programs.names())
def test_rows_that_matter_have_names(name):
    for panel in (p for picture in panels(programs.get(name)).values() for p in picture):
        named = np.array([bool(row) for row in panel.rows])
        is_score = panel.title.endswith("score")
        assert is_score or not panel.values[~named].any(), panel.title


def test_rows_and_columns_are_named_by_what_they_carry():
    of = {panel.title: panel for panel in panels(programs.get("bfs"))["processor"]}
    skip = of["skip"]
    source, position = skip.rows.index("input.s"), skip.rows.index("input.pos")
    assert skip.values[source, skip.columns.index("found")] < 0
    assert not skip.values[position].any()
    assert skip.rows[-1] == "1"
    value = of["value"]
    assert value.values[position, value.columns.index("parent: pi 1")] == 1.0
