"""Files that are whole or not there: written beside their place, synced, and moved into it; and
read as what they should be, or refused by name."""

import contextlib
import errno
import itertools
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypedDict

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import ArrayLike

from algoscope import capacity
from algoscope.serialise import FormatError, from_json, parse_json

TEMPORARY = ".unfinished-"
"""How the names of what is not whole yet begin."""
_LENGTH, _METADATA = 8, "__metadata__"
"""Of a safetensors file: the bytes that say how long its header is, and a key of that header."""


class RunError(ValueError):
    """What is wrong with a run folder, and what to do about it."""


def write_bytes(path: pathlib.Path, octets: bytes) -> None:
    def fill(temporary: pathlib.Path) -> None:
        with temporary.open("wb") as file:
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())

    place(path, fill)


def make_room(path: pathlib.Path) -> None:
    """Before any work is done: the folder that a file goes into, or why there is none."""
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for fault, applies in (
            (errno.EISDIR, path.is_dir()),
            (errno.EACCES, not os.access(path.parent, os.W_OK)),
        ):
            if applies:
                raise OSError(fault, os.strerror(fault))


def place(path: pathlib.Path, fill: Callable[[pathlib.Path], object]) -> None:
    """Has `fill` write a file or folder under a temporary name, and moves it into place."""
    with explained(path):
        temporary = beside(path)
        before = temporary / f"{path.name}-before"
        try:
            fill(temporary / path.name)
            if path.is_dir():
                path.rename(before)
            (temporary / path.name).replace(path)
        except BaseException:
            if before.exists():
                before.rename(path)
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        shutil.rmtree(temporary, ignore_errors=True)


def beside(path: pathlib.Path) -> pathlib.Path:
    """A new folder with a temporary name, in the same file system as the path."""
    return pathlib.Path(tempfile.mkdtemp(dir=path.parent, prefix=TEMPORARY))


@contextlib.contextmanager
def unused_folder(name: str) -> Iterator[pathlib.Path]:
    """The first of runs/NAME-001, runs/NAME-002, … that is not there yet, made at once, so that
    nobody else gets it, and removed if nothing was put into it."""
    folder = next(made for number in itertools.count(1) if (made := _made(name, number)))
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):  # It holds something.
            folder.rmdir()


def _made(name: str, number: int) -> pathlib.Path | None:
    """The folder of that number; None if there is one."""
    folder = pathlib.Path("runs") / f"{name}-{number:03d}"
    with explained(folder), contextlib.suppress(FileExistsError):
        folder.parent.mkdir(exist_ok=True)
        folder.mkdir()
        return folder
    return None


def check_new(folder: pathlib.Path | None) -> None:
    """Refuses a folder that holds anything, or that cannot be made; to be asked before work."""
    if folder is not None and folder.exists() and not (folder.is_dir() and is_empty(folder)):
        raise ValueError(f"--out: got {folder}, which exists; needed a new folder")
    if folder is not None:
        above = next(path for path in folder.absolute().parents if path.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise ValueError(
                f"--out: got {folder}, and {above} cannot be written to; needed a folder that can"
            )


def is_empty(folder: pathlib.Path) -> bool:
    return not any(folder.iterdir())


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
    for temporary in folder.rglob(f"{TEMPORARY}*"):
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


class Arrays(NamedTuple):
    """The content of a safetensors file."""

    named: dict[str, np.ndarray]
    metadata: dict[str, str]


class _Entry(TypedDict):
    """What the header of a safetensors file says of an array."""

    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def read_arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The arrays by name of a safetensors file."""
    with told(path):
        return unpacked(read_bytes(path)).named


def unpacked(octets: bytes) -> Arrays:
    """What `packed` gave; a FormatError if something else did."""
    # The header is read here too: of two arrays with one name safetensors gives the last.
    length = int.from_bytes(octets[:_LENGTH], "little")
    if len(octets) < _LENGTH + length:
        raise FormatError("not a whole safetensors file (it ends in its header)")
    header = parse_json(octets[_LENGTH : _LENGTH + length])
    metadata = header.pop(_METADATA, {}) if isinstance(header, dict) else {}
    from_json(dict[str, _Entry], header, where="header")
    metadata = from_json(dict[str, str], metadata, where="metadata")
    try:
        return Arrays(safetensors.numpy.load(octets), metadata)
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"not a whole safetensors file ({error})") from None


def read_bytes(path: pathlib.Path) -> bytes:
    """The content of a regular file that fits into the memory."""
    if not path.is_file():
        raise RunError(f"{path}: got {'a folder' if path.is_dir() else 'no file'}, needed a file")
    capacity.check(str(path), 2 * path.stat().st_size, "give a smaller file")
    return path.read_bytes()


def read_json(path: pathlib.Path, kind: Any) -> Any:
    """The value of this type in a JSON file."""
    with told(path):
        return from_json(kind, parse_json(read_bytes(path)), where=path.stem)


def read_json_lines(path: pathlib.Path, kind: Any) -> list[Any]:
    """The values of this type in a file that has one on each line."""
    with told(path):
        lines = enumerate(read_bytes(path).splitlines(), 1)
        return [from_json(kind, parse_json(line), where=f"line {number}") for number, line in lines]


@contextlib.contextmanager
def told(path: pathlib.Path) -> Iterator[None]:
    """Has what is wrong with a file's content named together with the file."""
    try:
        yield
    except FormatError as error:
        raise RunError(f"{path}: {error}") from None
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror or error})") from None
