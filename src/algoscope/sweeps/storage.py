"""Runs of a sweep in object storage, or whatever else fsspec reaches: for workers that share no
folder with the sweep.

A worker makes its run in a folder of its own, of which a thread keeps a copy in the storage; who
begins with that run again goes on from the copy. What a run is by comes last, `run.json`, and what
is gone goes after it, so that a copy is at every moment a run that can be gone on with. Of a run
that is in both places, the one that is further stays.

    URL/RUN/                    the run folder
    URL/RUN.log, RUN.error      what was done, and why it failed
"""

import contextlib
import pathlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from algoscope.errors import ConfigError
from algoscope.files import place
from algoscope.runs import checkpoints, lock
from algoscope.runs.folder import DESCRIPTION

_LEAST, _MOST = 0.05, 1.0
"""Seconds between two looks for what has changed."""
_PATIENCE = (1.0, 4.0, 16.0, 60.0)
"""Seconds before what has to succeed is tried again."""
_RESULTS = "results.json"
_OBJECTS = frozenset(("s3", "gs", "abfs"))
"""Protocols of object storages, where a file is there when it is whole."""
_TEMPORARY = ".unfinished-"


class _Version(NamedTuple):
    """By which it is known that a file was replaced."""

    inode: int
    moment: int
    size: int


class _Progress(NamedTuple):
    """How far a run is, in the order of these."""

    begun: bool = False
    trained: bool = False
    step: int = 0
    """Of the last checkpoint; there is none of what is finished."""
    files: int = 0
    """Of what is trained, verdicts and pages among them."""


def _progress(paths: Iterable[str]) -> _Progress:
    """Of the run with these files."""
    names = [path.rpartition("/")[2] for path in paths]
    if DESCRIPTION not in names:
        return _Progress()
    if _RESULTS in names:
        return _Progress(True, True, files=len(names))
    return _Progress(True, step=max(checkpoints.step_of(name) or 0 for name in names))


class Storage:
    """A place, by its URL, such as s3://bucket/sweeps/rates."""

    def __init__(self, url: str):
        import fsspec

        try:
            self._files, root = fsspec.core.url_to_fs(url)
            self._files.exists(root)
        except Exception as error:  # Each kind of storage has its own.
            raise ConfigError(f"storage: got {url}, which fsspec cannot use: {error}") from None
        self._root = root.rstrip("/")

    def fetch(self, name: str, folder: pathlib.Path) -> None:
        """Replaces the run and its log in a folder by what is there, unless what is in the folder
        is further."""
        _patiently(lambda: self._fetch(name, folder))

    def offer(self, name: str, folder: pathlib.Path) -> None:
        """Replaces what is there by the run in a folder, where that is further."""
        _patiently(lambda: self._offer(name, folder))

    def _fetch(self, name: str, folder: pathlib.Path) -> None:
        here, there = self._both(name, folder)
        if here > there:
            return

        def fill(temporary: pathlib.Path) -> None:
            for path in self._files.find(self._at(name)):
                inside = temporary / path.removeprefix(self._at(name)).lstrip("/")
                if not inside.name.startswith(_TEMPORARY):
                    inside.parent.mkdir(parents=True, exist_ok=True)
                    self._files.get_file(path, str(inside))

        folder.mkdir(parents=True, exist_ok=True)
        if there.begun:
            place(folder / name, fill)
        for beside in (f"{name}.log", f"{name}.error"):
            if self._files.exists(self._at(beside)):
                self._files.get_file(self._at(beside), str(folder / beside))

    def _offer(self, name: str, folder: pathlib.Path) -> None:
        here, there = self._both(name, folder)
        if here > there:
            stored = self._files.find(self._at(name))
            inside = [path.removeprefix(self._root).lstrip("/") for path in stored]
            _Copy(self._files, self._root, name, folder, dict.fromkeys(inside)).update()

    def _both(self, name: str, folder: pathlib.Path) -> tuple[_Progress, _Progress]:
        """How far the run is in the folder, and how far there."""
        self._files.invalidate_cache()
        return _progress(_inside(folder, name)), _progress(self._files.find(self._at(name)))

    @contextlib.contextmanager
    def taken_up(self, name: str, folder: pathlib.Path, seconds: float) -> Iterator[None]:
        """Fetches the run into a folder, and copies what becomes of it back, on the way, where
        there is a checkpoint every so many seconds, and in the end."""
        self.fetch(name, folder)
        copy = _Copy(self._files, self._root, name, folder)
        ended, pause = threading.Event(), min(_MOST, max(_LEAST, seconds))

        def follow() -> None:
            while not ended.wait(pause):
                # The next look finds the storage again, whatever its own errors are.
                with contextlib.suppress(Exception):
                    copy.update()

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            _patiently(copy.update)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"


