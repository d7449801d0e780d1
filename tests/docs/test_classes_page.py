"""The page about classes of programs has what was measured."""

import importlib
import json

import pytest
from pages import ROOT, one_line, read, table

from algoscope.verdict import RUNS, SHORTCUT

PAGE = "docs/lab/classes.md"


def test_all_programs():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        classes = importlib.import_module("classes")
    measured = classes.table(classes.read(ROOT / "benchmarks/classes.json"))
    assert table(read(PAGE), "program", "differs on").rows == measured.rows


def test_words_of_some():
    judged = json.loads((ROOT / "benchmarks/judged.json").read_text())
    names = ("program", "role", "verdict", "tried", "wrong", "left_out")
    shown = table(read(PAGE), "program", "verdict", "tried")
    assert shown.rows == [[str(row[name]) for name in names] for row in judged]
    for row in judged:
        assert row["word"] != (RUNS if row["role"] == "wrong" else SHORTCUT), row


def test_a_trained_insertion_sort():
    judged = json.loads((ROOT / "benchmarks/judged_trained.json").read_text())
    small, large = (judged["accuracy"][size] for size in ("small", "large"))
    tried, wrong = judged["families"].values()
    for said in (
        f"names {judged['right_at_5']:.0%} of the predecessors".replace("%", " %"),
        f"{small:.1%} in the examination's small problems and {large:.1%} in".replace("%", " %"),
        f"on {wrong} of {tried} problems of the families",
        f"is *{judged['word']}*: {judged['conditions'][0]} (one network, seed {judged['seed']}",
    ):
        assert said in one_line(read(PAGE))
