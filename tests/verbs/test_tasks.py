"""`algoscope tasks` and `algoscope sample`, as a user calls them."""

import json
import os

import numpy as np
import pytest

from algoscope import tasks


def test_tasks_lists_every_task_with_its_features(algoscope):
    table = algoscope("tasks")
    for name in tasks.names():
        assert f" {name} " in table
    assert "30 tasks" in table
    assert "Breadth-first search, a level a step" in table
    assert "reach_h pi_h" in table


def test_tasks_as_json_describes_every_task(algoscope):
    described = json.loads(algoscope("tasks", "--json"))
    assert list(described) == tasks.names()
    bfs = described["bfs"]
    assert bfs["smallest"] == 1
    assert "p" in bfs["options"]
    assert bfs["features"]["pi"] == {"stage": "output", "location": "node", "kind": "pointer"}
    assert described["lcs_length"]["smallest"] == 2


def test_sample_prints_the_trace_of_the_first_problem(algoscope):
    printed = algoscope("sample", "bfs", "--size", "5", "--count", "2")
    batch = tasks.sample("bfs", 5, 2, 7)
    assert "bfs: pi = " + " ".join(map(str, batch.outputs["pi"][0])) in printed
    assert "reach_h" in printed
    assert len(printed.strip().splitlines()) >= batch.lengths[0] + 3


def test_sample_as_json_holds_all_arrays(algoscope):
    command = "sample dijkstra --size 6 --count 3 --seed 4 --json --options p=[0.3,0.9] high=2"
    printed = json.loads(algoscope(*command.split()))
    batch = tasks.sample("dijkstra", 6, 3, 4, p=[0.3, 0.9], high=2)
    assert printed.pop("task") == "dijkstra"
    assert printed.pop("seed") == 4
    assert printed.pop("lengths") == batch.lengths.tolist()
    expected = {f"inputs.{name}": array for name, array in batch.inputs.items()}
    expected |= {f"hints.{name}": array for name, array in batch.hints.items()}
    expected |= {f"outputs.{name}": array for name, array in batch.outputs.items()}
    assert printed.keys() == expected.keys()
    for name, values in printed.items():
        assert np.array_equal(values, expected[name]), name


def test_sample_to_a_file_keeps_values_and_types(algoscope, tmp_path):
    path = tmp_path / "drawn.npz"
    said = algoscope("sample", "bfs", "--size", "5", "--count", "3", "--out", str(path))
    assert "3 problems of bfs" in said
    assert str(path) in said
    batch = tasks.sample("bfs", 5, 3, 7)
    with np.load(path) as written:
        assert set(written) == {
            "inputs.pos", "inputs.s", "inputs.A", "inputs.adj", "hints.reach_h", "hints.pi_h",
            "outputs.pi", "lengths",
        }  # fmt: skip
        for stage in ("inputs", "hints", "outputs"):
            for name, array in getattr(batch, stage).items():
                assert written[f"{stage}.{name}"].dtype == array.dtype
                assert np.array_equal(written[f"{stage}.{name}"], array)
        assert np.array_equal(written["lengths"], batch.lengths)
    assert os.listdir(tmp_path) == ["drawn.npz"]


def test_a_file_and_json_say_where_the_file_is(algoscope, tmp_path):
    shown = algoscope("sample", "bfs", "--size", "3", "--count", "2", "--out", "a.npz", "--json")
    assert json.loads(shown) == {"task": "bfs", "problems": 2, "out": "a.npz"}
    assert (tmp_path / "a.npz").is_file()


def test_a_file_has_the_permissions_that_the_user_has_set(algoscope, tmp_path):
    path, plain = tmp_path / "drawn.npz", tmp_path / "plain"
    plain.touch()
    algoscope("sample", "bfs", "--size", "3", "--count", "1", "--out", str(path))
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("sample bsf", "unknown task: 'bsf'; did you mean bfs"),
        ("sample bfs --size 0", "size: got 0, needed an integer of at least 1 for bfs"),
        ("sample bfs --count 0", "count: got 0, needed an integer of at least 1"),
        ("sample bfs --seed -1", "seed: got -1, needed an integer from 0 to 4294967295"),
        ("sample bfs --options p=2", "p: got 2, needed a probability between 0 and 1"),
        ("sample bfs --options q=0.5", "unknown option of bfs: 'q'"),
        ("sample bfs --options p", "--options: got 'p', needed NAME=VALUE"),
        ("sample bfs --options p=half", "p: got 'half', needed a number"),
        ("sample bfs --out drawn.csv", "--out: got drawn.csv, needed a name that ends in .npz"),
    ],
)
def test_bad_arguments_are_refused_with_what_is_needed(refused, arguments, message, tmp_path):
    assert message in refused(*arguments.split())
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_refused_before_anything_is_sampled(refused, tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "sample", lambda *_, **__: pytest.fail("sampled"))
    path = tmp_path / "nowhere" / "drawn.npz"
    message = refused("sample", "bfs", "--out", str(path))
    assert f"--out: got {path}" in message
    assert f"no folder {path.parent}" in message


def test_a_failed_export_leaves_what_was_there(refused, tmp_path, monkeypatch):
    path = tmp_path / "drawn.npz"
    path.write_text("earlier work")

    def break_off(file, **arrays):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", break_off)
    assert "no space left" in refused("sample", "bfs", "--size", "3", "--out", str(path))
    assert path.read_text() == "earlier work"
    assert os.listdir(tmp_path) == ["drawn.npz"]


def test_an_unknown_argument_is_refused_by_name(algoscope, capsys):
    with pytest.raises(SystemExit) as exit_:
        algoscope("sample", "bfs", "--sizes", "3")
    assert exit_.value.code == 2
    assert "--size" in capsys.readouterr().err
