"""Copies of runs in storage: whole at every moment, and nothing is left of what is gone. In memory,
and in a real S3 server with the client that a user has."""

import pathlib
import time
from typing import ClassVar

import fsspec
import object_storage
import pytest
import s3fs
from fsspec.implementations.memory import MemoryFileSystem

from algoscope.errors import ConfigError
from algoscope.sweeps import storage as storages
from algoscope.sweeps.storage import Storage


@pytest.fixture(params=["memory", "s3"])
def url(request, tmp_path, monkeypatch):
    if request.param == "memory":
        yield f"memory://{tmp_path.name}"
        fsspec.filesystem("memory").rm(f"/{tmp_path.name}", recursive=True)
        return
    with object_storage.s3() as settings:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield f"s3://{object_storage.BUCKET}/sweeps/rates"
        s3fs.S3FileSystem.clear_instance_cache()


def names(url: str) -> set[str]:
    files, root = fsspec.core.url_to_fs(url)
    files.invalidate_cache()
    return {path.removeprefix(f"{root}/") for path in files.find(root)}


def stored(url: str) -> dict[str, bytes]:
    files, root = fsspec.core.url_to_fs(url)
    return {name: files.cat_file(f"{root}/{name}") for name in names(url)}


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
    assert not names(url)
    storage.offer("run", tmp_path / "first")
    begun = {"run/checkpoint-1": b"one", "run/run.json": b"running", "run.log": b"begun"}
    assert stored(url) == begun

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
        while "run/run.json" not in names(url):
            time.sleep(0.01)
        assert "run/checkpoint-1" in names(url)


def test_what_is_further_stays(tmp_path, url):
    """Whichever place it is in: another engine may have gone on with a run, or judged it."""
    storage, folder = Storage(url), tmp_path / "here"
    run = begin(folder)
    digest = 24 * "0"

    def reach(step: int) -> None:
        for file in run.glob("checkpoint-*"):
            file.unlink()
        (run / f"checkpoint-{step:09d}-{digest}.safetensors").write_text(str(step))

    reach(5)
    storage.offer("run", folder)
    reach(7)
    (folder / "run.log").write_text("begun, went on here")
    storage.fetch("run", folder)
    assert [file.read_text() for file in run.glob("checkpoint-*")] == ["7"]
    assert (folder / "run.log").read_text() == "begun, went on here"
    storage.offer("run", folder)
    checkpoints = [name for name in names(url) if "checkpoint" in name]
    assert checkpoints == [f"run/checkpoint-000000007-{digest}.safetensors"]
    assert stored(url)["run.log"] == b"begun, went on here"

    reach(6)
    storage.offer("run", folder)
    storage.fetch("run", folder)
    assert [file.read_text() for file in run.glob("checkpoint-*")] == ["7"]

    (run / "results.json").write_text("{}")
    storage.offer("run", folder)
    (run / "findings").mkdir()
    (run / "findings" / "seed").write_text("judged here")
    storage.fetch("run", folder)
    assert (run / "findings" / "seed").is_file()
    storage.offer("run", folder)
    assert "run/findings/seed" in names(url)
    storage.fetch("other", folder)
    assert (folder / "run.log").is_file()


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
    Storage("ordered://there").offer("run", tmp_path / "here")
    assert sorted(Ordered.came) == ["checkpoint-1", "run.json", "run.log"]
    assert Ordered.came[-1] == "run.json"


class Away(MemoryFileSystem):
    """Takes nothing for a while, and says so in its own way."""

    protocol = "away"
    store: ClassVar[dict] = {}
    pseudo_dirs: ClassVar[list] = [""]
    refusals: ClassVar[list[int]] = []

    def put_file(self, lpath, rpath, **more):
        if self.refusals and self.refusals.pop():
            raise RuntimeError("no answer")
        super().put_file(lpath, rpath, **more)

    def get_file(self, rpath, lpath, **more):
        if self.refusals and self.refusals.pop():
            raise RuntimeError("no answer")
        super().get_file(rpath, lpath, **more)


def test_a_storage_that_is_away_for_a_while_loses_nothing(tmp_path, monkeypatch):
    fsspec.register_implementation("away", Away, clobber=True)
    monkeypatch.setattr(storages, "_PATIENCE", (0.0,) * 3)
    with Storage("away://there").taken_up("run", tmp_path / "here", 60.0):
        begin(tmp_path / "here")
        Away.refusals += [1, 1]
    assert not Away.refusals
    assert names("away://there") == {"run/checkpoint-1", "run/run.json", "run.log"}
    Away.refusals += [1, 1, 1]
    Storage("away://there").fetch("run", tmp_path / "fetched")
    assert not Away.refusals
    assert (tmp_path / "fetched" / "run" / "checkpoint-1").read_text() == "one"

    def change() -> None:
        with Storage("away://there").taken_up("run", tmp_path / "there", 60.0):
            (tmp_path / "there" / "run" / "run.json").write_text("changed, and longer")
            Away.refusals += [1] * 4

    with pytest.raises(RuntimeError, match="no answer"):
        change()
    assert not Away.refusals


@pytest.mark.parametrize("url", ["nowhere://x", "s3://bucket/rates"])
def test_a_storage_that_is_not_there_is_refused(url, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(ConfigError, match=f"storage: got {url}, which fsspec cannot use"):
        Storage(url)
