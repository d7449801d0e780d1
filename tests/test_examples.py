"""The examples run, and show what they promise."""

import ast
import pathlib
import runpy

OWN_ALGORITHM = pathlib.Path(__file__).parents[1] / "examples" / "own_algorithm.py"


def test_an_algorithm_of_ones_own_is_compiled_exactly(capsys):
    names = runpy.run_path(str(OWN_ALGORITHM))
    result = ast.literal_eval(capsys.readouterr().out)
    for account in (result, result["interpreter"], result["compilation"]):
        assert account["exact_traces"] == account["exact_outputs"] == 1.0
    assert len(names["layers"]) > 2
    assert sum(map(len, names["layers"])) < 16, "some rooms have no way out"


def test_it_is_short():
    assert len(OWN_ALGORITHM.read_text().splitlines()) < 40
