"""HTML that nothing breaks out of."""

import numpy as np

from algoscope import markup
from algoscope.table import Table


def test_whatever_comes_in_is_escaped():
    evil = "<b>\"'&"
    for made in (
        markup.escape(evil),
        markup.element("p", title=evil),
        markup.table(Table(evil, [evil], [[evil]])),
        markup.heat_map(np.eye(2), evil),
    ):
        assert "<b>" not in made
        assert "&lt;b&gt;&quot;&#x27;&amp;" in made


def test_columns_of_numbers_stand_on_the_right():
    made = markup.table(Table("", ["name", "value"], [["1a", "0.5"], ["b", "–"], ["c", "12 %"]]))
    assert made.count('class="number"') == 4
    assert "caption" not in made


def test_a_heat_map_has_a_square_for_what_can_be_seen():
    made = markup.heat_map(np.array([[0.0, 1.0], [0.001, 0.5]]), "two by two")
    assert made.count("fill-opacity") == 2
    assert "<title>two by two</title>" in made
