"""Trackers read what their adapters write."""

import sys

import pytest
from finished import finished_run

from algoscope import cli
from algoscope.runs import RunError, trackers


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_s_reader_finds_every_number(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = finished_run(tmp_path / "a")
    trackers.write(run, "tensorboard")
    where = trackers.write(run, "tensorboard")
    reader = EventAccumulator(str(where)).Reload()
    assert sorted(reader.Tags()["scalars"]) == [
        f"bfs/{kind}/{name}"
        for kind in ("loss", "validation")
        for name in ("mean", "seed-00003", "seed-00004")
    ]
    found = [(e.step, e.value) for e in reader.Scalars("bfs/loss/seed-00004")]
    assert found == [(0, 1), (1, 3), (2, 5), (3, 7)]
    found = {e.step: e.value for e in reader.Scalars("bfs/validation/mean")}
    assert found == pytest.approx({0: 0.15, 2: 0.35})


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_compares_the_options_of_a_sweep_s_runs(tmp_path):
    """Its own reader of many runs finds each with its options, below the sweep's folder."""
    from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
    from tensorboard.plugins.hparams import metadata

    for name, rate in (("a", 0.1), ("b", 0.2)):
        run = finished_run(tmp_path / "rates" / name, learning_rate=rate)
        trackers.write(run, "tensorboard")
    reader = EventMultiplexer()
    reader.AddRunsFromDirectory(str(tmp_path / "rates")).Reload()
    found = {}
    for name in reader.Runs():
        content = reader.GetAccumulator(name).PluginTagToContent(metadata.PLUGIN_NAME)
        start = metadata.parse_session_start_info_plugin_data(
            content[metadata.SESSION_START_INFO_TAG]
        )
        found[name] = start.hparams["learning_rate"].number_value
        assert start.hparams["tasks"].string_value == '["bfs"]'
    assert found == {"a/tensorboard": 0.1, "b/tensorboard": 0.2}


def test_a_tracker_that_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(RunError, match="pip install wandb"):
        trackers.write(finished_run(tmp_path / "a"), "wandb")


def test_a_missing_tracker_is_said_before_any_training(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "wandb", None)
    arguments = ["train", "bfs", "--out", str(tmp_path / "a"), "--track", "wandb"]
    monkeypatch.setattr(sys, "argv", ["algoscope", *arguments])
    with pytest.raises(SystemExit, match="pip install wandb"):
        cli.main()
    assert not (tmp_path / "a").exists()
