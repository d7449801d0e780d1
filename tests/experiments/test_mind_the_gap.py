"""Mind The Gap's experiments: a small ensemble in a folder, and tables and figures made of it."""

import dataclasses
import json
import pathlib
import shutil

import numpy as np
import pytest

from algoscope import experiments, networks, runs, tasks, training
from algoscope.experiments.mind_the_gap import (
    claims,
    depth,
    landscapes,
    paper,
    parallel,
    presets,
    results,
    score_tables,
    stability,
    tables,
)
from algoscope.experiments.mind_the_gap import experiments as paper_experiments
from algoscope.experiments.mind_the_gap.measure_seeds import problems
from algoscope.experiments.mind_the_gap.solutions import Plan, Solutions, ensembles_in, solve
from algoscope.measures.attention_match import internal_gap
from algoscope.measures.evidence import record
from algoscope.measures.references import reference_class, unsettled
from algoscope.measures.trace_match import external_faithfulness
from algoscope.runs import lock
from algoscope.training.config import check

PLAN = Plan(
    training.TrainingConfig(
        ("bfs",),
        seeds=6,
        steps=2,
        evaluate_every=2,
        scored_on=("test",),
        recipe=tasks.Recipe(sizes=(4,), count=2),
        network=networks.NetworkConfig(width=4),
    ),
    chunk=3,
    sizes=(5, 6),
    problems=4,
    compared=3,
)


class _InterruptedError(Exception):
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mind-the-gap")


@pytest.fixture(scope="module")
def solutions(folder):
    """Killed before it began, interrupted in the second chunk's training, and gone on with."""
    for name in ("seeds-00000-00002", "seeds-00003-00005"):
        (folder / "bfs" / name).mkdir(parents=True)
        (folder / "bfs" / name / lock.FILE).touch()

    def interrupt(text):
        if "seeds-00003-00005: step 1" in text:
            raise _InterruptedError

    with pytest.raises(_InterruptedError):
        solve(PLAN, folder, interrupt)
    assert [config.first_seed for config in PLAN.missing(folder)] == [3]
    assert not runs.open(folder / "bfs" / "seeds-00003-00005").finished
    return solve(PLAN, folder, lambda _: None)


def test_an_ensemble_is_trained_once_and_found_again(solutions, folder, monkeypatch):
    assert [seed["seed"] for seed in solutions.seeds] == [0, 1, 2, 3, 4, 5]
    assert PLAN.missing(folder) == []
    said = []
    for name in ("train", "resume"):
        monkeypatch.delattr(training, name)
    again = solve(PLAN, folder, said.append)
    assert again.seeds == solutions.seeds
    assert np.array_equal(again.attention, solutions.attention)
    assert not said
    said = presets.estimate([presets.BASELINES["bfs"]], [PLAN], folder)
    assert said.startswith("about 0 GPU minutes on one H200")


def test_a_folder_says_what_is_in_it(solutions, folder, tmp_path):
    (found,) = ensembles_in(folder).values()
    assert found.plan == PLAN
    assert found.seeds == solutions.seeds
    assert ensembles_in(tmp_path) == {}
    shutil.copytree(folder / "bfs", tmp_path / "bfs", ignore=lambda *_: ["seeds-00003-00005.json"])
    (half,) = ensembles_in(tmp_path).values()
    assert [seed["seed"] for seed in half.seeds] == [0, 1, 2]
    (tmp_path / "bfs" / "seeds-00000-00002.safetensors").unlink()
    assert not half.comparable
    with pytest.raises(runs.RunError, match="needed to compare what seeds attend to"):
        _ = ensembles_in(tmp_path)["bfs"].attention


def test_numbers_are_those_of_the_measures(solutions, folder):
    run = runs.open(folder / "bfs" / "seeds-00000-00002")
    seed = run.seeds_with_weights[0]
    found = solutions.seeds[seed]
    assert found["test"] == run.results["test"]["bfs"]["score"][seed]
    batch = problems("bfs", 6, 4)
    done = record(run.ensemble([seed]).member(0), batch)
    place = found["sizes"]["6"]
    assert place["accuracy"] == pytest.approx(float(networks.score(done, batch)["score"]))
    assert place["external"]["eq25"] == pytest.approx(external_faithfulness(done, batch).eq25)
    gaps = [internal_gap(done, r, unsettled(batch)) for r in reference_class(batch)]
    for gap in gaps:
        own = place["internal"][gap.reference]
        assert own["eq24"] == pytest.approx(gap.eq24)
        assert own["per_row_l1"] == pytest.approx(6 * own["eq24"])
        assert own["total_variation"] == pytest.approx(own["per_row_l1"] / 2)
    least = min(gap.eq24 for gap in gaps)
    assert solutions.internal(6, "eq24")[seed] == pytest.approx(least)
    smaller = record(run.ensemble([seed]).member(0), problems("bfs", 5, 4))
    kept = solutions.recordings()[seed]
    np.testing.assert_allclose(kept.attention[:, :, 0], smaller.attention[:3].mean(2), atol=1e-3)


