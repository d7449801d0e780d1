"""The page of a study: what is on it, and that it is closed, legible and complete."""

import json
import sys
from collections.abc import Callable

import pytest
from browsing import FONTS, NARROWEST, askew, cut_on_paper, obstacles, too_wide
from pages import ROOT

from algoscope import cli
from algoscope.experiments import transnar_tables as tables

WITHDRAWN = ROOT / "results" / "transnar" / "withdrawn.json"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    results = json.loads(WITHDRAWN.read_text())
    # Few tasks and rows, so that little is drawn.
    kept = ("minimum", "bfs")
    results["rows"] = {
        row: [{task: scores[task] for task in kept} for scores in results["rows"][row]]
        for row in ("base", "hybrid", "one answer for all problems", "reasoner alone")
    }
    ablations = results["mechanism"]["ablations"]
    results["mechanism"]["ablations"] = {
        name: {task: scores[task] for task in kept} for name, scores in ablations.items()
    }
    results["mechanism"]["exchange"] = {
        "problems": 61, "follows": 0.9, "follows_before": 0.1, "stays": 0.05, "others": 500,
        "others_stay": 0.97,
    }  # fmt: skip
    results |= {"held_out": ["bfs"], "canonical": {"bfs": 0.99, "minimum": 0.95}}
    (folder / "results.json").write_text(json.dumps(results))
    return folder


def ask_for(monkeypatch, *paths) -> None:
    monkeypatch.setattr(sys, "argv", ["algoscope", "report", *map(str, paths)])
    cli.main()


def test_the_command_writes_the_page_of_a_study(study, monkeypatch, capsys, visit, axe):
    ask_for(monkeypatch, study)
    path = study / "report.html"
    assert capsys.readouterr().out.splitlines()[-1] == f"report: {path}"
    results = json.loads((study / "results.json").read_text())
    shown, troubles = visit(path.as_uri())
    assert not troubles
    text = shown.inner_text("main")
    assert f"The hybrid: {tables.verdict_of(results)}." in text
    assert "the base has learnt" in text
    assert "not learnt" in text
    for table in (tables.exchange_table(results), tables.canonical_table(results)):
        assert all(cell in text for row in table.rows for cell in row)
    assert shown.locator("figure").count() == 4
    assert obstacles(shown, axe) == []
    assert askew(shown) == {}
    assert cut_on_paper(shown) == []
    narrow, _ = visit(path.as_uri(), width=NARROWEST, theme="dark")
    assert {font: too_wide(narrow, font) for font in FONTS} == {font: [] for font in FONTS}
    names = {file.name for file in (study / "figures").iterdir()}
    for field in ("clrs", "shape", "parse"):
        assert {f"algorithms-{field}.{kind}" for kind in ("svg", "pdf", "png", "csv")} <= names
    rows = (study / "figures" / "algorithms-clrs.csv").read_text().splitlines()
    base = results["rows"]["base"][1]["minimum"]["12"]["clrs"]
    assert f"12,minimum,base,1,{base}" in rows


def test_a_study_that_is_not_finished_has_a_page_too(study, tmp_path, monkeypatch, capsys):
    results = json.loads((study / "results.json").read_text())
    rows = {"base": results["rows"]["base"][:1]}
    begun = results | {"rows": rows, "mechanism": None, "complete": False, "canonical": {}}
    (tmp_path / "results.json").write_text(json.dumps(begun))
    ask_for(monkeypatch, tmp_path)
    assert "The study is not complete" in (tmp_path / "report.html").read_text()


def test_a_study_is_shown_alone(study, monkeypatch):
    with pytest.raises(SystemExit):
        ask_for(monkeypatch, study, study)


def without(name: str) -> Callable[[dict], None]:
    return lambda results: results.pop(name)


def with_other_sizes(results: dict) -> None:
    [scores] = results["rows"]["hybrid"][:1]
    scores["bfs"].popitem()


@pytest.mark.parametrize(
    "damage",
    [
        without("mechanism"),
        without("rows"),
        lambda results: results["rows"].clear(),
        lambda results: results.update(seeds=None),
        with_other_sizes,
    ],
)
def test_a_study_whose_results_are_damaged_is_refused_by_its_file(
    study, tmp_path, monkeypatch, damage
):
    results = json.loads((study / "results.json").read_text())
    damage(results)
    (tmp_path / "results.json").write_text(json.dumps(results))
    with pytest.raises(SystemExit) as end:
        ask_for(monkeypatch, tmp_path)
    message = str(end.value.code)
    assert message.startswith(f"error: {tmp_path}/results.json: got results that lack something")
    assert "fault of Algoscope" not in message
