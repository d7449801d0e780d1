"""docs/explanation/performance.md has the numbers of results/training/h200.jsonl."""

import json

import pytest
from pages import ROOT, numbers, read, table

from algoscope.table import Table

TASKS = {"bfs": "BFS", "bellman_ford": "Bellman-Ford", "dfs": "DFS"}


@pytest.fixture(scope="module")
def records() -> list[dict]:
    lines = (ROOT / "results" / "training" / "h200.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def page() -> str:
    return read("docs/explanation/performance.md")


def _near(said: str, measured: float) -> bool:
    """Whether a cell is the measured number, rounded as it is written."""
    (number,) = numbers(said)[:1]
    digits = len(number.partition(".")[2])
    return abs(float(number) - measured) <= (
        0.501 * 10**-digits if digits else measured * 0.005 + 0.5
    )


def _row(shown: Table, name: str) -> list[str]:
    (found,) = [cells for cells in shown.rows if cells[0] == name]
    return found


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("repeated", "steps"), [("", "--steps 10"), ("once more, ", "--steps 20")])
def test_against_dm_clrs(records, page, task, repeated, steps):
    (record,) = [r for r in records if r["task"] == task and f"--seeds 128 {steps}" in r["command"]]
    shown = table(page, "ms a step of 128 seeds", "seed-steps a second")
    cells = dict(zip(shown.columns, _row(shown, f"{repeated}{TASKS[task]}"), strict=True))
    assert _near(cells["ms a step of 128 seeds"], record["ours, ms per step"])
    assert _near(cells["seed-steps a second"], record["seed-steps per second"])
    assert _near(cells["dm-clrs, ms a step of one seed"], record["dm-clrs, ms per step"])
    assert _near(cells["ratio"], record["ratio"])
    assert _near(cells["with its drawing of a batch"], record["ratio with its drawing"])


def test_growth_with_seeds_and_nodes(records, page):
    shown = table(page, "seeds at once, n = 16")
    growth = [r for r in records if "--seeds 1 8 32 128 512" in r["command"]]
    assert shown.columns[1:] == [str(r["seeds"]) for r in growth]
    rows = {
        "ms a step": "ours, ms per step",
        "seed-steps a second": "seed-steps per second",
        "times dm-clrs's step": "ratio",
    }
    for row, field in rows.items():
        for said, record in zip(_row(shown, row)[1:], growth, strict=True):
            assert _near(said, record[field]), (row, said, record[field])
    shown = table(page, "n, 8 seeds")
    growth = [r for r in records if "--size 16 64 256 1024" in r["command"]]
    assert shown.columns[1:] == [str(r["size"]) for r in growth]
    for said, record in zip(_row(shown, "ms a step")[1:], growth, strict=True):
        assert _near(said, record["ours, ms per step"])
