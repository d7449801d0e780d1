"""Distributed alignment search finds a compiled variable, and its null is another network's."""

import pytest

from algoscope import programs, tasks
from algoscope.measures.alignment import alignment_search
from algoscope.measures.interchange import partners
from algoscope.programs.compiler import compile_program


@pytest.fixture(scope="module")
def search():
    batch = tasks.sample("bfs", 8, 16, seed=0)
    donor = partners(batch)
    network = compile_program(programs.get("bfs"), 6).network

    def run(dimensions: int = 2, **options):
        bfs = programs.get("bfs")
        return alignment_search(network, bfs, batch, donor, dimensions, iterations=20, **options)

    return run


def test_a_compiled_variable_is_found_and_generalises_as_an_untrained_networks_does_not(search):
    found = search(variables=["found"])
    assert found.variables == ["found"]
    assert found.subject.score == 1
    assert found.subject.entries > 50
    assert found.untrained.score < 0.5
    assert found.untrained.learnt > found.untrained.score, "a search fits what it learns from"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 0}, "dimensions: got 0, needed 1 to 6"),
        ({"dimensions": 7}, "dimensions: got 7, needed 1 to 6"),
        ({"variables": ["level"]}, "variables: got level, needed some of found, pi"),
    ],
)
def test_what_cannot_be_searched_is_refused(search, options, message):
    with pytest.raises(ValueError, match=message):
        search(**options)
