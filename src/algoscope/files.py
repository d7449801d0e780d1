"""Files that are whole or not there: written beside their place, synced, and moved into it."""

import contextlib
import itertools
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import ArrayLike

_TEMPORARY = ".unfinished-"


class RunError(ValueError):
    """What is wrong with a run folder, and what to do about it."""


def write_bytes(path: pathlib.Path, octets: bytes) -> None:
    def fill(temporary: pathlib.Path) -> None:
        with temporary.open("wb") as file:
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())

    place(path, fill)


def place(path: pathlib.Path, fill: Callable[[pathlib.Path], object]) -> None:
    """Has `fill` write a file or folder under a temporary name, and moves it into place."""
    with explained(path):
        temporary = pathlib.Path(tempfile.mkdtemp(dir=path.parent, prefix=_TEMPORARY))
        try:
            fill(temporary / path.name)
            if path.is_dir():
                path.rename(temporary / f"{path.name}-before")
            (temporary / path.name).replace(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def unused_folder(name: str) -> pathlib.Path:
    """The first of runs/NAME-001, runs/NAME-002, … that is not there yet."""
    folders = (pathlib.Path("runs") / f"{name}-{number:03d}" for number in itertools.count(1))
    return next(folder for folder in folders if not folder.exists())


def check_new(folder: pathlib.Path | None) -> None:
    if folder is not None and folder.exists():
        raise ValueError(f"--out: got {folder}, which exists; needed a new folder")


def place_new(folder: pathlib.Path, fill: Callable[[pathlib.Path], None]) -> None:
    """`place` for a folder that is not there yet; makes the folders above it."""
    check_new(folder)

    def make_and_fill(temporary: pathlib.Path) -> None:
        temporary.mkdir()
        fill(temporary)

    with explained(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    place(folder, make_and_fill)


def clear_unfinished(folder: pathlib.Path) -> None:
    """Removes what a process that was killed had not finished."""
    for temporary in folder.rglob(f"{_TEMPORARY}*"):
        shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def explained(path: pathlib.Path) -> Iterator[None]:
    """Turns a refusal of the file system into a message that says what is safe."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"{path}: cannot be written ({error.strerror or error}); what was there before is as "
            "it was. Make room or give another folder"
        ) from None


def write_arrays(
    path: pathlib.Path, arrays: Mapping[str, ArrayLike], metadata: dict[str, str] | None = None
) -> None:
    write_bytes(path, packed(arrays, metadata))


def packed(arrays: Mapping[str, ArrayLike], metadata: dict[str, str] | None = None) -> bytes:
    """The content of a safetensors file."""
    # Transposed views are written wrongly by safetensors, hence the copies; `ascontiguousarray`
    # would give numbers an axis.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return safetensors.numpy.save(contiguous, metadata)


def read_arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
    try:
        return safetensors.numpy.load(path.read_bytes())
    except safetensors.SafetensorError as error:
        raise RunError(f"{path}: not a whole safetensors file ({error})") from None