def test_other_settings_are_refused(solutions, folder):
    with pytest.raises(runs.RunError, match="problems: there 4, needed 5"):
        solve(dataclasses.replace(PLAN, problems=5), folder, print)
    slower = dataclasses.replace(PLAN.training, learning_rate=1e-5)
    with pytest.raises(runs.RunError, match=r"training.learning_rate: there 0.0001, needed 1e-05"):
        solve(dataclasses.replace(PLAN, training=slower), folder, print)


def test_few_weights_are_kept_and_none_are_needed(solutions, folder):
    kept = list(folder.glob("bfs/*/weights/bfs/*.safetensors"))
    assert 2 <= len(kept) <= 4
    small = json.loads((folder / "bfs" / "seeds-00000-00002.json").read_text())
    assert small["environment"]["device"]
    assert small["plan"]["training"]["seeds"] == 3


def test_figures_and_claims_come_from_the_same_folder(solutions, folder, monkeypatch):
    monkeypatch.setattr(paper_experiments, "plan_of", lambda *_: PLAN)
    monkeypatch.delattr(training, "train")
    result = experiments.get("mind-the-gap-bfs").run("smoke", folder)
    drawn = {path.name for path in (folder / "figures").glob("*.svg")}
    assert drawn == {f"figure-{number}-bfs.svg" for number in (1, 2, 3, 4, 5, 15)}
    data = (folder / "figures" / "figure-1-bfs.csv").read_text().splitlines()
    assert len(data) == 1 + 6
    assert len(result.claims) == 8
    json.dumps(result.numbers)
    found = claims.between(solutions)
    assert found.names[:6] == [f"seed {seed}" for seed in range(6)]
    assert len(found.names) == 6 + found.references == len(found.total_variation)
    assert result.numbers["closest_to_a_reference"] == found.total_variation[:6, 6:].min()
    exact = found.total_variation[6:, 6:]
    assert result.numbers["between_references"] == pytest.approx(exact.sum() / exact.size * 3 / 2)
    assert result.numbers["between_references"] > 0, "exact programs read differently"


def test_networks_without_traces_have_no_external_faithfulness(tmp_path):
    network = dataclasses.replace(PLAN.training.network, **training.hint_options("none"))
    silent = dataclasses.replace(PLAN.training, seeds=1, network=network)
    plan = dataclasses.replace(PLAN, training=silent, sizes=(5,), variant="without-traces")
    found = solve(plan, tmp_path, lambda _: None)
    assert found.plan.name == "bfs-without-traces"
    assert found.seeds[0]["sizes"]["5"]["external"] is None
    assert (tmp_path / "bfs-without-traces" / "seeds-00000-00000.json").exists()


def _made(task: str, test, eq25=None, eq24=None) -> Solutions:
    """Solutions with these numbers."""
    eq25 = np.linspace(0.5, 0.9, len(test)) if eq25 is None else eq25
    eq24 = np.linspace(0.01, 0.02, len(test)) if eq24 is None else eq24
    seeds = [
        {
            "seed": index,
            "test": float(score),
            "best_step": 50 * index,
            "sizes": {
                "5": {
                    "external": {
                        "eq25": float(e),
                        "moves": 0.2,
                        "exact_steps": 0.4,
                        "per_step": {"pi_h": [0.9, 0.5, None]},
                    },
                    "internal": {
                        "only": {
                            "eq24": float(i),
                            "total_variation": 0.5,
                            "per_step": [0.1, 0.2, 0.6, None],
                        }
                    },
                    "nearest": "only",
                }
            },
        }
        for index, (score, e, i) in enumerate(zip(test, eq25, eq24, strict=True))
    ]
    own = dataclasses.replace(PLAN.training, tasks=(task,), seeds=len(test))
    plan = dataclasses.replace(PLAN, training=own, sizes=(5,))
    return Solutions(plan, [{"seeds": seeds}], pathlib.Path("not-there"))


def test_baselines_beside_the_paper():
    near, far = _made("bfs", [0.97, 0.99]), _made("dfs", [0.3, 0.5])
    result = tables.baselines([near, far])
    (table,) = result.tables
    assert table.rows[0] == [
        *("bfs", "98.30 ± 0.97 (100.00)", "98.00 ± 1.00 (99.00)", "2", "-0.30", "yes")
    ]
    assert table.rows[1][2:] == ["40.00 ± 10.00 (50.00)", "2", "+27.26", "no"]
    assert [claim.holds for claim in result.claims] == [True, False]


