"""Checkpoints: all that a run needs to go on with the same bits.

The last two are kept. A checkpoint's name holds the digest of its content, so that one that was
damaged is noticed, and the one before it taken instead.
"""

import hashlib
import pathlib
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from algoscope.files import RunError, packed, read_bytes, told, unpacked, write_bytes

_KEPT = 2
_NAME = re.compile(r"checkpoint-(\d{9,18})-([0-9a-f]{24})\.safetensors")
"""Step and digest."""


class Checkpoint(NamedTuple):
    step: int
    arrays: dict[str, np.ndarray]
    notes: tuple[str, ...]
    """What went wrong in reading later ones."""

    def below(self, prefix: str) -> dict[str, np.ndarray]:
        """The arrays whose dotted names begin so, by the rest of their names."""
        start = f"{prefix}."
        return {n.removeprefix(start): a for n, a in self.arrays.items() if n.startswith(start)}

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return self.below("metrics")


def write(folder: pathlib.Path, step: int, arrays: Mapping[str, np.ndarray]) -> None:
    octets = packed(arrays)
    write_bytes(folder / f"checkpoint-{step:09d}-{_digest(octets)}.safetensors", octets)
    for file in _latest_first(folder)[_KEPT:]:
        file.path.unlink()


def read(folder: pathlib.Path) -> Checkpoint:
    """The last whole checkpoint of the folder."""
    notes = []
    for step, digest, path in _latest_first(folder):
        with told(path):
            octets = read_bytes(path)
            if _digest(octets) == digest:
                return Checkpoint(step, unpacked(octets).named, tuple(notes))
        notes.append(
            f"{path.name} is damaged (its content does not match its name); "
            "going on from the one before"
        )
    found = f" (each of {len(notes)} is damaged)" if notes else ""
    raise RunError(
        f"{folder}: found no whole checkpoint to go on from{found}; train anew with --force"
    )


def latest_step(folder: pathlib.Path) -> int | None:
    files = _latest_first(folder)
    return files[0].step if files else None


def delete_all(folder: pathlib.Path) -> None:
    for file in _latest_first(folder):
        file.path.unlink()


def step_of(name: str) -> int | None:
    """Of the checkpoint with this name; None if it is none."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


class _File(NamedTuple):
    step: int
    digest: str
    path: pathlib.Path


def _latest_first(folder: pathlib.Path) -> list[_File]:
    names = ((path, _NAME.fullmatch(path.name)) for path in folder.glob("checkpoint-*"))
    files = [_File(int(name[1]), name[2], path) for path, name in names if name]
    return sorted(files, reverse=True)


def _digest(octets: bytes) -> str:
    return hashlib.blake2b(octets, digest_size=12).hexdigest()
