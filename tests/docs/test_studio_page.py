"""docs/how-to/read-a-report.md says of networks in a page what benchmarks/studio.json has."""

import json

import pytest
from pages import ROOT, one_line, read

from algoscope import programs, tasks
from algoscope.programs import Role
from algoscope.report import live

TASKS = {"bfs": "BFS", "bellman_ford": "Bellman-Ford", "dijkstra": "Dijkstra", "dfs": "DFS",
         "bridges": "bridges"}  # fmt: skip


@pytest.fixture(scope="module")
def measured() -> dict:
    return json.loads((ROOT / "benchmarks" / "studio.json").read_text())


@pytest.fixture(scope="module")
def page() -> str:
    return one_line(read("docs/how-to/read-a-report.md"))


def total(task: dict, what: str) -> int:
    return sum(family[what] for family in task["families"].values())


def test_it_is_said_by_what_each_part_was_made(measured):
    assert {"equal", "compiled", "time"} == measured["made"].keys() == measured.keys() - {"made"}
    assert all(made["commit"] and made["chromium"] for made in measured["made"].values())


def test_trained_networks_are_the_same_in_a_page(measured, page):
    """All that a page draws: 200 graphs of each of seven families."""
    assert list(measured["equal"]) == ["bfs", "dijkstra", "dfs"]
    largest = []
    for task in measured["equal"].values():
        assert len(task["families"]) == 7
        assert all(family["graphs"] == 200 for family in task["families"].values())
        assert total(task, "graphs with another decision") == 0
        largest += [f["largest difference of logits"] for f in task["families"].values()]
    assert max(largest) < 1e-3
    assert f"within {max(largest):.1e} of those in Python" in page


def test_compiled_programs_decide_the_same(measured, page):
    """Of tasks that are drawn and have a program, wherever the program is certain."""
    tables = measured["compiled"]
    assert len(tables) >= 11
    for name, task in tables.items():
        assert live.runs_in_page(tasks.get(name))
        assert programs.of_task(name, Role.REFERENCE)
        assert len(task["families"]) == (6 if name == "mst_kruskal" else 7)
        assert all(family["graphs"] == 200 for family in task["families"].values())
        assert total(task, "certain graphs with another decision") == 0

    def of_all(what: str) -> int:
        return sum(total(task, what) for task in tables.values())

    certain, other = of_all("certain"), of_all("other graphs with another decision")
    assert f"the compiled programs of {len(tables)} tasks decide as in Python" in page
    assert f"on all {certain:,} for which they are certain" in page
    assert f"on all but {other} of the {of_all('graphs') - certain:,} others" in page


def test_float16_is_chosen_where_it_changes_nothing(measured, page):
    for name, task in measured["equal"].items():
        changed = total(task, "graphs with another decision in float16")
        assert task["float16 is chosen"] == (changed == 0)
        assert f"{TASKS[name]} {changed}" in page


def test_how_soon_an_edge_is_seen(measured, page):
    tasks = measured["time"]

    def median(task: str, step: str, what: str) -> int:
        return tasks[task][step][what]["clock"]["median"]

    for name in tasks:
        told = f"{median(name, 'first', 'shown')} ms at the first step of {TASKS[name]}"
        assert told in page
    for name in ("bfs", "bellman_ford"):
        assert f"{median(name, 'last', 'shown')} ms at the last step of {TASKS[name]}" in page
    for name, told in (
        ("dfs", "painted after {} ms, and the networks after {} ms"),
        ("bridges", "has up to 91, after {} ms and {} ms"),
    ):
        soon = [median(name, "last", what) for what in ("drawn", "shown")]
        assert told.format(*soon) in page
        assert soon[0] < 100 < soon[1]
    assert tasks["dfs"]["last"]["steps"] == [47, 47]
    assert tasks["bridges"]["last"]["steps"][1] == 91
    assert measured["made"]["time"]["edges that are drawn"] == 10
