"""What the page on language models says of the zoo is what its benchmark found."""

import collections
import itertools
import json

import pytest
from pages import ROOT, one_line, read

from algoscope.llm.scripted.late_strangers import LATE_STRANGERS
from algoscope.llm.scripted.strangers import STRANGERS

_ROWS, _STRANGERS = (
    json.loads((ROOT / "benchmarks" / f"language_{name}.json").read_text())
    for name in ("zoo", "strangers")
)
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
_LIMITED = {f"for {n} step": f"up to depth {n}" for n in (3, 4)} | {
    "root": "starts that no arrow leads to",
    "one parent": "one way to each node",
    "first edge into each": "one way to each node",
    "ignores the arrows in its first step": "goals below the start or in another part",
    "first twelve edges": "up to 7 nodes a part, one way to each node",
    "DFS for 6 steps": "7 nodes a part",
    "first twenty edges": "10 nodes a part",
    "circle of three": "one way to each node",
}
"""Where a subject is right, by a part of its truth; the verdict has to say so."""


def _kind(row: dict) -> str:
    word = row["verdict"].split()[0]
    if word not in ("runs", "approximates"):
        return word
    own = next((name for begins, name in _NAMES.items() if row["runs"].startswith(begins)), None)
    if own is None or not row["verdict"].split(" ", 1)[1].startswith(own):
        return "wrong"
    limits = [limit for part, limit in _LIMITED.items() if part in row["runs"]]
    return "own" if all(limit in row["verdict"] for limit in limits) else "wrong"


@pytest.mark.parametrize(
    "row", [*_ROWS, *_STRANGERS], ids=lambda row: f"{row['name']}-{row['seed']}"
)
def test_no_subject_is_said_to_run_what_it_does_not(row):
    assert _kind(row) != "wrong", row["verdict"]
    if row["runs"].startswith(("50", "80", "95", "97", "99", "100", "an oracle", "levels")):
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


@pytest.mark.parametrize(
    ("mechanisms", "seeds", "said"),
    [
        (STRANGERS, (0, 1, 2), "The first half, three seeds each, before anything was changed"),
        (LATE_STRANGERS, (0,), "The other half, seed 0, afterwards"),
    ],
)
def test_the_page_counts_strangers(mechanisms, seeds, said):
    names = {mechanism.name for mechanism in mechanisms}
    rows = [row for row in _STRANGERS if row["name"] in names]
    assert {(row["name"], row["seed"]) for row in rows} == set(itertools.product(names, seeds))
    counts = collections.Counter(map(_kind, rows))
    said = (
        f"{said}: {counts['own']} of {len(rows)} are said to run what they run, "
        f"{counts['shortcut']} are shortcuts, {counts['fails']} fail, "
        f"{counts['undecided']} are undecided."
    )
    assert said in one_line(read("docs/explanation/algeval.md"))


_FIRST, _MENDED = (
    json.loads((ROOT / "benchmarks" / f"language_impostors{when}.json").read_text())
    for when in ("_first", "")
)
_GOES_AGAINST = "goals below the start or in another part"
_UNSEEN = {"bfs_beam_4", "bfs_twenty_edges", "bfs_without_circles"}
"""Those that no question broke at first, but for ways that are too long."""


def test_the_page_counts_impostors():
    by_name = {row["name"]: row for row in _FIRST}
    against = {row["name"] for row in _FIRST if _GOES_AGAINST in row["region"]}
    named = [row["name"] for row in _FIRST if row.get("verdict", "").startswith("runs")]
    assert named == ["undirected_deeper"]
    assert {by_name[name]["region"] for name in _UNSEEN} == {"depth 8"}
    mended = {row["name"]: row for row in _MENDED}
    assert all(mended[name]["region"] != "depth 8" for name in _UNSEEN)
    assert all(mended[name]["unmet"] for name in against)
    judged = [row["verdict"].split()[0] for row in _MENDED if "verdict" in row]
    counts = collections.Counter(judged)
    said = (
        f"Of {len(_FIRST)} whose answers were examined before anything was changed, seed 0, "
        f"{len(_UNSEEN)} were given a region that is too large, and {len(against)} one without "
        "goals that arrows lead away from"
    )
    page = one_line(read("docs/explanation/algeval.md"))
    assert said in page
    said = f"Of {len(judged)} that were judged in full since, {counts['undecided']} are undecided"
    assert said in page


@pytest.mark.parametrize("row", _MENDED, ids=lambda row: f"{row['name']}-{row['seed']}")
def test_no_impostor_is_said_to_run_what_it_does_not(row):
    assert _GOES_AGAINST not in row.get("region", "") or row["unmet"]
    if "verdict" in row:
        assert _kind(row) != "wrong", row["verdict"]
        if row["runs"].startswith(("60", "an oracle", "BFS if", "BFS for 2 steps, and")):
            assert row["verdict"].startswith("undecided")
