"""A sweep of many runs: what is read from its index and its consolidated tables is what its runs
say, also when some of them have changed since."""

import json
import os
import pathlib
import shutil
import time

import numpy as np
import pytest

from algoscope import runs, sweeps
from algoscope.files import write_bytes
from algoscope.runs import lock, parquet
from algoscope.runs.words import Words
from algoscope.sweeps.harvest import Harvest

AXES = {"tasks": ["bfs", "dfs"], "network.processor": ["gatv2", "mpnn"],
        "learning_rate": [1e-4, 1e-3], "network.width": [32, 64, 128],
        "data_seed": [0, 1, 2]}  # fmt: skip
KEPT = (".index.json", ".tables")


@pytest.fixture
def many(scale, tmp_path) -> pathlib.Path:
    """A sweep of 72 runs that were finished a while ago, of which everything is kept."""
    folder = tmp_path / "many"
    sweep = sweeps.Sweep("many", {"steps": 1000}, AXES, seeds=2, after="judge", problems=100)
    scale.make(folder, sweeps.checked(sweep))
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 60,) * 2)
    sweeps.gather(folder)
    assert all((folder / name).exists() for name in KEPT)
    return folder


def plainly(folder: pathlib.Path) -> Harvest:
    """What the runs say, without anything that is kept of them."""
    copy = folder.parent / "plain" / folder.name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*KEPT))
    return sweeps.gather(copy)


def comparable(harvest: Harvest) -> list:
    places = [(p.planned.item.name, p.stage, p.step, p.error, p.facts) for p in harvest.places]
    rows = [row._replace(scores=row.scores.tolist()) for row in harvest.rows]
    curves = {key: (c.steps.tolist(), c.scores.tolist()) for key, c in harvest.curves.items()}
    return [harvest.measure, places, rows, sorted(curves.items())]


def rescored(run: pathlib.Path, value: float) -> None:
    results = json.loads((run / "results.json").read_text())
    for name in ("test", "fresh", "seen"):
        for scores in results[name].values():
            scores["score"] = [value, value]
    write_bytes(run / "results.json", json.dumps(results).encode())
    (task,) = runs.open(run).tasks
    names = [(task, name, "score") for name in ("test", "fresh", "seen")]
    names.append(("", "best_validation", ""))
    rows = [(seed, *which, value) for which in names for seed in (0, 1)]
    (run / "results.parquet").unlink()
    parquet.write_rows(run / "results.parquet", ["seed", "task", "name", "output", "value"], rows)


def test_what_is_kept_of_a_sweep_is_what_its_runs_say(many):
    kept = sweeps.gather(many)
    assert len(kept.rows) == 72
    assert comparable(kept) == comparable(plainly(many))


def test_a_run_that_has_changed_is_never_shown_as_it_was(many):
    before = {row.run: row for row in sweeps.gather(many).rows}
    changed, judged, gone, failed, damaged, *_ = sorted(before)
    rescored(many / changed, 0.123)
    Words(100, {before[judged].task: ["undecided", "undecided"]}).write(many / judged)
    shutil.rmtree(many / gone)
    (many / f"{failed}.error").write_text("out of memory\n")
    (many / damaged / "results.json").write_text("{")
    after = sweeps.gather(many)
    rows = {row.run: row for row in after.rows}
    places = {place.planned.item.name: place for place in after.places}
    assert np.allclose(rows[changed].scores, 0.123)
    assert places[changed].facts.test == [0.123]
    assert rows[judged].words == ["undecided", "undecided"]
    assert places[judged].stage is sweeps.Stage.TRAINED, "nobody knows what judged"
    assert gone not in rows
    assert places[gone].stage is sweeps.Stage.WAITING
    assert (places[failed].stage, places[failed].error) == (sweeps.Stage.FAILED, "out of memory")
    assert places[damaged].stage is sweeps.Stage.FAILED
    assert "results.json" in places[damaged].error
    touched = {changed, judged, gone, failed, damaged}
    for name in before.keys() - touched:
        assert rows[name]._replace(scores=None) == before[name]._replace(scores=None)
    plain = plainly(many)
    assert comparable(after)[2:] == comparable(plain)[2:]
    assert [p.stage for p in after.places] == [p.stage for p in plain.places]


def test_a_run_is_running_from_its_first_moment_until_it_is_judged(many):
    """Somebody has its log, also before it has a folder and when it is trained."""
    waiting, judged = (place.planned.item for place in sweeps.positions(many)[:2])
    shutil.rmtree(waiting.path)
    (many / judged.name / "verdicts.json").unlink()

    def stages() -> list[str]:
        return [str(place.stage) for place in sweeps.positions(many)[:3]]

    assert stages() == ["waiting", "trained", "done"]
    with waiting.log.open("a") as one, judged.log.open("a") as other:
        assert lock.take(one)
        assert lock.take(other)
        assert stages() == ["running", "running", "done"]
        assert len(sweeps.gather(many).trained) == 71
    assert stages() == ["waiting", "trained", "done"]
