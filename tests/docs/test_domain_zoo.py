"""What the page on language models says of solvers is what their benchmark found."""

import collections
import json

import pytest
from pages import ROOT, one_line, read

_ROWS = json.loads((ROOT / "benchmarks" / "domain_zoo.json").read_text())
_LIMITED = {"from_below_3": "digit 4", "smallest_3": "number 3", "forward_3": "depth 3"}


def _kind(row: dict) -> str:
    word = row["verdict"].split()[0]
    if word not in ("runs", "approximates"):
        return word
    own = row["verdict"].split(" ", 1)[1].startswith(row["runs"].split(" for ")[0])
    partly = not row["algorithm"] and row["name"] not in (*_LIMITED, "noisy")
    limited = _LIMITED.get(row["name"], "") in row["verdict"]
    return "own" if own and not partly and limited else "wrong"


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: f"{row['task']}, {row['name']}")
def test_no_solver_is_said_to_run_what_it_does_not(row):
    assert _kind(row) != "wrong", row["verdict"]
    if row["name"].startswith("leak"):
        assert row["verdict"].startswith("undecided")


def test_the_page_counts_them():
    counts = collections.Counter(map(_kind, _ROWS))
    said = (
        f"Of {len(_ROWS)} solvers, {counts['own']} are said to run what they run, "
        f"{counts['shortcut']} are shortcuts and {counts['fails']} fail, {counts['undecided']} are "
        f"undecided, and {counts['wrong']} are misnamed"
    )
    assert said in one_line(read("docs/explanation/algeval.md"))
