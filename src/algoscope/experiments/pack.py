"""A pack: all that is finished in the folder of experiments, as one file.

A borrowed machine is given back, and what it computed goes with it. A pack takes along what tables
and figures are made of and what another machine goes on from: results, and runs that are finished,
with their weights. Runs that are not finished stay behind: their checkpoints hold what an optimiser
keeps of every network, gigabytes for an ensemble. It is an ordinary zip file.
"""

import os
import pathlib
import shutil
import zipfile
import zlib
from collections.abc import Iterator

from algoscope import runs
from algoscope.files import TEMPORARY, RunError, explained, place
from algoscope.runs import live, lock

_LEFT = {live.FILE, lock.FILE}
"""Files of a run's process alone."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a pack, so that equal results make equal packs."""


def is_pack(path: pathlib.Path) -> bool:
    return path.is_file() and zipfile.is_zipfile(path)


def write(folder: pathlib.Path, path: pathlib.Path) -> None:
    """Packs the folder into the file, which is whole or as it was."""

    def fill(temporary: pathlib.Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as pack:
            for file in sorted(_finished(folder)):
                name = file.relative_to(folder).as_posix()
                with file.open("rb") as source, pack.open(_entry(name), "w") as target:
                    shutil.copyfileobj(source, target)

    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    place(path, fill)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _finished(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """The files of a folder, without runs that are not finished."""
    for name in os.listdir(folder) if folder.is_dir() else ():
        path = folder / name
        if path.is_dir():
            if not name.startswith(TEMPORARY) and not (runs.has_begun(path) and not _ended(path)):
                yield from _finished(path)
        elif name not in _LEFT and not zipfile.is_zipfile(path):
            yield path


def _ended(path: pathlib.Path) -> bool:
    try:
        return runs.open(path).finished
    except RunError:
        return False  # Damaged: to be made again.


def unpack(path: pathlib.Path, folder: pathlib.Path) -> int:
    """Adds what the folder lacks of a pack; how many files that were. What is there stays."""
    try:
        with zipfile.ZipFile(path) as pack:
            return sum(_add(pack, entry, path, folder) for entry in pack.infolist())
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise RunError(f"{path}: not a whole pack ({error})") from None


def _add(
    pack: zipfile.ZipFile, entry: zipfile.ZipInfo, path: pathlib.Path, folder: pathlib.Path
) -> bool:
    name = pathlib.PurePosixPath(entry.filename)
    if name.is_absolute() or ".." in name.parts or "\\" in entry.filename:
        raise RunError(
            f"{path}: got a file named {entry.filename!r}, needed names inside the folder, as "
            "`algoscope reproduce --pack` writes them"
        )
    target = folder / name
    if entry.is_dir() or target.exists():
        return False

    def fill(temporary: pathlib.Path) -> None:
        with pack.open(entry) as source, temporary.open("wb") as file:
            shutil.copyfileobj(source, file)

    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    place(target, fill)
    return True
