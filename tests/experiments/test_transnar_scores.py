"""Experiments: the list, and a whole study in miniature."""

import dataclasses
import json
import sys

import pytest

from algoscope import cli, experiments, networks, tasks, training
from algoscope.configuration import TowerConfig, TransnarConfig
from algoscope.experiments import transnar_scores
from algoscope.experiments import transnar_study as study
from algoscope.experiments import transnar_tables as study_tables
from algoscope.verdict import NOT_JUDGED


def test_experiments_are_listed_and_unknown_ones_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["algoscope", "reproduce", "--list"])
    cli.main()
    assert "transnar-scores" in capsys.readouterr().out
    with pytest.raises(ValueError, match="did you mean transnar-scores"):
        experiments.get("transnar-score")
    with pytest.raises(ValueError, match="unknown preset: 'big'"):
        experiments.get("transnar-scores").run("big", None)


def test_the_full_preset_is_what_the_paper_asks_for():
    full = transnar_scores.study_of("full")
    assert full.tower.sizes == (4, 5, 6, 7, 8, 12)
    assert full.test_sizes == (10, 12, 14)
    assert full.unseen_sizes == (10, 14)
    assert len(full.seeds) == 2
    assert max(full.reasoner.recipe.sizes) == 16
    assert set(full.tower.tasks) == set(full.reasoner.tasks)
    assert len(full.tower.tasks) == 14
    assert set(full.tower.tasks) <= set(tasks.names())


@pytest.fixture(scope="module")
def miniature():
    return study.Study(
        training.TrainingConfig(
            ("bfs",),
            steps=2,
            scored_on=(),
            recipe=tasks.Recipe(sizes=(4,), count=2),
            network=networks.NetworkConfig(width=4),
        ),
        TransnarConfig(
            ("bfs",),
            sizes=(4,),
            samples=4,
            steps=2,
            batch=2,
            warmup=1,
            tower=TowerConfig(width=8, layers=1, heads=1, context=128, reads="final"),
        ),
        seeds=(0,),
        test_sizes=(4,),
        unseen_sizes=(4,),
        problems=2,
        evaluations=1,
        background=True,
        evaluation_problems=1,
        mechanism=("bfs", 4),
    )


def test_a_study_makes_the_table_and_is_made_once(miniature, tmp_path, monkeypatch):
    def stop_at_the_hybrid(text: str) -> None:
        if text == "hybrid-0: begins":
            raise training.Stopped

    out = tmp_path / "study"
    with pytest.raises(training.Stopped):
        study.run_study(miniature, out, stop_at_the_hybrid)
    so_far = json.loads((out / "results.json").read_text())
    assert not so_far["complete"]
    assert "base" in so_far["rows"]
    assert "hybrid" not in so_far["rows"]
    assert study_tables.table(so_far).rows
    said = []
    results = study.run_study(miniature, out, said.append)
    assert results["complete"]
    assert results["rows"]["base"] == so_far["rows"]["base"]
    assert not [text for text in said if text == "base-0: begins"]
    controls = {row.name for row in study.CONTROL_ROWS}
    assert set(results["curves"]) == {"base-0", "hybrid-0"} | controls
    assert all(set(curve) == {"1"} for curve in results["curves"].values())
    titles = [row.title for row in study.ROWS]
    assert list(results["rows"]) == titles
    table = study_tables.table(results)
    assert [row[0] for row in table.rows] == titles
    solver = table.rows[titles.index("reference algorithm")]
    assert solver[1:] == ["1.000"] * 5
    assert len(study_tables.task_table(results).rows) == 1
    assert set(results["mechanism"]["ablations"]) == {
        "gates shut",
        "without nodes",
        "without edges",
        "another problem's states",
    }
    verdict = study_tables.verdict_of(results)
    assert verdict.word == NOT_JUDGED
    assert verdict.reasons == ["the hybrid at sizes of its training was not measured"]
    assert len(results["loss"]["hybrid-0"]["loss"]) == miniature.tower.steps
    assert json.loads((tmp_path / "study" / "results.json").read_text()) == results
    said.clear()
    assert study.run_study(miniature, tmp_path / "study", said.append) == results
    assert not said
    monkeypatch.setattr(transnar_scores, "study_of", lambda preset: miniature)
    reproduced = dataclasses.asdict(
        transnar_scores.reproduce("smoke", tmp_path / "study", print).claims[0]
    )
    assert reproduced["text"].startswith("the hybrid has the higher mean CLRS score")
