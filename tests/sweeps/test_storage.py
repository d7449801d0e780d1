"""Copies of runs in storage: whole at every moment, and nothing is left of what is gone."""

import pathlib
from typing import ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from algoscope.errors import ConfigError
from algoscope.sweeps.storage import Storage


@pytest.fixture
def url(tmp_path):
    name = f"memory://{tmp_path.name}"
    yield name
    fsspec.filesystem("memory").rm(f"/{tmp_path.name}", recursive=True)


def stored(url: str) -> dict[str, bytes]:
    files, root = fsspec.core.url_to_fs(url)
    return {path.removeprefix(f"{root}/"): files.cat_file(path) for path in files.find(root)}


def begin(folder: pathlib.Path) -> pathlib.Path:
    run = folder / "run"
    run.mkdir(parents=True)
    (run / "checkpoint-1").write_text("one")
    (run / "run.json").write_text("running")
    (run / ".lock").touch()
    (run / ".unfinished-x").mkdir()
    (run / ".unfinished-x" / "weights").touch()
    (folder / "run.log").write_text("begun")
    return run


def test_what_changes_is_copied_and_what_is_gone_is_removed(tmp_path, url):
    run = begin(tmp_path / "first")
    storage = Storage(url)
    assert not storage.has("run")
    storage.send("run", tmp_path / "first")
    begun = {"run/checkpoint-1": b"one", "run/run.json": b"running", "run.log": b"begun"}
    assert stored(url) == begun
    assert storage.has("run")

    second = tmp_path / "second"
    with storage.taken_up("run", second, 1.0):
        assert (second / "run" / "checkpoint-1").read_text() == "one"
        (second / "run" / "checkpoint-1").unlink()
        (second / "run" / "weights" / "bfs").mkdir(parents=True)
        (second / "run" / "weights" / "bfs" / "seed").write_text("w")
        (second / "run" / "run.json").unlink()
        (second / "run" / "run.json").write_text("finished")
        (second / "run.log").write_text("begun, ended")
    ended = {"run/weights/bfs/seed": b"w", "run/run.json": b"finished", "run.log": b"begun, ended"}
    assert stored(url) == ended

    (run / "mine").write_text("of an older attempt")
    storage.fetch("run", tmp_path / "first")
    assert sorted(path.name for path in run.rglob("*") if path.is_file()) == ["run.json", "seed"]
    assert (tmp_path / "first" / "run.log").read_text() == "begun, ended"


def test_copies_are_made_on_the_way(tmp_path, url):
    storage = Storage(url)
    with storage.taken_up("run", tmp_path / "here", 0.0):
        begin(tmp_path / "here")
        while "run/run.json" not in stored(url):
            pass
        assert "run/checkpoint-1" in stored(url)


class Ordered(MemoryFileSystem):
    """Knows in which order files came."""

    protocol = "ordered"
    store: ClassVar[dict] = {}
    pseudo_dirs: ClassVar[list] = [""]
    came: ClassVar[list[str]] = []

    def mv(self, path1, path2, **more):
        self.came.append(path2.rpartition("/")[2])
        super().mv(path1, path2, **more)


def test_a_description_comes_after_what_it_describes(tmp_path):
    """A copy that ends in the middle is no run, or the one before."""
    fsspec.register_implementation("ordered", Ordered, clobber=True)
    begin(tmp_path / "here")
    Storage("ordered://there").send("run", tmp_path / "here")
    assert sorted(Ordered.came) == ["checkpoint-1", "run.json", "run.log"]
    assert Ordered.came[-1] == "run.json"


def test_a_storage_that_nobody_knows_is_refused():
    with pytest.raises(ConfigError, match="storage: got nowhere://x, which fsspec cannot use"):
        Storage("nowhere://x")
