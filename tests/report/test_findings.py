"""Findings: kept in the run folder, whole or measured anew, and for any run."""

import contextlib
import dataclasses
import functools
import importlib
import json
import pathlib
import shutil

import jax
import numpy as np
import pytest
from pages import ROOT
from report.conftest import FEW

from algoscope import networks, runs, tasks, training
from algoscope.measures.thresholds import CRITERIA, PLACES
from algoscope.report import examine, explorer, findings, html, page
from algoscope.report.findings import read
from algoscope.runs import RunError, folder, reservation


@pytest.fixture
def copy(demo, tmp_path):
    shutil.copytree(demo[0].path, tmp_path / "copy")
    return runs.open(tmp_path / "copy")


def test_every_tested_number_has_a_criterion(found):
    for judgement in found.subjects.values():
        assert list(judgement.evidence.tested) == list(CRITERIA)
        assert list(judgement.evidence.accuracy) == list(PLACES)


@contextlib.contextmanager
def counting():
    """Which network runs on which batch."""
    calls = []
    run = networks.run

    def counted(network, batch, **options):
        calls.append((network, batch))
        return run(network, batch, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(networks, "run", counted)
        yield calls


@pytest.fixture(scope="module")
def anew(demo, tmp_path_factory):
    """A copy of the run that was measured once more, and what ran meanwhile."""
    path = shutil.copytree(demo[0].path, tmp_path_factory.mktemp("anew") / "copy")
    with counting() as calls:
        page.report([runs.open(path)], problems=FEW, remeasure=True)
    return runs.open(path), calls


def test_no_network_runs_twice_on_the_same_problems(anew):
    """Once to be judged; what is drawn was recorded then."""
    run, measuring = anew
    assert measuring
    assert len({(id(network), id(batch)) for network, batch in measuring}) == len(measuring)
    with counting() as drawing:
        page.report([run])
    assert not drawing, "pages are made from what was measured"


@pytest.fixture(scope="module")
def digest():
    """Of what has to be the same after any kill of a demo, as `benchmarks/kills.py` takes it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        for name in ("XLA_FLAGS", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"):
            patch.setenv(name, "")  # What the benchmark sets is taken back afterwards.
        kills = importlib.import_module("kills")
    command = next(each for each in kills.COMMANDS if each.name == "demo")
    return functools.partial(kills.digest, command)


def test_measured_again_they_differ_only_in_how_long_it_took(demo, anew, digest):
    first, again = demo[0].path, anew[0].path
    kept = pathlib.Path("findings", "bfs.json")
    assert (first / kept).read_bytes() != (again / kept).read_bytes()
    assert str(kept) in digest(first)
    assert digest(first) == digest(again)


def test_any_other_difference_is_one(demo, copy, digest):
    """A control of what `benchmarks/kills.py` compares."""
    kept = copy.path / "findings" / "bfs.json"
    content = json.loads(kept.read_text())
    kept.write_text(json.dumps(content | {"problem_seed": content["problem_seed"] + 1}))
    differing = digest(copy.path).items() ^ digest(demo[0].path).items()
    assert {name for name, _ in differing} == {"findings/bfs.json"}


def test_they_are_what_the_demo_measured(demo, found):
    run, _ = demo
    assert found.seeds == run.seeds
    assert set(found.words) == {f"seed {seed}" for seed in run.seeds}
    assert found.control.verdict.word == "runs"
    assert found.program.name == found.control.verdict.which
    assert found.program.verification.network.exact_traces == 1
    first, *others = found.shown.recordings
    assert first == f"compiled {found.program.name}"
    assert others == list(found.words)
    network = run.ensemble()[0]
    again = networks.run(network, found.shown.batch)
    assert np.allclose(again.attention, found.shown.recordings["seed 0"].attention, atol=1e-5)


def test_another_number_of_problems_is_measured_anew(copy, found, monkeypatch):
    """None given, what is in the folder is taken as it is."""
    measured = []
    monkeypatch.setattr(examine, "_measure", lambda *given: measured.append(given) or found)
    monkeypatch.setattr(examine, "write", lambda run, findings: None)
    assert findings(copy, "bfs").problems == FEW
    assert findings(copy, "bfs", problems=FEW).problems == FEW
    assert not measured
    findings(copy, "bfs", problems=FEW + 1)
    assert measured[0][2:4] == (0, FEW + 1)


def test_of_other_weights_or_another_version_they_are_measured_anew(copy, found, monkeypatch):
    measured = []
    monkeypatch.setattr(examine, "_measure", lambda *given: measured.append(given) or found)
    monkeypatch.setattr(examine, "write", lambda run, findings: None)
    first, second = (copy.path / f"weights/bfs/seed-0000{seed}.safetensors" for seed in (0, 1))
    own = first.read_bytes()
    first.write_bytes(second.read_bytes())
    findings(copy, "bfs")
    assert len(measured) == 1
    first.write_bytes(own)
    findings(copy, "bfs")
    assert len(measured) == 1
    monkeypatch.setattr(examine, "basis", lambda task: "of another version")
    findings(copy, "bfs")
    assert len(measured) == 2


def test_counterexamples_and_what_was_said_survive_the_folder(copy, found):
    again = read(copy, "bfs")
    assert again is not None
    for name, judgement in found.judgements.items():
        ours, theirs = judgement.evidence.falsification, again.judgements[name].evidence
        assert ours is not None
        assert theirs.falsification == ours
        assert ours.smallest is not None, "networks that are hardly trained are wrong somewhere"
        assert ours.smallest.wrong_nodes
    control = again.control.evidence.falsification
    assert control.certified
    assert control.wrong == 0


def test_the_distances_are_of_networks_and_programs(found):
    between = found.distances.total_variation
    assert np.allclose(between, between.T)
    assert not between.diagonal().any()
    assert found.distances.names[: -found.distances.references] == list(found.words)
    assert "bfs" in found.distances.names[-found.distances.references :]


def test_damaged_ones_are_named_and_other_formats_measured_anew(copy):
    path = copy.path / "findings" / "bfs.json"
    whole = path.read_text()
    path.write_text(whole.replace('"judgements"', '"judgement"', 1))
    with pytest.raises(RunError, match="--remeasure"):
        read(copy, "bfs")
    path.write_text(json.dumps(json.loads(whole) | {"format": 0}))
    assert read(copy, "bfs") is None
    path.write_text(whole)
    (path.with_suffix(".safetensors")).write_bytes(b"nothing")
    with pytest.raises(RunError, match="not a whole safetensors file"):
        read(copy, "bfs")


def test_a_run_that_is_not_finished_is_refused(tmp_path):
    config = training.TrainingConfig(tasks=("bfs",), steps=5)
    run = reservation.create(tmp_path / "begun", config.as_json())
    with pytest.raises(RunError, match="needed a finished one"):
        findings(run, "bfs")
    with pytest.raises(RunError, match="needed at least one"):
        page.report([])


def test_networks_that_say_nothing_can_be_looked_at(found, visit, tmp_path):
    """Hint mode none: there is attention, and no variable to compare."""
    recordings = {
        name: dataclasses.replace(recording, hints={} if name in found.words else recording.hints)
        for name, recording in found.shown.recordings.items()
    }
    data = explorer.data(found.shown._replace(recordings=recordings), found.words)
    assert data["variables"] == []
    box = '<div class="explorer" data-from="explored"></div>'
    made = html.page(
        "", [html.Section("s", "", box)], scripts=explorer.SCRIPTS, data={"explored": data}
    )
    (tmp_path / "page.html").write_text(made)
    shown, troubles = visit((tmp_path / "page.html").as_uri())
    shown.wait_for_selector(".explorer[data-ready]")
    assert not troubles
    assert shown.locator("svg.matrix .cell").count() == 2 * 16 * 16


@pytest.fixture(scope="module")
def searching(tmp_path_factory):
    """A finished run of a task that the library has no program for."""
    config = training.TrainingConfig(
        tasks=("optimal_bst",), seeds=1, steps=1, network=networks.NetworkConfig(width=2)
    )
    run = reservation.create(tmp_path_factory.mktemp("runs") / "searching", config.as_json())
    task = tasks.get("optimal_bst")
    network = networks.build(task, config.network, key=jax.random.key(0))
    metrics = runs.Metrics(np.ones((1, 1, 1)), np.zeros(1, np.int32), np.zeros((1, 1, 1)))
    ensemble = networks.Ensemble.of([network], "optimal_bst", (0,))
    return folder.finish(run, ensemble, metrics, {})


def test_without_a_program_there_is_a_page_and_no_verdict(searching, visit):
    path = page.report([searching])
    found = findings(searching, "optimal_bst")
    assert found.words == {"seed 0": "not judged"}
    assert found.program is found.control is found.distances is None
    assert 0 <= found.judgements["seed 0"].evidence.external["small"].eq25 <= 1
    shown, troubles = visit(path.as_uri())
    assert not troubles
    assert shown.inner_text("h1") == "The network is not judged."
    assert "no exact program for optimal_bst" in shown.inner_text(".lead")
    assert shown.locator(".explorer[data-ready] .side").count() == 1, "nobody is shown twice"
    assert "the page has no algorithm for optimal_bst" in shown.inner_text("#explore")
    assert shown.locator(".modes").count() == 0
    heads = shown.locator(".variables th").all_inner_texts()
    assert {"p", "q"} <= set(heads), "what is given is shown"
    keys = tasks.sample("insertion_sort", 4, 1, seed=0)
    assert list(explorer.inputs(keys, 0)) == ["key"]
    assert explorer.inputs(keys, 0)["key"] == pytest.approx(keys.inputs["key"][0], abs=1e-3)
