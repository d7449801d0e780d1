"""Packs: what a borrowed machine found goes on elsewhere; and parts that are made alone."""

import dataclasses
import json
import time
import zipfile

import pytest

from algoscope import experiments, networks, runs, stopping, tasks, training
from algoscope.experiments import pack
from algoscope.experiments.mind_the_gap import landscapes
from algoscope.experiments.mind_the_gap.solutions import Plan, ensembles_in, solve
from algoscope.runs import live, lock
from algoscope.verbs import reproduce

PLAN = Plan(
    training.TrainingConfig(
        ("bfs",),
        seeds=4,
        steps=2,
        evaluate_every=2,
        scored_on=("test",),
        test_size=4,
        recipe=tasks.Recipe(sizes=(4,), count=2),
        network=networks.NetworkConfig(width=4),
    ),
    chunk=2,
    sizes=(),
    problems=2,
    compared=1,
    weights=("best", "last"),
    variant="packed",
)


class _TakenAwayError(Exception):
    pass


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A folder whose first chunk is done and whose second one was stopped."""
    folder = tmp_path_factory.mktemp("borrowed")

    def take_away(text):
        if "seeds-00002-00003: step 1" in text:
            raise _TakenAwayError

    with pytest.raises(_TakenAwayError):
        solve(PLAN, folder, take_away)
    (folder / ".unfinished-something").mkdir()
    (folder / ".unfinished-something" / "file").touch()
    return folder


@pytest.fixture(scope="module")
def packed(stopped, tmp_path_factory):
    path = tmp_path_factory.mktemp("packs") / "new" / "results.zip"
    pack.write(stopped, path)
    return path


def test_a_pack_holds_what_is_finished(packed, stopped):
    with zipfile.ZipFile(packed) as file:
        names = set(file.namelist())
    first = stopped / "bfs-packed" / "seeds-00000-00001"
    assert "bfs-packed/seeds-00000-00001.json" in names
    of_run = {
        path.relative_to(stopped).as_posix()
        for path in first.rglob("*")
        if path.is_file() and path.name not in {live.FILE, lock.FILE}
    }
    assert of_run <= names
    assert {name for name in names if "weights" in name}
    assert not [name for name in names if "seeds-00002" in name or ".unfinished" in name]
    again = packed.with_name("again.zip")
    pack.write(stopped, again)
    assert again.read_bytes() == packed.read_bytes()


def test_another_machine_goes_on_from_a_pack(packed, stopped, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    assert pack.unpack(packed, elsewhere) > 2
    assert pack.unpack(packed, elsewhere) == 0
    (there,) = ensembles_in(elsewhere).values()
    assert [seed["seed"] for seed in there.seeds] == [0, 1]
    said = []
    done = solve(PLAN, elsewhere, said.append)
    assert not [text for text in said if "seeds-00000" in text]
    for seed in (2, 3):
        assert done.seeds[seed] == solve(PLAN, stopped, lambda _: None).seeds[seed]


def test_what_is_in_the_folder_stays(packed, tmp_path):
    file = tmp_path / "bfs-packed" / "seeds-00000-00001.json"
    file.parent.mkdir()
    file.write_text("mine")
    pack.unpack(packed, tmp_path)
    assert file.read_text() == "mine"


def test_a_pack_says_what_its_folder_says(packed, tmp_path):
    pack.unpack(packed, tmp_path)
    ours, theirs = experiments.from_results(packed), experiments.from_results(tmp_path)
    assert ours.tables == theirs.tables
    assert ours.tables


@pytest.mark.parametrize("name", ["../outside.json", "/outside.json", "a/../../b", "..\\outside"])
def test_no_file_is_written_outside_the_folder(tmp_path, name):
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, "{}")
    with pytest.raises(runs.RunError, match=r"needed names inside the folder"):
        pack.unpack(path, tmp_path / "folder")
    assert [found.name for found in tmp_path.rglob("*")] == ["bad.zip"]


def test_a_damaged_pack_is_refused(packed, tmp_path):
    whole = packed.read_bytes()
    middle = len(whole) // 2
    for name, octets in {
        "cut.zip": whole[:middle],
        "text.zip": b"no pack",
        "flipped.zip": whole[:200] + bytes([whole[200] ^ 255]) + whole[201:],
    }.items():
        (tmp_path / name).write_bytes(octets)
        with pytest.raises(runs.RunError, match="not a whole pack"):
            pack.unpack(tmp_path / name, tmp_path / "folder")


def test_landscapes_say_that_they_need_weights(packed, tmp_path):
    pack.unpack(packed, tmp_path)
    (solutions,) = ensembles_in(tmp_path).values()
    for path in solutions.folder.glob("seeds-*/"):
        path.rename(tmp_path / "elsewhere")
    with pytest.raises(runs.RunError, match="got results without weights"):
        next(landscapes._networks(solutions, landscapes._EFFORTS["smoke"]))


def test_parts_are_made_alone_and_packed(algoscope, tmp_path):
    command = ["reproduce", "mind-the-gap-table-12", "--only", "bfs-ablated", "--pack", "kept.zip"]
    first = algoscope(*command, "--out", "here")
    assert "cannot be said: the bias costs BFS less than one point" in first
    assert "bfs-attention-bias not run: N = 0" in first
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["bfs-ablated"]
    before = json.loads(algoscope(*command, "--out", "there", "--json"))
    assert list(before["ensembles"]) == ["bfs-ablated"]
    # Nothing was trained there, so what it says is what came in the pack.
    chunks = [
        one / "bfs-ablated" / "seeds-00000-00001.json"
        for one in (tmp_path / "here", tmp_path / "there")
    ]
    assert chunks[0].read_bytes() == chunks[1].read_bytes()
    assert "bfs-ablated" in algoscope("reproduce", "--from", "kept.zip")


def test_a_pack_is_left_though_a_library_swallows_the_first_stop(algoscope, tmp_path, monkeypatch):
    deaf = []

    def work(_preset, out, _report, _only):
        out.mkdir()
        (out / "found.json").write_text("{}")
        try:
            time.sleep(60)
        except training.Stopped:  # As in a callback of C code.
            deaf.append(stopping.is_answered())
        time.sleep(60)

    slow = dataclasses.replace(experiments.get("mind-the-gap-settings"), reproduce=work)
    monkeypatch.setattr(experiments, "get", lambda name: slow)
    monkeypatch.setattr(reproduce, "_AGAIN", 0.3)
    with pytest.raises(SystemExit):
        algoscope("reproduce", "slow", "--seconds", "0.5", "--pack", "kept.zip", "--out", "here")
    assert deaf == [True]
    assert not stopping.is_answered()
    with zipfile.ZipFile(tmp_path / "kept.zip") as kept:
        assert kept.namelist() == ["found.json"]


@pytest.mark.parametrize("preset", ["smoke", "full"])
@pytest.mark.parametrize("name", experiments.names())
def test_parts_are_named_once_and_others_refused(name, preset, tmp_path):
    experiment = experiments.get(name)
    parts = experiment.parts(preset)
    assert len(set(parts)) == len(parts)
    with pytest.raises(ValueError, match="--only: "):
        experiment.run(preset, tmp_path, only=("nothing",))
    assert not list(tmp_path.iterdir())


def test_no_part_is_left_out_where_none_is_named(monkeypatch, tmp_path):
    experiment = experiments.get("mind-the-gap-table-12")
    asked = []
    told = dataclasses.replace(
        experiment, reproduce=lambda *given: asked.append(given[-1]) or experiments.Result()
    )
    told.run("full", tmp_path)
    told.run("full", tmp_path, only=("bfs-ablated",))
    assert asked == [("bfs-ablated", "bfs-attention-bias"), ("bfs-ablated",)]
