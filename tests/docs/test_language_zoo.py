"""What the page on language models says of the zoo is what its benchmark found."""

import collections
import json

import pytest
from pages import ROOT, one_line, read

_ROWS = json.loads((ROOT / "benchmarks" / "language_zoo.json").read_text())
_NAMES = {
    "BFS beside backward search": "two searches beside each other",
    "BFS": "BFS",
    "DFS, last first": "DFS, last first",
    "DFS": "DFS",
    "backward search": "backward search",
    "test whether the start is the root": "backward search",
    "bidirectional search": "bidirectional search",
    "doubling of reachable sets": "doubling from the source",
    "doubling of sets of ancestors": "doubling from the goal",
    "pointer doubling from the goal": "doubling from the goal",
}
"""The algorithm that a subject may be said to run, by how its truth begins (the first that does);
no other may be named."""
_LIMITED = {f"{n} step": f"up to depth {n}" for n in (3, 4)}


def _kind(row: dict) -> str:
    word = row["verdict"].split()[0]
    if word not in ("runs", "approximates"):
        return word
    own = next((name for begins, name in _NAMES.items() if row["runs"].startswith(begins)), None)
    if own is None or not row["verdict"].split(" ", 1)[1].startswith(own):
        return "wrong"
    limits = [limit for steps, limit in _LIMITED.items() if f"for {steps}" in row["runs"]]
    if "root" in row["runs"]:
        limits.append("starts that no arrow leads to")
    return "own" if all(limit in row["verdict"] for limit in limits) else "wrong"


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: f"{row['name']}-{row['seed']}")
def test_no_subject_is_said_to_run_what_it_does_not(row):
    assert _kind(row) != "wrong", row["verdict"]
    if row["runs"].startswith(("50", "80", "95", "99", "100")):
        assert row["verdict"].startswith("undecided")


def test_the_page_counts_them():
    first = [row for row in _ROWS if row["seed"] == 0]
    counts = collections.Counter(map(_kind, first))
    said = (
        f"Of {len(first)} subjects that were judged, {counts['own']} are said to run what they "
        f"run, {counts['shortcut']} are shortcuts and {counts['fails']} fail, "
        f"{counts['undecided']} are undecided, and none is said to run anything else."
    )
    assert said in one_line(read("docs/explanation/algeval.md"))


def test_the_page_counts_other_seeds():
    others = [row for row in _ROWS if row["seed"] > 0]
    counts = collections.Counter(map(_kind, others))
    assert {row["seed"] for row in others} == {1, 2}
    said = (
        f"{len({row['name'] for row in others})} subjects that misled earlier verdicts were judged "
        f"with seeds 1 and 2 as well: {counts['own']} of {len(others)} are said to run what they "
        f"run, {counts['shortcut']} are shortcuts, {counts['undecided']} are undecided"
    )
    assert said in one_line(read("docs/explanation/algeval.md"))
