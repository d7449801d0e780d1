"""The registry of abilities: typed, listed with the runs, asked in SQL."""

import json
import math

import pytest
from finished import finished_run

from algoscope.files import RunError
from algoscope.runs import index, parquet
from algoscope.runs.abilities import FILE, Abilities, Found, shown

ROWS = [
    Found("m", "algorithm", "BFS", "runs", ["step 1"], 0.9, 0.8, 1.0, math.nan, "60 items"),
    Found("m", "primitive", "copy", "looks only", ["0.1", "2.3"], 0.0, 0.0, 0.1, 0.4, "40 tasks"),
]


def test_they_are_read_as_they_were_written_and_asked_in_sql(tmp_path):
    parquet.write(finished_run(tmp_path / "plain"))
    finished_run(tmp_path / "study")
    Abilities(ROWS).write(tmp_path / "study")
    read = Abilities.read(tmp_path / "study")
    assert [row.row[:5] for row in read.found] == [row.row[:5] for row in ROWS]
    assert math.isnan(read.found[0].p)
    assert [shown(row) for row in read.found] == [True, False]
    columns, rows = parquet.query(
        tmp_path,
        "select run, model, ability, heads, share, p is null from abilities order by share",
    )
    assert columns[:2] == ["run", "model"]
    assert rows == [
        ("study", "m", "copy", "0.1, 2.3", 0.0, False),
        ("study", "m", "BFS", "step 1", 0.9, True),
    ]
    assert parquet.query(tmp_path / "plain", "select count(*) from abilities")[1] == [(0,)]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda rows: {"found": 3}, "abilities.found"),
        (lambda rows: {"found": [{**rows[0], "share": "much"}]}, "share"),
        (lambda rows: {"found": [{**rows[0], "kind": "miracle"}]}, "kind"),
    ],
)
def test_a_damaged_registry_is_named(tmp_path, damage, said):
    finished_run(tmp_path / "study")
    Abilities(ROWS).write(tmp_path / "study")
    path = tmp_path / "study" / FILE
    path.write_text(json.dumps(damage(json.loads(path.read_text())["found"])))
    with pytest.raises(RunError, match=said):
        Abilities.read(tmp_path / "study")
    [entry] = index.entries(tmp_path)
    assert entry.state == "damaged"
    assert FILE in entry.fault
