"""The page about exactness has the sizes of the compiled programs, and what was measured."""

import json

from pages import ROOT, read, table

from algoscope import networks, programs, tasks
from algoscope.programs.compiler import compile_program


def test_sizes_of_programs():
    shown = table(read("docs/explanation/exactness.md"), "program", "rounds", "64 nodes, even")
    assert len(shown.rows) == 20
    for name, *sizes, _, _ in shown.rows:
        network = compile_program(programs.get(name)).network
        config = network.config
        parameters = sum(array.size for array in networks.arrays(network).values())
        assert sizes == [*map(str, (config.width, config.heads, config.rounds)), f"{parameters:,}"]


def test_hints_of_pairs_that_no_sum_shows():
    shown = table(read("docs/explanation/exactness.md"), "task", "hint", "beyond any sum")
    measured = json.loads((ROOT / "benchmarks/pairs.json").read_text())
    assert shown.rows == [
        [
            row["task"],
            row["hint"],
            *(str(row[name]) for name in ("nodes", "steps", "beyond")),
            f"{row['bound']:.4f}",
            f"{row['problems_beyond']} of {row['problems']}",
        ]
        for row in measured
    ]
    at_eleven = [row for row in measured if row["nodes"] >= 11]
    assert all((row["problems_beyond"] > 0) is not row["has_program"] for row in at_eleven)
    assert {row["task"] for row in measured if not row["has_program"]} == {
        name for name in tasks.names() if name not in programs.tasks_with_references()
    }
