"""`algoscope judge`, as a user calls it."""

import json

import numpy as np
import pytest

from algoscope import networks, programs
from algoscope.measures import Evidence
from algoscope.programs.compiler import compile_program
from algoscope.runs import Metrics, folder
from algoscope.serialise import from_json


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "bfs.safetensors"
    networks.save(compile_program(programs.get("bfs")).network, path, "bfs")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run folder with two seeds, of which one found BFS and one something else."""
    members = [compile_program(programs.get(name)).network for name in ("bfs", "bfs_highest")]
    config = {"tasks": ["bfs"], "first_seed": 4, "seeds": 2, "steps": 1}
    started = folder.create(tmp_path_factory.mktemp("runs") / "two", config)
    metrics = Metrics(np.zeros((1, 2, 1)), np.zeros(1, np.int32), np.zeros((1, 2, 1)))
    return folder.finish(started, networks.Ensemble.of(members, "bfs", (4, 5)), metrics, {}).path


def test_compiled_bfs_runs_bfs(algoscope, weights):
    """As JSON and as a table; every bar of a compiled network against its own reference."""
    content = json.loads(algoscope("judge", str(weights), "--task", "bfs", "--json"))
    (subject,) = content["subjects"].values()
    assert subject["verdict"]["word"] == "runs"
    assert subject["verdict"]["which"] == "bfs"
    evidence = from_json(Evidence, subject["evidence"])
    gaps = {gap.reference: gap.eq24 for gap in evidence.internal}
    assert gaps["bfs"] < 1e-6
    assert gaps["bfs_locked"] > 0.01
    assert evidence.external["large"].eq25 == 1
    assert evidence.interchange.state == 1
    assert evidence.state.owners[0] == "bfs"
    assert evidence.probes.same_size > evidence.untrained_probes.same_size + 0.3
    table = algoscope("judge", str(weights))
    for row in (
        "accuracy small",
        "accuracy large",
        "internal eq24",
        "probes large",
        "effect",
        "interchange",
        "state of",
    ):
        assert row in table
    assert "bfs.safetensors: runs bfs" in table


def test_every_seed_of_a_run_gets_its_word(algoscope, run):
    table = algoscope("judge", str(run))
    assert "seed 4: runs bfs" in table
    assert "seed 5: fails (accuracy" in table
    only = algoscope("judge", str(run), "--seeds", "5")
    assert "seed 4" not in only
    with pytest.raises(SystemExit) as exit_:
        algoscope("judge", str(run), "--task", "dfs")
    assert "--task: got dfs, needed one of bfs" in str(exit_.value.code)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--task", "dfs"), "holds weights for bfs"),
        (("--seeds", "1"), "which holds one network"),
    ],
)
def test_what_does_not_fit_the_weights_is_refused(algoscope, weights, arguments, message):
    with pytest.raises(SystemExit) as exit_:
        algoscope("judge", str(weights), *arguments)
    assert message in str(exit_.value.code)


def test_a_python_file_brings_its_own_subject(algoscope, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from algoscope import programs\n"
        "from algoscope.programs.interpreter import interpret\n"
        "def record(batch):\n"
        "    return interpret(programs.get('bfs_locked'), batch)\n"
    )
    table = algoscope("judge", str(path), "--task", "bfs")
    assert "mine.py: runs bfs_locked" in table
    assert "on the scale 0 = untrained" not in table, "nobody knows its shape"


def test_what_is_no_subject_is_refused(algoscope, tmp_path):
    empty = tmp_path / "empty.py"
    empty.write_text("")
    for arguments, message in (
        ([tmp_path / "nothing"], "needed a run folder, a .safetensors file"),
        ([tmp_path], "needed one that holds a run.json"),
        ([empty], "--task: got none, needed the task"),
        ([empty, "--task", "bfs"], "defines neither `record`"),
    ):
        with pytest.raises(SystemExit) as exit_:
            algoscope("judge", *map(str, arguments))
        assert message in str(exit_.value.code)
