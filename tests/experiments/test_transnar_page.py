"""The pages say of TransNAR what results/transnar/full.json says."""

import json
import pathlib

import pytest

from algoscope.experiments import transnar_scores
from algoscope.table import Table
from algoscope.transnar import study_tables

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results():
    return json.loads((ROOT / "results" / "transnar" / "full.json").read_text())


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "transnar.md").read_text()


def _shows(page: str, table: Table) -> bool:
    """Whether the page has all of its rows, one below the other."""
    return "\n".join(table.markdown().splitlines()[4:]) in page


def test_results_are_of_the_full_preset(results):
    full = transnar_scores.study_of("full")
    config = {"reasoner": full.reasoner.as_json(), "tower": full.tower.as_json()}
    assert results["complete"]
    assert results["config"] == json.loads(json.dumps(config))
    assert results["seeds"] == list(full.seeds)
    assert results["test_sizes"] == list(full.test_sizes)
    assert results["problems"]["test"] == full.problems
    assert not results["environment"]["commit"].endswith("dirty")


def test_the_page_shows_the_tables_of_the_results(results, page):
    shown = ["base", "hybrid", "hybrid, untrained reasoner", "one answer for all problems"]
    shown += ["reasoner alone", "text to graph to reasoner"]
    assert _shows(page, study_tables.table(results))
    assert _shows(page, study_tables.task_table(results, shown))
    assert _shows(page, study_tables.answer_tables(results)[1])
    assert _shows(page, study_tables.ablation_table(results))


@pytest.mark.parametrize("name", ["README.md", "docs/transnar.md", "docs/findings.md"])
def test_every_page_has_the_numbers_of_the_table(results, name):
    text = (ROOT / name).read_text()
    unseen = {row[0]: row[4].split(" ")[0] for row in study_tables.table(results).rows}
    short = {row[0]: row[5] for row in study_tables.answer_tables(results)[0].rows}
    for row in ("base", "hybrid", "one answer for all problems"):
        assert unseen[row] in text
    for row in ("hybrid", "hybrid, untrained reasoner", "one answer for all problems"):
        assert short[row] in text


def test_answers_are_told_apart_by_their_length(results):
    short, per_node, other = study_tables.answer_tables(results)
    assert "quickselect" in short.title
    assert "naive_string_matcher" in short.title
    assert "mst_prim" in per_node.title
    assert "insertion_sort, lcs_length" in other.title


def test_the_command_prints_what_a_study_wrote(monkeypatch, capsys, results):
    path = ROOT / "results" / "transnar" / "full.json"
    monkeypatch.setattr("sys.argv", ["transnar_scores", str(path)])
    transnar_scores.main()
    said = capsys.readouterr().out
    assert all(table.markdown() in said for table in study_tables.all_tables(results))
    assert "holds: the hybrid has the higher mean CLRS score at n = 10, 14" in said
