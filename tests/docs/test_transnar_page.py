"""The pages say of TransNAR what results/transnar/withdrawn.json says."""

import json
import statistics

import pytest
from pages import ROOT, one_line, read

from algoscope import cli
from algoscope.experiments import transnar_scores
from algoscope.experiments import transnar_tables as study_tables
from algoscope.experiments.transnar_study import jobs_of
from algoscope.table import Table
from algoscope.transnar.padding import NODES, padded
from algoscope.transnar.scores import from_json, mean_clrs
from algoscope.transnar.text_dataset import Order, draw
from algoscope.verdict import FAILS

RESULTS = ROOT / "results" / "transnar" / "withdrawn.json"


@pytest.fixture(scope="module")
def results():
    return json.loads(RESULTS.read_text())


@pytest.fixture(scope="module")
def page() -> str:
    return read("docs/explanation/transnar.md")


@pytest.fixture(scope="module")
def unseen(results) -> dict[str, str]:
    """Mean CLRS scores at unseen sizes, by row of the table."""
    shown = study_tables.table(results)
    column = shown.columns.index("unseen")
    return {row[0]: row[column].split(" ")[0] for row in shown.rows}


@pytest.fixture(scope="module")
def short_answers(results) -> dict[str, str]:
    """The same, on the tasks that ask for one or two numbers."""
    shown = study_tables.answer_tables(results)[0]
    column = shown.columns.index("CLRS, n = 10, 14")
    return {row[0]: row[column] for row in shown.rows}


def _has_rows(page: str, table: Table) -> bool:
    """Whether the page has all rows of the table, one below the other."""
    return "\n".join(table.markdown().splitlines()[4:]) in page


def _unseen_clrs(results: dict, row: str) -> float:
    return statistics.fmean(
        mean_clrs(from_json(scores), results["unseen_sizes"]) for scores in results["rows"][row]
    )


def test_withdrawn_results_are_of_towers_at_the_rate_that_did_not_learn(results, page):
    tower = results["config"]["tower"]
    assert results["complete"]
    assert tower["learning_rate"] == 1e-3
    assert tuple(tower["tasks"]) == transnar_scores.EARLIER_TASKS
    assert f"{tower['steps']:,} steps of {tower['batch']} problems" in one_line(page)
    assert not results["environment"]["commit"].endswith("dirty")
    learnt = study_tables.learnt_tasks(results)
    assert not learnt["base"]
    assert len(learnt["hybrid"]) == 5
    assert "Of the 14 tasks the base had learnt none, the hybrid five." in page


def test_the_page_says_what_the_study_is_that_replaces_it(page):
    full, said = transnar_scores.study_of("full"), one_line(page)
    tower = full.tower
    sizes = f"all {len(tower.tasks)} tasks, {tower.samples:,} problems of each task and size"
    assert sizes in said
    assert f"{tower.steps:,} steps of {tower.batch}" in said
    assert f"{tower.learning_rate:g}".replace("0.0002", "2e-4") in said
    assert f"a warm-up of {tower.warmup} steps" in said
    assert f"the context of {tower.tower.context:,} tokens" in said
    assert len(full.seeds) == 4
    assert "Four seeds of base and hybrid" in said
    assert len(full.held_out) == 5
    assert "five tasks held out" in said
    assert f"{100 * study_tables.PUBLISHED['mean of 30 tasks']:.2f} %" in said
    stepwise = next(job.config for job in jobs_of(full) if job.name == "stepwise")
    assert stepwise.parts == 8
    assert "learns in eight parts" in said


def test_states_on_all_problems_take_what_the_page_says(page):
    """In bfloat16, of a reasoner of width 128: nodes have three widths, pairs two."""
    config = transnar_scores.study_of("full").tower
    octets = 0
    for task in config.tasks:
        for size in config.sizes:
            n = padded(draw(Order(task, size, 1, 0)).nodes, NODES)
            octets += 2 * 128 * config.samples * (3 * n + 2 * n * n)
    assert f"take {octets / 1e9:.0f} GB in bfloat16" in one_line(page)