def _patiently(copy: Callable[[], None]) -> None:
    """What was trained is lost if a copy is not made: the storage may be away for a while."""
    for seconds in _PATIENCE:
        try:
            return copy()
        except Exception:  # Each kind of storage has its own.
            time.sleep(seconds)
    copy()


class _Copy:
    """What is in the storage of the run in a folder."""

    def __init__(
        self,
        files: Any,
        root: str,
        name: str,
        folder: pathlib.Path,
        there: dict[str, _Version | None] | None = None,
    ):
        """What is `there`, by its path; what is in the folder now, if that is not said."""
        self._files, self._root, self._name, self._folder = files, root, name, folder
        self._there: dict[str, _Version | None] = there or {}
        if there is None:
            self._there |= self._found()

    def update(self) -> None:
        found = self._found()
        changed = [path for path in found if self._there.get(path) != found[path]]
        whole = True
        for path in sorted(changed, key=lambda path: pathlib.PurePath(path).name == DESCRIPTION):
            whole = whole and self._send(path, found[path])
        if whole:
            for path in [path for path in self._there if path not in found]:
                with contextlib.suppress(FileNotFoundError):
                    self._files.rm_file(f"{self._root}/{path}")
                del self._there[path]

    def _found(self) -> dict[str, _Version]:
        """The files that are whole, by their paths in the folder."""
        beside = self._folder.glob(f"{self._name}.*")
        return _inside(self._folder, self._name) | _whole(self._folder, beside)

    def _send(self, path: str, version: _Version) -> bool:
        """Whether the file was still there. It takes its name when it is whole, also where the
        storage is a file system; a move in object storage would be six requests more."""
        target = f"{self._root}/{path}"
        above, _, name = target.rpartition("/")
        protocol = self._files.protocol
        objects = _OBJECTS.intersection([protocol] if isinstance(protocol, str) else protocol)
        written = target if objects else f"{above}/{_TEMPORARY}{name}"
        try:
            self._files.makedirs(above, exist_ok=True)
            self._files.put_file(str(self._folder / path), written)
        except FileNotFoundError:
            if (self._folder / path).exists():  # It is the storage that lacks something.
                raise
            return False
        if written != target:
            self._files.mv(written, target)
        self._there[path] = version
        return True


def _inside(folder: pathlib.Path, name: str) -> dict[str, _Version]:
    """The files of a run that are whole, by their paths in the folder."""
    return _whole(folder, (folder / name).rglob("*"))


def _whole(folder: pathlib.Path, paths: Iterable[pathlib.Path]) -> dict[str, _Version]:
    versions = {}
    for path in paths:
        relative = path.relative_to(folder)
        temporary = any(part.startswith(_TEMPORARY) for part in relative.parts)
        if temporary or path.name == lock.FILE:
            continue
        with contextlib.suppress(FileNotFoundError):
            known = path.stat()
            if path.is_file():
                versions[str(relative)] = _Version(known.st_ino, known.st_mtime_ns, known.st_size)
    return versions