def test_what_is_gained_without_traces():
    with_them = [_made("bfs", [0.98, 0.98]), _made("dfs", [0.12, 0.14])]
    without = [_made("bfs", [0.94, 0.96]), _made("dfs", [0.16, 0.18])]
    result = tables.without_traces(with_them, without)
    (table,) = result.tables
    assert table.rows[0][-3:] == ["+0.44", "-3.00 ± 0.71", "no"]
    assert table.rows[1][-3:] == ["+3.75", "+4.00 ± 1.00", "yes"]
    assert [claim.holds for claim in result.claims] == [False, True]
    unclear = tables.without_traces(with_them[1:], [_made("dfs", [0.12, 0.16])])
    assert unclear.claims[0].holds is None


def test_without_traces_as_far_as_both_are_there():
    solved = {name: _made(name, [0.9, 0.92]) for name in ("bfs", "dfs")}
    solved["bfs-without-traces"] = _made("bfs", [0.94, 0.96])
    result = results.table_14(solved)
    assert [row[0] for row in result.tables[0].rows] == ["bfs"]
    assert [claim.text.split()[0] for claim in result.claims] == ["bfs"]
    assert not results.table_14({}).claims


def test_a_mean_near_its_margin_cannot_be_said():
    table, claim = (
        part[0]
        for result in [tables.baselines([_made("bfs", [0.93, 0.999])])]
        for part in (result.tables, result.claims)
    )
    assert claim.holds is None
    assert table.rows[0][-1] == "too few"


def test_correlations_beside_the_paper():
    test = np.linspace(0.9, 1, 90)
    solutions = _made("bfs", test, eq25=test / 2, eq24=(test - test.mean()) ** 2)
    table, every = tables.correlations(solutions), claims.all_related(solutions)
    assert [row[-1] for row in table.rows] == ["no", "yes", "yes"]
    assert [row[-2] for row in table.rows] == ["90"] * 3
    assert table.rows[0][1] == "-0.124 (p 0.203)"
    assert [claim.holds for claim in claims.unrelated(solutions)] == [False, True]
    assert every[0].correlation is not None
    assert every[0].correlation.pearson == pytest.approx(1)
    other = tables.correlations(_made("bellman_ford", test, eq25=test / 2))
    assert [other.rows[0][column] for column in (1, 3, 4, 6)] == ["–"] * 4
    too_few = claims.unrelated(_made("bfs", [0.9, 0.8]))
    assert [claim.holds for claim in too_few] == [None, None]
    assert "needed at least 3" in too_few[0].evidence
    few = np.linspace(0.9, 1, 40)
    too_few = claims.unrelated(_made("bfs", few, eq25=few / 2, eq24=(few - few.mean()) ** 2))
    assert [claim.holds for claim in too_few] == [False, None]
    assert "N = 40, of which 40 differ in score: 85 needed" in too_few[1].evidence


def test_a_correlation_that_training_time_explains_is_gone_with_it_held():
    random = np.random.default_rng(0)
    steps = np.log1p(50 * np.arange(120))
    test, distance = steps + random.normal(size=120), random.normal(size=120) - steps
    solutions = _made("bfs", test, eq25=test + random.normal(size=120) / 9, eq24=distance)
    external, nearest, _, of_step = tables.with_steps_held(solutions).rows
    assert float(of_step[1].split()[0]) > 0.5
    assert nearest[1].endswith("(p 0.000)")
    assert abs(float(nearest[2].split()[0])) < 0.2
    assert float(external[2].split()[0]) > 0.9
    assert tables.with_steps_held(_made("bfs", [0.9, 0.8, 0.7])).rows[0][2] == "cannot be held"


def test_claims_over_time_leave_out_steps_that_nobody_reached():
    solutions = _made("bfs", [0.9, 0.8])
    closer = claims.closer_at_first(solutions, 5)
    assert closer.holds
    assert "0.150, later 0.600; closer at first in 2 of N = 2 seeds" in closer.evidence
    degrade = claims.traces_degrade(solutions, 5)
    assert degrade.holds
    assert "step 1 0.900, later 0.500; worse later in 2 of N = 2 seeds" in degrade.evidence
    assert "moves right 0.200, steps without a fault 0.400" in degrade.evidence


