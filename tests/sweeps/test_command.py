"""The command line of a sweep, before anything starts."""

import importlib
import json
import pathlib
import re
import shutil

import pytest
from pages import ROOT
from tiny import LONG, SETTINGS, SWEEP, TOML, contents

from algoscope import runs, sweeps
from algoscope.runs import RunError
from algoscope.training.plan import Room

drive = importlib.import_module("algoscope.sweeps.drive")  # Of the package, drive is a function.

PYTHON = """\
from algoscope import sweeps

rates = [10.0**-k for k in range(2, 5)]
sweep = sweeps.Sweep(
    "rates", {"tasks": ["bfs"], "network.width": 4, "steps": 50}, {"learning_rate": rates}, seeds=2
)
"""


def test_a_dry_run_lists_estimates_and_starts_nothing(algoscope, tmp_path):
    pathlib.Path("rates.py").write_text(PYTHON)
    listed = json.loads(algoscope("sweep", "rates.py", "--dry-run", "--json"))
    assert listed["folder"] == "runs/rates"
    assert [row["learning_rate"] for row in listed["runs"]] == ["0.01", "0.001", "0.0001"]
    assert all(row["seconds"] > 0 and row["bytes"] > 1e8 for row in listed["runs"])
    assert not any(row["done"] for row in listed["runs"])
    printed = algoscope("sweep", "rates.py", "--dry-run")
    assert "3 runs, 0 of them done" in printed
    assert "one after the other" in printed
    assert "judge" not in printed
    pathlib.Path("judged.py").write_text(PYTHON.replace("seeds=2", "seeds=2, after='judge'"))
    judged = json.loads(algoscope("sweep", "judged.py", "--dry-run", "--json"))
    for before, after in zip(listed["runs"], judged["runs"], strict=True):
        assert before["after_seconds"] == 0 < after["after_seconds"]
        assert after["seconds"] == before["seconds"] + after["after_seconds"]
    printed = algoscope("sweep", "judged.py", "--dry-run", "--workers", "3")
    assert "training" in printed
    assert "with 3 at once" in printed
    said = algoscope("sweep", "judged.py", "--dry-run", "--on", "ray", "--gpus", "0.5")
    assert "on a GPU" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["judged.py", "rates.py"]


def test_a_dry_run_of_what_nobody_would_live_to_see_is_listed(algoscope):
    """Its times are more than Python's own spans hold."""
    text = f"after = 'judge'\nproblems = {2**62}\n{TOML}".replace(f"[{LONG}, 40, 20]", "[20]")
    pathlib.Path("long.toml").write_text(text)
    printed = algoscope("sweep", "long.toml", "--dry-run")
    assert re.search(r"about [\d,]{15,}\N{NO-BREAK SPACE}h one after the other", printed)
    listed = json.loads(algoscope("sweep", "long.toml", "--dry-run", "--json"))
    assert all(row["seconds"] > 1e15 for row in listed["runs"])


def test_all_that_is_wrong_is_listed_before_anything_starts(refused, tmp_path):
    pathlib.Path("a.toml").write_text(TOML.replace("seeds", "seds").replace("steps", "stps"))
    faults = refused("sweep", "a.toml").splitlines()
    assert len(faults) == 3
    assert all("a.toml: " in fault for fault in faults)
    pathlib.Path("a.py").write_text(PYTHON + "other = sweep\n")
    assert "got 2 sweeps, needed a file with one" in refused("sweep", "a.py")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "a.toml"]


@pytest.mark.parametrize(
    ("on", "of_engine"),
    [
        ("local --workers 0", "workers: got 0, needed at least 1"),
        ("ray --cpus 1 --storage nowhere://x", "storage: got nowhere://x"),
        ("slurm --gpus 0.5", "gpus: got 0.5, needed whole GPUs"),
    ],
)
def test_what_training_would_refuse_is_listed_before_anything_starts(
    refused, tmp_path, on, of_engine
):
    """Of options, engine and all configurations at once."""
    text = TOML.replace("width = 4", "width = 1_000_000\nfreeze = ['procesor']\nclip = -1")
    pathlib.Path("a.toml").write_text(f"{text}recipe.p = [[5.0, -1], []]")
    options = "--at-once 3 --devices 0 --checkpoint-seconds -1"
    listed = refused("sweep", "a.toml", "--on", *on.split(), *options.split()).splitlines()
    expected = [
        "checkpoint_seconds: got -1.0",
        of_engine,
        "freeze: 'procesor'; did you mean processor",
        "clip: got -1",
        "recipe.p: got 5.0, needed a probability",
        "recipe.p: got -1.0, needed a probability",
        "recipe.p: got none",
        "devices: got 0, needed at least 1",
        "weights (network.width 1,000,000): needs about",
    ]
    for text in expected:
        assert sum(text in fault for fault in listed) == 1, (text, listed)
    assert len(listed) == len(expected) + (shutil.which("sbatch") is None and "slurm" in on)
    assert [path.name for path in tmp_path.iterdir()] == ["a.toml"]


