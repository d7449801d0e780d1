"""Trackers read what their adapters write."""

import sys

import pytest
from finished import finished_run

from algoscope import cli, runs
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


@pytest.mark.filterwarnings("ignore")
def test_mlflow_has_a_sweep_s_runs_in_one_experiment(tmp_path):
    """Also when a run is written again, as after a kill."""
    mlflow = pytest.importorskip("mlflow", reason="pip install mlflow")
    for name, rate in (("a", 0.1), ("b", 0.2), ("b", 0.2)):
        path = tmp_path / "rates" / name
        run = runs.open(path) if path.exists() else finished_run(
            path, sweep="rates", learning_rate=rate)  # fmt: skip
        trackers.write(run, "mlflow")
    store = tmp_path / "rates" / "mlflow" / "mlflow.db"
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{store}")
    experiment = client.get_experiment_by_name("rates")
    found = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert len(client.search_runs([experiment.experiment_id])) == 2
    assert {name: run.data.params["learning_rate"] for name, run in found.items()} == {
        "a": "0.1", "b": "0.2",
    }  # fmt: skip
    history = client.get_metric_history(found["b"].info.run_id, "bfs/loss/seed-00004")
    assert sorted((m.step, m.value) for m in history) == [(0, 1), (1, 3), (2, 5), (3, 7)]


@pytest.mark.filterwarnings("ignore")
def test_weights_and_biases_groups_by_sweep(tmp_path):
    """Read from the file that `wandb sync` sends."""
    pytest.importorskip("wandb", reason="pip install wandb")
    from wandb.proto.wandb_internal_pb2 import Record  # pyright: ignore

    where = trackers.write(finished_run(tmp_path / "rates" / "a", sweep="rates"), "wandb")
    (file,) = where.rglob("*.wandb")
    records = [Record.FromString(content) for content in _logged(file.read_bytes())]
    (begun,) = (record.run for record in records if record.HasField("run"))
    assert (begun.run_group, begun.display_name, begun.project) == ("rates", "a", "algoscope")
    losses = [
        float(item.value_json)
        for record in records
        if record.HasField("history")
        for item in record.history.item
        if "bfs/loss/seed-00004" in (item.key, *item.nested_key)
    ]
    assert losses == [1, 3, 5, 7]


def _logged(octets: bytes) -> list[bytes]:
    """The records of a log in LevelDB's form: blocks of 32 KiB, each record in parts that have a
    checksum, a length and a kind; a header of seven bytes comes first."""
    size, place, records, parts = 32768, 7, [], b""
    while place + 7 <= len(octets):
        if size - place % size < 7:
            place += size - place % size
            continue
        length, kind = int.from_bytes(octets[place + 4 : place + 6], "little"), octets[place + 6]
        parts += octets[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # A whole record, or the last part of one.
            records.append(parts)
            parts = b""
    return records


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