def test_a_claim_over_time_needs_most_seeds():
    solutions = _made("bfs", [0.9, 0.8, 0.7])
    for seed in solutions.seeds[1:]:
        seed["sizes"]["5"]["internal"]["only"]["per_step"] = [0.3, 0.3, 0.2, None]
    closer = claims.closer_at_first(solutions, 5)
    assert closer.holds is False
    assert "closer at first in 1 of N = 3 seeds" in closer.evidence
    for seed in solutions.seeds:
        seed["sizes"]["5"]["internal"]["only"]["per_step"] = [0.3, 0.3, None, None]
    assert claims.closer_at_first(solutions, 5).holds is None


def test_presets_differ_in_counts_and_full_says_what_it_takes(tmp_path):
    arm = presets.BASELINES["bfs"]
    smoke, full = (presets.plan_of(name, arm) for name in ("smoke", "full"))
    assert type(smoke) is type(full)
    assert full.training == training.TrainingConfig(("bfs",), seeds=128, scored_on=("test",))
    silent = presets.plan_of("full", presets.WITHOUT_TRACES["dfs"])
    assert silent.training.hint_mode == "none"
    said = presets.estimate([arm], [full], tmp_path)
    rate = presets._RATES["bfs"]
    minutes = (1_280_000 / rate + presets._COMPILING) / 60
    assert said.startswith(
        f"about {minutes:.0f} GPU minutes on one H200: bfs 1,280,000 seed-steps at {rate:,.0f}"
    )
    done = tmp_path / "bfs" / "seeds-00000-00127.json"
    done.parent.mkdir()
    done.write_text("{}")
    assert presets.estimate([arm], [full], tmp_path).startswith("about 0 GPU minutes")
    assert set(paper.BASELINES) == set(paper.WITHOUT_TRACES) == set(presets.TASKS)
    folders = {
        experiments.get(name).folder("full") for name in experiments.names() if "gap" in name
    }
    assert len(folders) == 1


def test_every_arm_is_a_valid_training_and_has_a_folder_of_its_own():
    plans = {}
    arms = [arm for table in score_tables.SCORE_TABLES for arm in table.arms]
    for arm in [*arms, *stability.ARMS, *parallel.ARMS]:
        for preset in ("smoke", "full"):
            plan = presets.plan_of(preset, arm)
            check(plan.training)
            assert plan.name == arm.name
            assert plans.setdefault((preset, plan.name), plan) == plan
        assert plan.training.seeds == arm.seeds


def test_ablations_are_table_7_and_tested_where_the_paper_tests_them():
    for table, tested in ((score_tables.TABLE_2, None), (score_tables.TABLE_13, 16)):
        configs = [presets.plan_of("full", row.arm).training for row in table.rows]
        for config in configs:
            assert config.recipe.sizes == (16,)
            assert config.network.simple_decoders
            assert config.test_size == tested
        assert [config.network.edge_information for config in configs] == [False, True]
    biased = presets.plan_of("full", score_tables.TABLE_13.rows[1].arm).training.network
    assert biased.attention_bias == 16


def test_a_table_of_scores_and_what_it_claims():
    table = score_tables.TABLE_2
    below, above = (row.arm.name for row in table.rows)
    scores = np.linspace(0.8, 0.9, 8)
    found = {below: _made("bellman_ford", scores), above: _made("bellman_ford", scores + 0.05)}
    result = tables.scores(table, found)
    assert result.tables[0].rows[1][:6] == [
        *("edge information", "best", "90.67 ± 1.40 (92.72)", "90.00 ± 3.27 (95.00)", "8", "-0.67")
    ]
    assert result.claims[0].holds
    assert "difference +5.00 points [+1.73, +8.27], needed above +0" in result.claims[0].evidence
    turned = tables.scores(table, {below: found[above], above: found[below]})
    assert turned.claims[0].holds is False
    same = tables.scores(table, {below: found[above], above: found[above]})
    assert same.claims[0].holds is None
    half = tables.scores(table, {below: found[below]})
    assert half.claims[0].holds is None
    assert "edge-information-at-64 not run: N = 0" in half.claims[0].evidence
    assert half.tables[0].rows[1][3] == "not run"


