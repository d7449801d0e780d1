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
from algoscope.experiments.background import PendingReasoner
from algoscope.experiments.transnar_rows import CONTROL_ROWS, MAIN_ROWS
from algoscope.runs import RunError, lock, reservation
from algoscope.transnar.config import check
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
    assert full.test_sizes == (10, 12, 14, 16, 20, 24, 32)
    assert full.unseen_sizes == (10, 14)
    assert len(full.seeds) == 4
    assert max(full.reasoner.recipe.sizes) == 16
    assert set(full.tower.tasks) == set(full.reasoner.tasks) == set(tasks.names())
    assert full.tower.steps * full.tower.batch == pytest.approx(12.6e6, rel=0.02)
    assert full.tower.samples == 10_000
    assert set(full.held_out) < set(full.tower.tasks)
    members = [task for tasks_of in study_tables.CLASSES.values() for task in tasks_of]
    assert sorted(members) == sorted(tasks.names())


def test_the_full_preset_makes_what_tells_most_first_and_every_row():
    full = transnar_scores.study_of("full")
    jobs = study.jobs_of(full)
    names = [job.name for job in jobs]
    assert names[:2] == ["base-0", "hybrid-0"]
    assert names.index("mechanism") < names.index("base-1") < names.index("untrained")
    assert len(set(names)) == len(names)
    assert {job.row for job in jobs} == {None, *full.rows}
    configs = {job.name: job.config for job in jobs if job.config is not None}
    for config in configs.values():
        check(config)
    assert len(configs) == 26
    assert set(configs["held-out"].tasks) == set(tasks.names()) - set(full.held_out)
    assert configs["base-in-order"].tower.reads == "nothing"
    assert not configs["base-in-order"].tower.random_positions
    assert (configs["distilled"].loss, configs["distilled"].tower.reads) == ("teacher", "nothing")
    assert configs["stepwise"].tower.reads == "stepwise"
    assert configs["live"].trains_reasoner == ("processor",)
    layers = [configs[name].tower.reading_layers for name in ("first", "last", "alternate")]
    assert layers == ["first", "last", "alternate"]
    mixes = [configs[name].tower.mix for name in ("sum", "mlp", "orthogonal")]
    assert mixes == ["sum", "mlp", "orthogonal"]
    assert configs["hybrid-paper"].tower.width == 1024


CONTROLS = ("untrained", "other-states", "distilled", "stepwise", "live")
"""What has a way of its own through a study; the other rows are options of a tower."""


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
        rows=(*MAIN_ROWS, *(row for row in CONTROL_ROWS if row.name in CONTROLS)),
    )


def test_a_study_makes_the_table_and_is_made_once(miniature, tmp_path, monkeypatch):
    def stop_at_the_hybrid(text: str) -> None:
        if text == "hybrid-0: begins":
            raise training.Stopped

    out = tmp_path / "study"
    for name in ("reasoner", "base-0", "hybrid-0"):  # Killed before the run had begun.
        (out / name).mkdir(parents=True)
        (out / name / lock.FILE).touch()
    alone = study.run_study(miniature, out, only=("solver", "constant"))
    assert list(alone["rows"]) == ["reference algorithm", "one answer for all problems"]
    assert not alone["complete"]
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
    trained = {"base-0", "hybrid-0", *CONTROLS} - {"other-states"}
    assert set(results["curves"]) == trained
    assert all(set(curve) == {"1"} for curve in results["curves"].values())
    titles = [row.title for row in miniature.rows]
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
    found = results["mechanism"]["exchange"]
    assert 0 <= found["problems"] <= miniature.problems
    verdict = study_tables.verdict_of(results)
    assert verdict.word == NOT_JUDGED
    assert verdict.reasons == ["the hybrid at sizes of its training was not measured"]
    assert len(results["loss"]["hybrid-0"]["loss"]) == miniature.tower.steps
    assert json.loads((tmp_path / "study" / "results.json").read_text()) == results
    longer = dataclasses.replace(miniature.tower, steps=3)
    with pytest.raises(RunError, match=r"with other settings \(config\.tower\.steps: there 2"):
        study.run_study(dataclasses.replace(miniature, tower=longer), tmp_path / "study")
    said.clear()
    assert study.run_study(miniature, tmp_path / "study", said.append) == results
    assert not said
    monkeypatch.setattr(transnar_scores, "study_of", lambda preset: miniature)
    reproduced = dataclasses.asdict(
        transnar_scores.reproduce("smoke", tmp_path / "study", print, ()).claims[0]
    )
    assert reproduced["text"].startswith("the hybrid has the higher mean CLRS score")


def test_a_study_writes_into_no_folder_of_something_else(miniature, tmp_path):
    (tmp_path / "results.json").write_text('{"test": 3}')
    with pytest.raises(RunError, match=r"was made with other settings \(test_sizes: there None"):
        study.run_study(miniature, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_two_processes_make_no_study_together(miniature, tmp_path):
    with (
        lock.hold(tmp_path),
        pytest.raises(RunError, match="a study that another process is driving"),
    ):
        study.run_study(miniature, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [lock.FILE]


def test_a_reasoner_of_other_settings_is_not_gone_on_with(miniature, tmp_path):
    other = dataclasses.replace(miniature.reasoner, steps=3)
    reservation.create(tmp_path / "reasoner", json.loads(json.dumps(other.as_json())))
    with pytest.raises(RunError, match=r"reasoner: was made with other settings \(steps: there 3"):
        PendingReasoner(miniature.reasoner, tmp_path / "reasoner", print).get()
