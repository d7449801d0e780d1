"""docs/explanation/findings.md says, in each cell, what the files under results/ say."""

import dataclasses
import re

import pytest
from pages import ROOT, cell, one_line, read, table

from algoscope.experiments.mind_the_gap import both_weights, claims, tables
from algoscope.experiments.mind_the_gap.presets import BASELINES, plan_of
from algoscope.experiments.mind_the_gap.solutions import ensembles_in
from algoscope.table import Table

OURS = "ours, N = 128 (DFS 32)"


@pytest.fixture(scope="module")
def results():
    return ensembles_in(ROOT / "results" / "mind_the_gap")


@pytest.fixture(scope="module")
def page() -> str:
    return read("docs/explanation/findings.md")


@pytest.fixture(scope="module")
def against_the_paper(page) -> Table:
    return table(page, "what the paper says", OURS)


def test_results_are_of_the_full_preset(results):
    assert {"bfs", "bellman_ford", "dfs"} <= set(results)
    for solutions in results.values():
        assert solutions.plan.training.steps == 10_000
        wanted = plan_of("full", BASELINES[solutions.plan.name])
        # They were made before the last weights were measured, and those of DFS with fewer seeds.
        config = dataclasses.replace(wanted.training, seeds=len(solutions.seeds))
        assert solutions.plan == dataclasses.replace(wanted, training=config, weights=("best",))
        assert all(chunk["environment"]["commit"] for chunk in solutions.measured)


@pytest.mark.parametrize(
    ("row", "task"),
    [("BFS scores", "bfs"), ("Bellman-Ford scores", "bellman_ford"), ("DFS scores", "dfs")],
)
def test_scores(results, against_the_paper, row, task):
    ours = tables.accuracy_of(results[task])
    said = f"{ours.mean:.2f} ± {ours.deviation:.2f}, largest {ours.largest:.2f}"
    assert cell(against_the_paper, row, OURS) == said


def test_correlations_with_the_score(results, against_the_paper):
    external, internal = (
        [claims.related(results["bfs"], size)[place].correlation for size in (64, 16)]
        for place in (0, 1)
    )
    assert cell(against_the_paper, "BFS: score and external faithfulness", OURS) == (
        f"r = {external[0].pearson:+.3f} at n = 64, {external[1].pearson:+.3f} "
        f"{_p(external[1].pearson_p)} at n = 16"
    )
    assert cell(against_the_paper, "BFS: score and internal faithfulness", OURS) == (
        f"distance to the nearest reference: r = {internal[0].pearson:+.3f} at n = 64, "
        f"{internal[1].pearson:+.3f} at n = 16"
    )


def test_correlations_with_the_step_held(results, page):
    shown = table(page, "BFS, test score against", "r, step held")
    rows = {
        "external faithfulness, n = 16": "external, n = 16",
        "distance from `bfs`, n = 16": "internal, bfs, n = 16",
        "distance from `bfs`, n = 64": "internal, bfs, n = 64",
        "distance from `bfs_locked`, n = 16": "internal, bfs_locked, n = 16",
        "distance from `bfs_locked`, n = 64": "internal, bfs_locked, n = 64",
        "external faithfulness, n = 64, on the test problems themselves": "external, n = 64",
    }
    assert [row[0] for row in shown.rows] == list(rows)
    measured = {one.label: one for n in (16, 64) for one in claims.related(results["bfs"], n)}
    for row, label in rows.items():
        one = measured[label]
        for column, said in (("r", one.correlation), ("r, step held", one.steps_held)):
            r, _, p = cell(shown, row, column).partition(" ")
            assert r == f"{said.pearson:+.3f}"
            assert p in ("", _p(said.pearson_p))


def _p(value: float) -> str:
    return "(p < 0.001)" if value < 0.0005 else f"(p = {value:.3f})"


@pytest.mark.parametrize(
    ("row", "claim", "task", "sizes"),
    [
        ("BFS: attention is nearer", claims.closer_at_first, "bfs", (64, 16)),
        ("BFS: predicted traces", claims.traces_degrade, "bfs", (64, 16)),
        ("Bellman-Ford: the same", claims.traces_degrade, "bellman_ford", (64,)),
    ],
)
def test_numbers_of_seeds_behind_claims_over_time(
    results, against_the_paper, row, claim, task, sizes
):
    said = re.findall(r"in (\d+)", cell(against_the_paper, row, OURS))
    measured = [re.search(r"in (\d+) of N = (\d+)", str(claim(results[task], n))) for n in sizes]
    assert said[: len(sizes)] == [match[1] for match in measured if match]
    assert len(said) == len(sizes)


def test_the_step_of_the_best_weights_explains_the_score(results, page):
    def r(task: str) -> str:
        last = tables.with_steps_held(results[task]).rows[-1]
        assert last[0] == "logarithm of that step"
        return f"{float(last[1].split()[0]):.2f}"

    said = f"explains the test score (r = {r('bfs')}; Bellman-Ford {r('bellman_ford')})"
    assert said in one_line(page)


def test_predicted_traces_stand_with_what_changes(results, page):
    """eq. 25 counts what never changes, so it is never said alone."""
    measured = tables.traces([results[task] for task in ("bfs", "bellman_ford", "dfs")])
    shown = table(page, "entries right (eq. 25)", "moves right")
    assert (shown.columns, shown.rows) == (measured.columns, measured.rows)
    entries, moves, steps = (
        results["dfs"].external(16, number).mean() for number in ("eq25", "moves", "exact_steps")
    )
    said = one_line(page)
    assert f"the 32 networks have {entries:.3f} by eq. 25" in said
    assert f"of the entries that change they predict {moves:.3f}, and {steps:.3f} of the" in said
    small = [results[task].external(16, "moves").mean() for task in ("bellman_ford", "dfs")]
    assert "Bellman-Ford predicts {:.3f} at 16 nodes and DFS {:.3f}".format(*small) in said


def test_either_weights_are_said_as_measured(page):
    """Every cell, and the claims beside them."""
    shown = table(page, "score at 256", "reads at 16")
    result = both_weights.summary(ROOT / "results" / "words")
    assert result is not None
    measured = {
        (task, weights): [*(mean.partition(" ")[0] for mean in means), count]
        for task, weights, _, *means, count in result.tables[0].rows
    }
    assert {(row[0], row[1]): row[2:] for row in shown.rows} == measured
    assert [claim.holds for claim in result.claims] == [
        True,
        False,
        False,
        True,
        True,
        True,
        True,
        None,
    ]
    assert "19 of 128 seeds have another score" in one_line(page)
    assert "of which 19 differ in score" in result.claims[-1].evidence
