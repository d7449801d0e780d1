"""The pages about the verdict have the thresholds of the code and the numbers of benchmarks/."""

import contextlib
import importlib
import io
import json
import math
import runpy
import sys
from collections import Counter

import pytest
from pages import ROOT, cell, one_line, read, table, tables

from algoscope.falsify.families import NUMBERS, WEIGHTS
from algoscope.falsify.structures import STRUCTURES
from algoscope.measures.thresholds import CRITERIA, PLACES, RARE, SOLVES
from algoscope.verdict import APPROXIMATES, FAILS, RUNS, SHORTCUT, UNDECIDED, WORDS

SECOND = "held_out_2_first"
"""The second held-out set, as it was judged before anything was changed."""
THIRD = "held_out_3_first"
"""The third one."""


@pytest.fixture(scope="module")
def page() -> str:
    return read("docs/explanation/verdict.md")


@pytest.fixture(scope="module")
def lab() -> str:
    return read("docs/lab/verdict.md")


def _printed(benchmark: str, verb: str, results: str = "") -> str:
    """What `python benchmarks/NAME.py VERB benchmarks/RESULTS.json` prints; the results have the
    benchmark's name if none is given."""
    text = io.StringIO()
    script = ROOT / "benchmarks" / f"{benchmark}.py"
    measured = script.with_name(f"{results or benchmark}.json")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(text):
        patch.syspath_prepend(script.parent)
        patch.setattr(sys, "argv", [script.name, verb, str(measured)])
        runpy.run_path(str(script), run_name="__main__")
    return text.getvalue()


def test_thresholds(page):
    shown = table(page, "number", "runs from", "shortcut below")
    rows = {"moves": [f"moves_{place}" for place in PLACES]}
    rows |= {"reads": [f"reads_{place}" for place in PLACES]}
    rows |= {name: [name] for name in ("effect", "still", "flips", "agreement")}
    assert sorted(name for names in rows.values() for name in names) == sorted(CRITERIA)
    assert len(shown.rows) == len(rows)
    for row, names in rows.items():
        for name in names:
            limits = CRITERIA[name]
            assert math.isclose(float(cell(shown, row, "runs from")), limits.runs_from)
            assert math.isclose(float(cell(shown, row, "shortcut below")), limits.shortcut_below)
    assert f"the score of the answers is below {str(SOLVES).lstrip('0')} at 16 and at 64" in page


def test_every_word_is_explained(page):
    shown = table(page, "word", "meaning")
    assert [row[0].strip("*").removesuffix(" …").replace(" X", "") for row in shown.rows] == list(
        WORDS
    )


def test_the_bound_on_what_is_rare_lies_between_what_the_tuning_half_has(page):
    """Above all exact programs, below all shortcuts that something else contradicts."""
    stored = json.loads((ROOT / "benchmarks/zoo.json").read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        zoo = importlib.import_module("zoo")
    tuning = [(key, r) for key, r in stored.items() if key.split("/")[0] in zoo.tuning_half()]
    exact = max(r["rate"] for key, r in tuning if zoo.is_exact(key.split("/")[0]))
    shortcut = min(r["rate"] for _, r in tuning if r["word"] == SHORTCUT)
    assert exact < RARE < shortcut
    text = one_line(page)
    assert f"on at most {100 * RARE:g} % of the families' problems" in text
    assert f"differ on up to {100 * exact:.1f} %, its *shortcuts* on {100 * shortcut:.1f} %" in text


@pytest.mark.parametrize("name", ["zoo", "trained_zoo", SECOND, THIRD])
def test_what_approximates_disagrees_rarely(name):
    stored = json.loads((ROOT / "benchmarks" / f"{name}.json").read_text()).values()
    assert max(r["rate"] for r in stored if r and r["word"] == APPROXIMATES) <= RARE


def test_structures_and_rules_are_counted(page):
    text = one_line(page)
    assert f"There are {len(STRUCTURES)} structures of graphs" in text
    assert f"on weighted graphs {len(WEIGHTS)} rules for weights" in text
    assert f"Sequences have {len(NUMBERS)} rules for numbers" in text


@pytest.fixture(scope="module")
def zoo() -> dict[tuple[str, bool], Counter]:
    """The words by set and truth, from what `zoo.py report` prints."""
    words: dict[tuple[str, bool], Counter] = {}
    printed = "".join(_printed("zoo", "report", results) for results in ("", SECOND, THIRD))
    for section in printed.strip().split("### ")[1:]:
        name = section.partition(",")[0].lower()
        [made] = tables(section)
        for row in made.rows:
            counts = Counter(dict(zip(WORDS, map(int, row[1:]), strict=True)))
            key = name, row[0] == "exact"
            words[key] = words.get(key, Counter()) + counts
    return words


def test_the_page_shows_what_the_zoo_says(page, zoo):
    shown = table(page, "set", "truth", "subjects", "runs")
    assert len(shown.rows) == len(zoo) == 12
    for name, truth, *counts in shown.rows:
        words = zoo[name, truth == "exact"]
        assert [int(count) for count in counts] == [
            sum(words.values()),
            *(words[word] for word in WORDS),
        ]


def test_no_wrong_program_runs_and_no_exact_one_takes_a_shortcut(zoo):
    for (name, exact), words in zoo.items():
        assert not words[UNDECIDED], name
        if exact:
            assert not words[SHORTCUT] + words[FAILS], name
        else:
            assert not words[RUNS], name


@pytest.mark.parametrize(
    ("ordinal", "folder", "results"),
    [("second", "held_out_2", SECOND), ("third", "held_out_3", THIRD)],
)
def test_the_page_says_how_much_of_a_set_was_judged(page, ordinal, folder, results):
    judged = json.loads((ROOT / "benchmarks" / f"{results}.json").read_text())
    programs = list((ROOT / "benchmarks" / "programs" / folder).glob("*.program"))
    assert f"{len(judged)} of the {len(programs)} programs of the {ordinal} set" in one_line(page)
    assert not any(result.get("contradicted") for result in judged.values())
    assert all(result["smallest"] for result in judged.values() if result["rate"])


def test_readme_and_findings_count_the_held_out_subjects(zoo):
    of_first = [words for (name, _), words in zoo.items() if name == "held-out programs"]
    held_out = sum(sum(words.values()) for words in of_first)
    assert f"Of {held_out // 2} held-out programs, each judged twice" in one_line(read("README.md"))
    findings = one_line(read("docs/explanation/findings.md"))
    assert f"{held_out // 2} held-out programs, two seeds of problems" in findings


def test_the_page_shows_what_was_said_of_trained_networks(page):
    shown = table(page, "taught", "networks", "undecided")
    measured = tables(_printed("trained_zoo", "report"))[0]
    assert shown.rows == measured.rows
    content = json.loads((ROOT / "benchmarks" / "trained_zoo.json").read_text())
    judged = list(content.values())
    assert f"{len(judged)} of them were judged" in page
    by_wrong = [r for r in judged if r["task"] == "bfs" and r["taught"] == "a wrong program"]
    named = [r for r in by_wrong if r["which"] and r["recipe"].startswith(r["which"])]
    assert (
        f"Of the {len(by_wrong)} BFS networks that a wrong program taught, {len(named)} are named"
    ) in page
