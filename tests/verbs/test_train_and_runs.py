"""`algoscope train` and `algoscope runs`, as a user calls them."""

import json

import pytest
from finished import finished_run, network

from algoscope import networks


def test_runs_are_listed(algoscope, tmp_path):
    finished_run(tmp_path / "runs" / "first")
    table = algoscope("runs")
    assert "1 runs" in table
    for text in ("first", "bfs", "4/4", "finished", "0.6250"):
        assert text in table
    listed = json.loads(algoscope("runs", "list", "--root", str(tmp_path / "runs"), "--json"))
    assert listed[0]["run"] == "first"


def test_runs_are_imported_and_queried(algoscope, refused, tmp_path):
    finished_run(tmp_path / "elsewhere" / "first")
    assert "runs/first" in algoscope("runs", "import", "elsewhere/first")
    rows = json.loads(algoscope("runs", "query", "select count(*) as n from metrics", "--json"))
    assert rows == [{"n": 8}]
    assert "8" in algoscope("runs", "query", "select count(*) as n from metrics")
    assert "holds a finished run" in refused("runs", "import", "elsewhere/first")
    assert "got no run folder" in refused("runs", "import", "elsewhere/second")


def test_runs_are_compared_by_what_differs(algoscope, refused, tmp_path):
    finished_run(tmp_path / "a")
    finished_run(tmp_path / "b", learning_rate=0.5)
    differences = json.loads(algoscope("runs", "compare", "a", "b", "--json"))["differences"]
    assert differences == {"learning_rate": [0.1, 0.5]}
    assert "learning_rate" in algoscope("runs", "compare", "a", "b")
    assert "needed at least two" in refused("runs", "compare", "a")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train"], "got no task"),
        (["train", "bsf"], "did you mean bfs"),
        (["train", "bfs", "--steps", "-3"], "steps: got -3"),
        (["train", "bfs", "--sizes", "0"], "recipe.sizes: got 0"),
        (["train", "bfs", "--hint-mode", "encoded"], "did you mean encoded_decoded"),
        (["train", "bfs", "--network", "widht=4"], "did you mean width"),
        (["train", "bfs", "--network", "width"], "needed NAME=VALUE"),
        (["train", "--resume", "nowhere"], "got no run folder"),
        (["train", "--resume", "nowhere", "--steps", "5"], "got it with steps, needed it alone"),
        (["train", "bfs", "--start", "nowhere.safetensors"], "nowhere.safetensors"),
    ],
)
def test_what_cannot_be_trained_is_refused(refused, tmp_path, arguments, message):
    assert message in refused(*arguments)
    assert not (tmp_path / "runs").exists()


def test_weights_of_another_task_are_no_start(refused, tmp_path):
    networks.save(network(0), tmp_path / "bfs.safetensors", "bfs")
    message = refused("train", "dfs", "--start", "bfs.safetensors")
    assert "got weights for bfs, needed some for dfs" in message