def test_the_page_shows_the_tables_of_the_results(results, page):
    shown = ["base", "hybrid", "hybrid, untrained reasoner", "one answer for all problems"]
    shown += ["reasoner alone", "text to graph to reasoner"]
    assert _has_rows(page, study_tables.table(results))
    assert _has_rows(page, study_tables.task_table(results, shown))
    assert _has_rows(page, study_tables.answer_tables(results)[1])
    assert _has_rows(page, study_tables.ablation_table(results))


def test_sentences_about_the_mean_have_the_numbers_of_the_table(results, page, unseen):
    base, hybrid, reasoner = unseen["base"], unseen["hybrid"], unseen["reasoner alone"]
    one_answer = unseen["one answer for all problems"]
    gap = 100 * (_unseen_clrs(results, "hybrid") - _unseen_clrs(results, "base"))
    findings = one_line(read("docs/explanation/findings.md"))
    assert f"points of the CLRS score ({hybrid} and {base}, n = 10 and 14;" in findings
    assert f"ahead of its base at unseen sizes**, by {gap:.1f} points" in findings
    assert f"ahead of the base by {gap:.1f} points at unseen sizes" in one_line(page)
    assert f"as high as TransNAR's hybrid** (withdrawn): {one_answer} at unseen sizes" in findings
    assert f"no tower is near the reasoner**, {reasoner}," in one_line(page)


def test_sentences_about_short_answers_have_the_numbers_of_the_table(page, short_answers):
    hybrid, base = short_answers["hybrid"], short_answers["base"]
    one_answer = short_answers["one answer for all problems"]
    reasoner = short_answers["reasoner alone"]
    findings = one_line(read("docs/explanation/findings.md"))
    assert f"the hybrid has {hybrid}, one answer {one_answer}, the base {base}" in findings
    untrained = short_answers["hybrid, untrained reasoner"]
    assert f"short answers fall from {hybrid} to {untrained}" in findings
    said = f"{hybrid} at unseen sizes (reasoner {reasoner}, one answer {one_answer}, base {base})"
    assert said in one_line(page)


@pytest.mark.parametrize("name", ["explanation/transnar", "explanation/findings", "lab/transnar"])
def test_conclusions_are_withdrawn(name):
    text = one_line(read(f"docs/{name}.md").replace("\n> ", " "))
    assert "had hardly learnt at that rate" in text
    assert "withdrawn until they are retrained" in text


def test_the_verdict_of_the_page_is_that_of_the_results(results, page):
    verdict = study_tables.verdict_of(results)
    [condition] = verdict.conditions
    assert not condition.met
    said = f"is **{verdict}**. The condition that is not met: {condition.text}."
    assert said in one_line(page)


def test_the_same_results_of_towers_that_had_learnt_would_be_judged(results):
    """Scores of the hybrids at n = 12 are set to 0.95, all others stay."""
    rows = json.loads(json.dumps(results["rows"]))
    for by_task in rows["hybrid"]:
        for by_size in by_task.values():
            by_size["12"]["clrs"] = 0.95
    verdict = study_tables.verdict_of(results | {"rows": rows})
    assert verdict.word == FAILS
    assert verdict.reasons[0].startswith("above one answer for all problems at n = 10, 14 by")


def test_answers_are_told_apart_by_their_length(results):
    short, per_node, other = study_tables.answer_tables(results)
    assert "quickselect" in short.title
    assert "naive_string_matcher" in short.title
    assert "mst_prim" in per_node.title
    assert "insertion_sort, lcs_length" in other.title


def test_the_command_prints_what_a_study_wrote(monkeypatch, capsys, results):
    command = ["algoscope", "reproduce", "--from", str(RESULTS), "--markdown"]
    monkeypatch.setattr("sys.argv", command)
    cli.main()
    said = capsys.readouterr().out
    assert all(table.markdown() in said for table in study_tables.all_tables(results))
    assert "holds: the hybrid has the higher mean CLRS score at n = 10, 14" in said
