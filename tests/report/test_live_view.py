"""What a page says of a training that is under way."""

import math

import pytest

from algoscope.report.live_view import time_left
from algoscope.runs.live import Curves, Live


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(75.4, "0:01:15"), (math.nan, ""), (math.inf, ""), (1e300, ""), (-1.0, "")],
)
def test_time_left_is_said_where_it_is_a_time(seconds, said):
    assert time_left(Live(1, 2, 1.0, seconds, Curves([], []))) == said
    assert time_left(Live(2, 2, 1.0, seconds, Curves([], []))) == ""
