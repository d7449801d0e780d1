"""Tables of runs: Parquet, queries across runs, import."""

import shutil

import pytest
from finished import finished_run

from algoscope import runs
from algoscope.runs import RunError, parquet


def test_runs_are_queried_together(tmp_path):
    for name, rate in (("a", 0.1), ("b", 0.2)):
        parquet.write(finished_run(tmp_path / name, learning_rate=rate))
    columns, rows = parquet.query(
        tmp_path,
        "select run, avg(value) as mean from results where name = 'test' and output = 'score' "
        "group by run order by run",
    )
    assert columns == ["run", "mean"]
    assert rows == [("a", 0.625), ("b", 0.625)]
    _, rows = parquet.query(tmp_path, "select seed, step, loss from metrics where run = 'a'")
    assert rows[:5] == [(3, 0, 0), (3, 1, 2), (3, 2, 4), (3, 3, 6), (4, 0, 1)]
    _, rows = parquet.query(
        tmp_path,
        "select runs.run, config->>'learning_rate', step from validation join runs using (run) "
        "where seed = 4 and score > 0.35 order by 1",
    )
    assert rows == [("a", "0.1", 2), ("b", "0.2", 2)]


def test_a_run_from_elsewhere_is_taken_in(tmp_path):
    finished_run(tmp_path / "elsewhere" / "a")
    root = tmp_path / "runs"
    run = parquet.take_in(tmp_path / "elsewhere" / "a", root)
    assert run.path == root / "a"
    assert run.ensemble().seeds == (3, 4)
    assert parquet.query(root, "select count(*) from metrics")[1] == [(8,)]
    assert not (tmp_path / "elsewhere" / "a" / "metrics.parquet").exists()
    with pytest.raises(RunError, match="exists already"):
        parquet.take_in(tmp_path / "elsewhere" / "a", root)
    parquet.take_in(tmp_path / "elsewhere" / "a", root, force=True)
    parquet.take_in(root / "a", root)
    assert [r.name for r in runs.list_runs(root)] == ["a"]


def test_a_renamed_run_is_found_under_its_new_name(tmp_path):
    parquet.write(finished_run(tmp_path / "a"))
    shutil.move(tmp_path / "a", tmp_path / "it's b")
    assert parquet.query(tmp_path, "select distinct run from results")[1] == [("it's b",)]


def test_a_wrong_query_says_what_is_wrong(tmp_path):
    with pytest.raises(RunError, match="without runs"):
        parquet.query(tmp_path, "select 1")
    parquet.write(finished_run(tmp_path / "a"))
    with pytest.raises(RunError, match="loos"):
        parquet.query(tmp_path, "select loos from metrics")