def test_networks_side_by_side_divide_the_seeds_that_an_extended_sweep_adds(refused, tmp_path):
    """Runs of its first seeds are there."""
    pathlib.Path("tiny.toml").write_text(TOML.replace("seeds = 2", "seeds = 6"))
    for one in sweeps.plan(SWEEP, tmp_path / "runs" / "tiny", SETTINGS):
        pathlib.Path(one.item.path).mkdir(parents=True)
    told = refused("sweep", "tiny.toml", "--at-once", "3").splitlines()
    assert len(told) == 2 * 9
    assert sum("-s0-1: at_once: got 3, needed a divisor of 2" in line for line in told) == 9
    assert sum("-s2-5: at_once: got 3, needed a divisor of 4" in line for line in told) == 9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--storage s3://a --minutes 3", "--minutes: got it with --on local, needed --on slurm"),
        ("--on ray --workers 3", "--workers: got it with --on ray, needed --on local or slurm"),
        ("--on ray --storage nowhere://x", "which fsspec cannot use"),
        ("--on ray --storage file:///a --track mlflow", "--track mlflow: got it with --storage"),
        ("--on slurm --gpus 0.5", "gpus: got 0.5, needed whole GPUs"),
        ("--on slurm --minutes 1", "grace: got 90, needed less than the 60 seconds of a job"),
        ("--on slurm --sbatch partition", "--sbatch: got 'partition', needed NAME=VALUE"),
        ("--workers 0", "workers: got 0, needed at least 1"),
    ],
)
def test_options_that_do_not_fit_are_refused(refused, tmp_path, words, message):
    pathlib.Path("tiny.toml").write_text(TOML)
    assert message in refused("sweep", "tiny.toml", *words.split())
    assert not list(tmp_path.glob("runs/*/bfs-*"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("after", ["score", "judge", "report"])
def test_what_comes_after_training_is_done_later_too(tmp_path, shared, reference, after):
    """Runs that are trained are judged, and have a page, when the specification says so."""
    item = sweeps.plan(SWEEP, tmp_path, SETTINGS)[-1].item
    path = pathlib.Path(item.path)
    shutil.copytree(shared / "reference" / item.name, path)
    before = contents(tmp_path)
    assert sweeps.is_done(item)
    item = item._replace(settings=SETTINGS._replace(after=after, problems=50))
    assert sweeps.is_done(item) is (after == "score")
    assert sweeps.do(item).end is sweeps.End.FINISHED
    assert sweeps.is_done(item)
    assert contents(tmp_path) == before, "no bit of what was trained changes"
    assert (path / "verdicts.json").is_file() is (after != "score")
    assert (path / "report.html").is_file() is (after == "report")
    if after == "score":
        tracked = item._replace(settings=item.settings._replace(track=("tensorboard",)))
        assert not sweeps.is_done(tracked)
        assert sweeps.do(tracked).end is sweeps.End.FINISHED
        assert sweeps.is_done(tracked)
        return
    words = json.loads((path / "verdicts.json").read_text())
    assert words["problems"] == 50
    assert len(words["words"]["bfs"]) == len(runs.open(path).seeds) == 2
    assert not sweeps.is_done(item._replace(settings=item.settings._replace(problems=51)))
    old = {**words, "basis": {"bfs": "of another version"}}
    (path / "verdicts.json").write_text(json.dumps(old))
    assert not sweeps.is_done(item), "an old verdict is none"
    (path / "verdicts.json").write_text(json.dumps(words))
    if after == "report":
        page = (path / "report.html").read_text()
        assert all(word in page for word in words["words"]["bfs"])
        (path / "report.html").unlink()
        assert not sweeps.is_done(item), "a page that is gone is made again"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("description", [None, "{"])
def test_a_run_that_is_damaged_fails_and_is_left_as_it_is(tmp_path, description):
    """With its reason, so that the others of the sweep go on."""
    item = sweeps.plan(SWEEP, tmp_path, SETTINGS)[-1].item
    path = pathlib.Path(item.path)
    path.mkdir(parents=True)
    (path / "results.json").write_text("{")
    if description is not None:
        (path / "run.json").write_text(description)
    before = contents(tmp_path)
    assert not sweeps.is_done(item)
    outcome = sweeps.do(item)
    assert outcome.end is sweeps.End.FAILED
    assert item.name in outcome.error
    assert contents(tmp_path) == before


def test_jobs_of_slurm_are_not_cancelled_where_there_is_none(refused, tmp_path, monkeypatch):
    (tmp_path / ".slurm").mkdir()
    (tmp_path / ".slurm" / "jobs.json").write_text('{"1_0": "bfs"}')
    sweeps.write_specification(SWEEP, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    told = refused("sweep", "cancel", str(tmp_path))
    assert told.startswith("error: Slurm: squeue does not say which jobs there are")


class Elsewhere:
    """An engine whose workers write into a folder of the same name on disks of their own."""

    room = Room(None, 2.0**40)

    def run(self, items, stop):
        yield from (sweeps.Outcome(item.name, sweeps.End.FINISHED) for item in items)


def test_runs_that_were_finished_where_the_folder_is_not_are_missed(tmp_path, monkeypatch):
    monkeypatch.setattr(drive, "_IN_SIGHT", 0.0)
    monkeypatch.setattr(drive, "_LOOK", 0.0)
    first, *_ = sweeps.plan(SWEEP, tmp_path / "tiny", SETTINGS)
    told = f"got 9 runs .*, such as {first.item.name}; needed a folder that all workers share"
    with pytest.raises(RunError, match=told):
        sweeps.drive(SWEEP, tmp_path / "tiny", Elsewhere())


def test_every_engine_made_the_same_runs_verdicts_and_tables():
    """What benchmarks/engines.py last found."""
    record = json.loads((ROOT / "benchmarks" / "engines.json").read_text())
    assert {trial["engine"] for trial in record["trials"]} == {"local", "ray", "slurm"}
    assert any("verdicts.json" in path for path in record["digest"])
    for trial in record["trials"]:
        assert not trial["differing"]
        assert not trial["faults"]
