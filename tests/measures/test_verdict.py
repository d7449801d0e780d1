"""The verdict: its rules, and subjects without a network whose truth is known."""

import dataclasses
import json
import math
import pathlib

import jax
import numpy as np
import pytest
from measures.conftest import interpreted

from algoscope import measures, networks, programs, tasks
from algoscope.measures import summary, verdict
from algoscope.measures.evidence import gather
from algoscope.measures.examination import examination
from algoscope.measures.verdict import SOLVES, THRESHOLDS, decide
from algoscope.programs.interpreter import interpret

ROOT = pathlib.Path(__file__).parents[2]
RIGHT = {"small": 1.0, "large": 1.0}
PERFECT = dict.fromkeys(THRESHOLDS, 1.0)


def test_everything_right_is_runs():
    assert decide(RIGHT, PERFECT) == ("runs", [])


def test_wrong_answers_at_both_sizes_fail_whatever_else_is_right():
    below = SOLVES - 0.01
    assert decide({"small": below, "large": 0.2}, PERFECT)[0] == "fails"
    assert decide({"small": below, "large": 1.0}, PERFECT)[0] == "runs"


def test_the_documentation_has_the_thresholds():
    """Rows of a table: | moves small, large, deep | … | .98 | .95 |"""
    text = (pathlib.Path(__file__).parents[2] / "docs" / "verdict.md").read_text()
    section = text.partition("## The twelve numbers")[2].partition("\n## ")[0]
    cells = [line.strip("|").split("|") for line in section.splitlines() if line[:1] == "|"][2:]
    written = {}
    for label, _, *numbers in cells:
        name, _, places = label.strip().partition(" ")
        for key in [f"{name}_{place}" for place in places.split(", ")] if places else [name]:
            written[key] = tuple(float(number) for number in numbers)
    assert written == THRESHOLDS


@pytest.mark.parametrize("name", THRESHOLDS)
def test_each_number_alone_can_cast_doubt_and_all_but_interchange_contradict(name):
    runs_from, below = THRESHOLDS[name]
    between = (runs_from + below) / 2
    assert decide(RIGHT, PERFECT | {name: between})[0] == "undecided"
    word, reasons = decide(RIGHT, PERFECT | {name: max(0.0, below - 0.01)})
    if name == "interchange":
        assert (word, reasons) == ("undecided", ["interchange 0.000, below 0.7"])
    else:
        assert (word, reasons) == ("shortcut", [f"{name} {below - 0.01:.3f}, below {below:g}"])


def test_what_does_not_apply_is_left_out_and_what_is_needed_is_missed():
    none = float("nan")
    assert decide(RIGHT, PERFECT | {"flips": none, "interchange": none})[0] == "runs"
    word, reasons = decide(RIGHT, PERFECT | {"moves_small": none})
    assert (word, reasons) == ("undecided", ["moves_small was not measured"])


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("bfs_locked", "runs"),
        ("bfs_two_heads", "runs"),
        ("bfs_two_hops", "shortcut"),
        ("bfs_leaping", "shortcut"),
        ("bfs_highest", "fails"),
    ],
)
def test_known_mechanisms_of_bfs(name, word):
    judgement = measures.judge(interpreted(name), "bfs")
    assert judgement.word == word, judgement.reasons
    assert judgement.evidence.interchange is None


@pytest.mark.parametrize(
    ("name", "word"), [("minimum_by_state", "runs"), ("minimum_at_once", "shortcut")]
)
def test_known_mechanisms_of_a_task_without_edges(name, word):
    assert measures.judge(interpreted(name), "minimum").word == word


def test_sparse_graphs_show_what_happens_after_the_first_tree():
    """Depth-first search that goes on with the last unvisited node instead of the first."""
    program = programs.load(ROOT / "benchmarks/programs/blind/dfs_highest_root.program")
    exam = examination("dfs", 0, small_count=6, large_count=1)
    evidence = gather(lambda batch: jax.tree.map(np.asarray, interpret(program, batch)), exam)
    numbers = verdict.tested(evidence)
    assert {numbers[f"moves_{place}"] for place in ("small", "large", "deep")} == {1.0}
    word, reasons = decide(evidence.accuracy, numbers)
    assert word == "shortcut"
    assert reasons[0].startswith("moves_sparse")


def test_the_nearest_reference_is_named_and_the_class_is_at_distance_zero():
    judgement = measures.judge(interpreted("bfs_self"), "bfs")
    assert judgement.reference == "bfs_self"
    assert judgement.evidence.nearest.eq24 == 0
    assert {gap.reference for gap in judgement.evidence.internal} == {
        "bfs",
        "bfs_locked",
        "bfs_self",
    }


def test_a_subject_without_hints_is_undecided():
    def silent(batch):
        return dataclasses.replace(interpreted("bfs")(batch), hints={})

    judgement = measures.judge(silent, "bfs")
    assert judgement.word == "undecided"
    assert "moves_small was not measured" in judgement.reasons


def test_a_judgement_as_json_and_as_a_table():
    judgement = measures.judge(interpreted("bfs"), "bfs")
    content = json.loads(json.dumps(summary.as_json(judgement), allow_nan=False))
    assert content["verdict"] == "runs"
    assert content["internal"]["bfs"]["eq24"] == 0
    assert content["internal"]["bfs_locked"]["decisive"]["total_variation"] == 0
    assert content["tested"]["flips"] is None
    scaled = content["scaled_over_decisive_rows"]
    assert set(scaled) == {"uniform", "permuted", "wrong"}
    assert [null["l1"]["scaled"] for null in scaled.values()] == [1, 1, 1]
    table = summary.table("bfs", {"mine": judgement})
    assert table.columns == ["", "mine", "runs from", "shortcut below"]
    assert {len(row) for row in table.rows} == {4}
    many = summary.seeds_table("bfs", {f"seed {k}": judgement for k in range(3)})
    assert len(many.rows) == 3
    assert many.rows[0][1] == "runs"


def test_bad_subjects_are_refused_with_what_is_needed():
    network = networks.skeleton(tasks.get("dfs"), networks.NetworkConfig(width=4))
    with pytest.raises(ValueError, match="needed those of bfs: pos, s, A, adj"):
        measures.judge(network, "bfs")
    with pytest.raises(measures.NoReferenceError, match="no exact program"):
        measures.judge(interpreted("bfs"), "heapsort")

    def other_batch(batch):
        del batch
        return interpreted("bfs")(tasks.sample("bfs", 4, 2))

    with pytest.raises(ValueError, match="record both on one batch"):
        measures.judge(other_batch, "bfs")


def test_numbers_are_finite_where_they_apply():
    tested = measures.judge(interpreted("bellman_ford_self"), "bellman_ford").tested
    assert [name for name, value in tested.items() if math.isnan(value)] == ["interchange"]
    assert np.min([v for v in tested.values() if not math.isnan(v)]) == 1
