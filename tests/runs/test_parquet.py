"""Tables of runs: Parquet, queries across runs, import."""

import contextlib
import os
import shutil
import signal
import threading
from collections.abc import Iterator

import duckdb
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
    with pytest.raises(RunError, match=r"holds a finished run.*--force"):
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


@pytest.mark.parametrize(
    "sql",
    [
        "copy runs to '{folder}/copy.csv'",
        "export database '{folder}/database'",
        "attach '{folder}/other.duckdb'",
        "select * from read_csv('{folder}/private.csv')",
        "select * from '{folder}/private.csv'",
        "select * from glob('{folder}/*')",
        "select * from root",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "reset lock_configuration",
    ],
)
def test_a_query_reaches_the_tables_alone(tmp_path, sql):
    folder, root = tmp_path / "elsewhere", tmp_path / "runs"
    folder.mkdir()
    (folder / "private.csv").write_text("a,b\n1,2\n")
    parquet.write(finished_run(root / "a"))
    with pytest.raises(RunError, match="query: ") as error:
        parquet.query(root, sql.format(folder=folder))
    assert "\n" not in str(error.value)
    assert [path.name for path in folder.iterdir()] == ["private.csv"]


def test_tables_that_a_query_does_not_name_are_listed_all_the_same(tmp_path):
    parquet.write(finished_run(tmp_path / "a"))
    _, rows = parquet.query(tmp_path, "show tables")
    tables = {"runs", "metrics", "validation", "results", "verdicts", "abilities"}
    assert {name for (name,) in rows} == tables


def test_a_query_that_may_write_copies_to_a_file(tmp_path):
    parquet.write(finished_run(tmp_path / "runs" / "a"))
    target = tmp_path / "copy.csv"
    sql = f"copy (select distinct run from metrics) to '{target}'"
    with pytest.raises(RunError, match="--write allows more"):
        parquet.query(tmp_path / "runs", sql)
    parquet.query(tmp_path / "runs", sql, write=True)
    assert target.read_text() == "run\na\n"


def _as_other_columns(path):
    with duckdb.connect() as connection:
        connection.execute(f"copy (select 1 as other) to '{path}' (format parquet)")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-7]),
        lambda path: path.write_bytes(b"PAR1" + b"x" * 100 + b"PAR1"),
        lambda path: path.write_bytes(path.read_bytes()[:4] + path.read_bytes()[40:]),
        _as_other_columns,
    ],
)
def test_a_damaged_table_is_left_out_and_named(tmp_path, damage, capsys):
    for name in ("a", "b"):
        parquet.write(finished_run(tmp_path / name))
    sql = "select run, count(*) from results group by run order by run"
    [whole, _] = parquet.query(tmp_path, sql).rows
    damage(tmp_path / "b" / "results.parquet")
    assert parquet.query(tmp_path, sql).rows == [whole]
    told = capsys.readouterr().err
    assert f"{tmp_path / 'b' / 'results.parquet'}: cannot be read, its rows are left out" in told
    parquet.take_in(tmp_path / "b", tmp_path)  # As the line says.
    assert len(parquet.query(tmp_path, sql).rows) == 2


@pytest.mark.parametrize("sql", ["", " ", ";", "-- nothing"])
def test_a_query_that_asks_for_nothing_is_refused(tmp_path, sql):
    parquet.write(finished_run(tmp_path / "a"))
    with pytest.raises(RunError, match=r"query: got .*needed a select"):
        parquet.query(tmp_path, sql)


@contextlib.contextmanager
def ctrl_c_soon() -> Iterator[None]:
    """Heard by Python's own handler: not by what a command of an earlier test has left, nor by
    nobody, since a shell has its background ignore the key."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    try:
        yield
    finally:
        pressed.join()
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_query_that_takes_long(tmp_path):
    parquet.write(finished_run(tmp_path / "a"))
    with pytest.raises(KeyboardInterrupt), ctrl_c_soon():
        parquet.query(tmp_path, "select count(*) from range(100000000000000)")


def test_ctrl_c_ends_a_query_while_its_answer_is_taken():
    with duckdb.connect() as connection, pytest.raises(KeyboardInterrupt), ctrl_c_soon():
        parquet._answer(connection, "select * from range(1000000000000)")


def test_an_answer_that_would_fill_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(parquet.capacity, "available", lambda: 10**6)
    with duckdb.connect() as connection, pytest.raises(ValueError, match="more than 10,000 rows"):
        parquet._answer(connection, "select * from range(20000)")