def test_both_weights_of_a_seed_are_measured(tmp_path):
    both = dataclasses.replace(PLAN.training, seeds=2, steps=3, evaluate_every=2)
    plan = dataclasses.replace(PLAN, training=both, sizes=(5,), weights=("best", "last"))
    best, last = solve(plan, tmp_path, lambda _: None).views
    assert (best.label, last.label) == ("bfs", "bfs, last")
    run = runs.open(tmp_path / "bfs" / "seeds-00000-00001")
    assert last.test.tolist() == run.results_of("last")["test"]["bfs"]["score"]
    assert best.test.tolist() == run.results["test"]["bfs"]["score"]
    batch = problems("bfs", 5, 4)
    for view in (best, last):
        done = record(run.ensemble([1], view.weights).member(0), batch)
        assert view.external(5)[1] == pytest.approx(external_faithfulness(done, batch).eq25)
        kept = np.asarray(done.attention)[:3].mean(2)
        np.testing.assert_allclose(view.attention[1], kept, atol=1e-3)
    assert not np.array_equal(best.attention, last.attention)
    (found,) = ensembles_in(tmp_path).values()
    assert [view.seeds for view in found.views] == [best.seeds, last.seeds]
    with pytest.raises(runs.RunError, match="weights"):
        solve(dataclasses.replace(plan, weights=("best",)), tmp_path, print)


def test_training_goes_on_from_a_compiled_program(tmp_path):
    compiled, soft, wide = (presets.plan_of("smoke", arm) for arm in stability.ARMS[:3])
    sharp = solve(compiled, tmp_path, lambda _: None)
    start = sharp.measured[0]["start"]
    assert (start["loss"], start["gradient"]) == (0.0, 0.0), "so nothing moves"
    assert sharp.test.tolist() == [1.0, 1.0]
    moved = solve(wide, tmp_path, lambda _: None)
    start = moved.measured[0]["start"]
    assert start["exact_traces"] == 1.0
    assert start["gradient"] > 0.01
    found = ensembles_in(tmp_path)
    assert found["bfs-soft-wide"].plan.start == wide.start
    result = stability.result(found)
    assert [row[0] for row in result.tables[0].rows] == ["bfs-compiled"] * 2 + ["bfs-soft-wide"] * 2
    assert [claim.holds for claim in result.claims] == [None] * 6
    assert "N = 2" in result.claims[0].evidence
    assert "not run" in result.claims[1].evidence
    with pytest.raises(runs.RunError, match=r"start.rest: there 1.0, needed 0.0"):
        solve(dataclasses.replace(soft, variant="soft-wide"), tmp_path, print)


def test_parallel_tasks_are_told_by_their_traces(tmp_path):
    classes = {task: depth.class_of(task) for task in depth.PROBLEMS}
    assert sorted(classes) == tasks.names()
    assert [t for t in classes if classes[t] == "parallel"] == [
        *("bellman_ford", "bfs", "binary_search", "segments_intersect")
    ]
    assert [t for t in classes if classes[t] == "sequential"] == ["dfs"]
    assert depth.growth("dfs") == pytest.approx(1), "its traces have 3 n steps"

    def found(sign: int) -> dict[str, Solutions]:
        made = {}
        for arm in parallel.ARMS:
            one = _made(arm.task, [0.5 - sign * 0.1 * depth.growth(arm.task)])
            plan = dataclasses.replace(one.plan, variant=arm.variant)
            made[arm.name] = dataclasses.replace(one, plan=plan)
        return made

    result = parallel.result(found(1))
    assert [claim.holds for claim in result.claims] == [True, None]
    assert "N = 30 tasks" in result.claims[0].evidence
    assert len(result.tables[0].rows) == 30
    assert parallel.result(found(-1)).claims[0].holds is False
    some = dict(list(found(1).items())[:4])
    assert parallel.result(some).claims[0].holds is None
    parallel.draw(found(1), tmp_path)
    assert len((tmp_path / "parallel.csv").read_text().splitlines()) == 1 + 30


def _landscape(folder: pathlib.Path, name: str, rises: list[float]) -> None:
    numbers = {"loss": 0.1, "largest_eigenvalue": 2.0, "residual": 0.1, "parameters": 9.0}
    content = json.dumps(numbers | {"local": rises, "wide": [0.0] * len(rises)})
    (folder / "landscapes" / f"{name}.json").write_text(content)


def test_minima_are_sharper_where_the_loss_rises_more(tmp_path):
    (tmp_path / "landscapes").mkdir()
    _landscape(tmp_path, "bfs-compiled", [1.0, 1.1, 1.2, 1.3])
    _landscape(tmp_path, "bfs-best", [0.1, 0.2, 0.1, 0.2])
    _landscape(tmp_path, "bfs-soft-wide", [0.0, 0.0, 0.1, 0.0])
    result = landscapes.summary(tmp_path)
    assert result is not None
    # Compiled, then soft; local, then wide.
    assert [claim.holds for claim in result.claims] == [True, None, False, None]
    assert "1.15 and 0.15" in result.claims[0].evidence
    _landscape(tmp_path, "bfs-compiled", [1.0])
    few = landscapes.summary(tmp_path)
    assert few is not None
    assert few.claims[0].holds is None
