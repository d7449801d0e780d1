"""Folders of many runs: lists come from an index, tables from consolidated files, and both follow
what changes."""

import json
import os
import pathlib
import shutil
import time

import pytest
from finished import finished_run

from algoscope.files import write_bytes
from algoscope.runs import index, parquet
from algoscope.runs.description import State
from algoscope.runs.words import Words

COUNT = index.MANY + 6
_MEANS = "select run, avg(value) from results where name = 'test' group by run order by run"
_STEPS = "select run, step, sum(score) from validation group by run, step order by run, step"
_WORDS = "select run, seed, task, word, problems from verdicts order by run, seed"


@pytest.fixture
def many(tmp_path) -> pathlib.Path:
    """A folder of runs that were finished a while ago, most of them judged."""
    root = tmp_path / "runs"
    first = finished_run(root / "r000")
    parquet.write(first)
    for number in range(1, COUNT):
        shutil.copytree(root / "r000", root / f"r{number:03d}")
    for number in (number for number in range(COUNT) if number % 16 != 1):
        Words(40, {"bfs": ["runs", "fails"]}).write(root / f"r{number:03d}")
    for path in root.rglob("*"):
        os.utime(path, (time.time() - 60,) * 2)
    return root


def set_score(run: pathlib.Path, value: float) -> None:
    results = json.loads((run / "results.json").read_text())
    for name in ("test", "fresh", "seen"):
        results[name]["bfs"]["score"] = [value, value]
    write_bytes(run / "results.json", json.dumps(results).encode())


def facts(root: pathlib.Path) -> dict[str, tuple]:
    return {entry.name: (entry.state, entry.facts, entry.step) for entry in index.entries(root)}


def test_a_list_is_the_same_from_the_index_and_from_the_runs(many):
    read = facts(many)
    assert len(read) == COUNT
    assert (many / ".index.json").is_file()
    assert facts(many) == read
    assert read["r000"][1].judged_on == 40
    assert read["r001"][1].judged_on is None


def test_an_index_is_what_is_read(many):
    """Positive control: with other files and old stamps the list is what the index says."""
    index.entries(many)
    content = json.loads((many / ".index.json").read_text())
    content["facts"]["r003"][4] = "as the index has it"
    (many / ".index.json").write_text(json.dumps(content))
    assert facts(many)["r003"][1].created == "as the index has it"


def test_lists_follow_what_changes(many):
    before = facts(many)
    set_score(many / "r003", 0.125)
    shutil.rmtree(many / "r004")
    shutil.copytree(many / "r005", many / "another")
    (many / "r006" / "results.json").write_text("{")
    Words(7, {"bfs": ["fails", "fails"]}).write(many / "r007")
    after = facts(many)
    assert after["r003"][1].test == [0.125]
    assert "r004" not in after
    assert after["another"][0] is State.FINISHED
    assert after["r006"][0] is State.DAMAGED
    assert after["r007"][1].judged_on == 7
    changed = {"r003", "r004", "r006", "r007", "another"}
    assert {name: before[name] for name in before if name not in changed} == {
        name: after[name] for name in after if name not in changed
    }


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 2, "moment": 0, '
                                  '"stamps": {"r001": 3}, "facts": {"r001": 3}}'])  # fmt: skip
def test_an_index_that_is_damaged_is_made_anew(many, text):
    read = facts(many)
    (many / ".index.json").write_text(text)
    assert facts(many) == read
    assert json.loads((many / ".index.json").read_text())["facts"].keys() == read.keys()


@pytest.mark.parametrize("said", ["3", [], [[1]], {"tasks": ["bfs"]}, None])
@pytest.mark.parametrize("field", [None, 0, 2, 6])
def test_what_an_index_says_of_a_run_is_not_believed_if_it_is_damaged(many, said, field):
    read = facts(many)
    content = json.loads((many / ".index.json").read_text())
    if field is None:
        content["facts"]["r003"] = said
    else:
        content["facts"]["r003"][field] = said if said != [] else [None]
    (many / ".index.json").write_text(json.dumps(content))
    assert facts(many) == read
    (many / ".index.json").write_text(json.dumps(content | {"moment": said}))
    assert facts(many) == read


