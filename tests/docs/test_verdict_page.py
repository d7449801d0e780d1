"""The pages about the verdict have the thresholds of the code and the numbers of benchmarks/."""

import contextlib
import io
import math
import runpy
import sys

import pytest
from pages import ROOT, cell, one_line, read, table, tables

from algoscope.measures.thresholds import CRITERIA, PLACES, SOLVES
from algoscope.verdict import FAILS, RUNS, SHORTCUT, UNDECIDED

SETS = ("Tuning half", "Test half", "Blind programs")


@pytest.fixture(scope="module")
def page() -> str:
    return read("docs/explanation/verdict.md")


@pytest.fixture(scope="module")
def lab() -> str:
    return read("docs/lab/verdict.md")


def _printed(benchmark: str, verb: str) -> str:
    """What `python benchmarks/NAME.py VERB benchmarks/NAME.json` prints."""
    text = io.StringIO()
    script = ROOT / "benchmarks" / f"{benchmark}.py"
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(text):
        patch.syspath_prepend(script.parent)
        patch.setattr(sys, "argv", [script.name, verb, str(script.with_suffix(".json"))])
        runpy.run_path(str(script), run_name="__main__")
    return text.getvalue()


@pytest.fixture(scope="module")
def confusion() -> str:
    return _printed("zoo", "report")


def test_thresholds(page):
    shown = table(page, "number", "runs from", "shortcut below")
    rows = {"moves": [f"moves_{place}" for place in PLACES]}
    rows |= {"reads": [f"reads_{place}" for place in PLACES]}
    rows |= {name: [name] for name in ("effect", "still", "flips", "interchange")}
    assert sorted(name for names in rows.values() for name in names) == sorted(CRITERIA)
    assert len(shown.rows) == len(rows)
    for row, names in rows.items():
        for name in names:
            limits = CRITERIA[name]
            assert math.isclose(float(cell(shown, row, "runs from")), limits.runs_from)
            assert math.isclose(float(cell(shown, row, "shortcut below")), limits.shortcut_below)
    assert f"the score of the answers is below {str(SOLVES).lstrip('0')} at both sizes" in page


def test_the_lab_notes_show_what_the_zoo_reports(lab, confusion):
    sections = confusion.strip().split("### ")[1:]
    assert len(sections) == 2 * len(SETS)
    for section in sections:
        assert section.strip() in lab


def test_the_lab_notes_show_every_program(lab):
    rows = _printed("zoo", "programs").splitlines()[2:]
    assert len(rows) == 44
    assert "\n".join(rows) in lab


def test_the_page_sums_up_the_confusion_tables(page, confusion):
    shown = table(page, "problem set", "right", "wrong", "undecided")
    words = (RUNS, SHORTCUT, FAILS)
    confusions = tables(confusion)
    totals = {"subjects": 0, "right": 0, "wrong": 0, UNDECIDED: 0}
    for row, made in zip(shown.rows, confusions, strict=True):
        counts = [[int(count) for count in line[1:]] for line in made.rows]
        right = sum(counts[k][k] for k in range(len(words)))
        undecided = sum(line[-1] for line in counts)
        subjects = sum(map(sum, counts))
        wrong = subjects - right - undecided
        assert row[1] == str(subjects)
        assert row[3:] == [str(right), str(wrong), str(undecided)]
        for name, count in zip(totals, (subjects, right, wrong, undecided), strict=True):
            totals[name] += count
    assert totals["wrong"] == 1
    assert (
        f"{totals['subjects']} compiled networks exist. {totals['right']} got the right word, "
        f"{totals[UNDECIDED]} remained undecided"
    ) in one_line(page)


def test_the_lab_notes_show_the_trained_networks(lab):
    shown = [made for made in tables(lab) if made.rows[0][0] == "verdict"]
    measured = tables(_printed("trained", "report"))
    assert len(shown) == len(measured) == 2
    by_columns = {tuple(made.columns): made.rows for made in measured}
    for made in shown:
        assert made.rows == by_columns[tuple(made.columns)]
