"""docs/findings.md says what the files under results/ say."""

import pathlib

import pytest

from algoscope.experiments.mind_the_gap import claims, tables
from algoscope.experiments.mind_the_gap.presets import plan_of
from algoscope.experiments.mind_the_gap.solutions import found_in

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found():
    return found_in(ROOT / "results" / "mind_the_gap")


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "findings.md").read_text().replace("−", "-")


def test_results_are_of_the_full_preset(found):
    assert {"bfs", "bellman_ford", "dfs"} <= set(found)
    for solutions in found.values():
        assert solutions.plan.training.steps == 10_000
        wanted = plan_of("full", solutions.plan.task, traces=solutions.name == solutions.plan.task)
        assert solutions.plan == wanted
        assert all(chunk["environment"]["commit"] for chunk in solutions.made)


def test_scores_on_the_page_are_those_of_the_results(found, page):
    for task in ("bfs", "bellman_ford", "dfs"):
        ours = tables.accuracy_of(found[task])
        assert f"{ours.mean:.2f} ± {ours.deviation:.2f}, largest {ours.largest:.2f}" in page


def test_correlations_on_the_page_are_those_of_the_results(found, page):
    for size in (16, 64):
        for one in claims.related(found["bfs"], size)[:2]:
            assert one.correlation is not None
            assert f"{one.correlation.pearson:+.3f}" in page