def test_consolidated_tables_answer_as_the_runs_do(many):
    plain = many.parent / "few"
    for number in range(6):
        shutil.copytree(many / f"r{number:03d}", plain / f"r{number:03d}")
    for sql in (_MEANS, _STEPS, _WORDS):
        expected = [row for row in parquet.query(plain, sql).rows if row[0] < "r006"]
        for _ in range(2):
            answer = [row for row in parquet.query(many, sql).rows if row[0] < "r006"]
            assert answer == expected != []
    assert not (plain / ".tables").exists()
    names = {path.name for path in (many / ".tables").iterdir()}
    assert names == {f"{n}.{s}" for n in ("results", "validation", "verdicts")
                     for s in ("json", "parquet")}  # fmt: skip


def test_a_consolidated_table_is_what_is_read(many):
    """Positive control: rows that are gone from a run's own file, whose stamp is kept."""
    before = parquet.query(many, _MEANS).rows
    file = many / "r003" / "results.parquet"
    held = os.stat(file)
    with file.open("r+b") as opened:
        opened.write(b"XXXX")
    os.utime(file, ns=(held.st_atime_ns, held.st_mtime_ns))
    assert parquet.query(many, _MEANS).rows == before
    shutil.rmtree(many / ".tables")
    assert len(parquet.query(many, _MEANS).rows) == COUNT - 1


def test_queries_follow_what_changes(many):
    rows = parquet.query(many, _MEANS).rows
    made = (many / ".tables" / "results.json").stat().st_mtime_ns
    set_score(many / "r003", 0.125)
    parquet.write(index.open_run(many / "r003"))
    shutil.rmtree(many / "r004")
    shutil.copytree(many / "r003", many / "another")
    expected = dict(rows)
    # The mean of the score and of the answer's own, which stays as it was.
    expected["r003"] = expected["another"] = (0.125 * 2 + 0.5 + 0.75) / 4
    del expected["r004"]
    assert dict(parquet.query(many, _MEANS).rows) == expected
    assert (many / ".tables" / "results.json").stat().st_mtime_ns == made, "three are read as such"
    for number in range(100, 100 + COUNT):
        shutil.copytree(many / "r003", many / f"r{number}")
    assert len(parquet.query(many, _MEANS).rows) == 2 * COUNT
    assert (many / ".tables" / "results.json").stat().st_mtime_ns > made
    assert dict(parquet.query(many, _MEANS).rows)["r001"] == expected["r001"]


def test_a_table_whose_manifest_is_damaged_is_made_anew(many):
    rows = parquet.query(many, _MEANS).rows
    (many / ".tables" / "results.json").write_text('{"format": 1, "moment": "x", "stamps": []}')
    assert parquet.query(many, _MEANS).rows == rows


def test_a_query_that_may_write_sees_consolidated_tables(many):
    target = many.parent / "copy.csv"
    parquet.query(many, f"copy (select * from verdicts) to '{target}'", write=True)
    judged = sum(number % 16 != 1 for number in range(COUNT))
    assert len(target.read_text().splitlines()) == 1 + 2 * judged


def test_the_runs_of_a_sweep_are_asked_by_its_name(tmp_path):
    finished_run(tmp_path / "a")
    _, rows = parquet.query(tmp_path, "select run, sweep, seconds >= 0 from runs")
    assert rows == [("a", "", True)]


def test_a_long_list_is_plain_text(algoscope, many, monkeypatch):
    monkeypatch.setattr("algoscope.verbs.output._MOST_DRAWN", COUNT - 1)
    plain = algoscope("runs", "list", "--root", str(many)).splitlines()
    assert plain[0] == f"{COUNT} runs in {many}"
    assert plain[1].split()[:3] == ["run", "tasks", "seeds"]
    assert plain[2].split()[:5] == ["r000", "bfs", "2", "4/4", "finished"]
