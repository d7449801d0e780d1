"""Checkpoints: all that a run needs to go on with the same bits.

The last two are kept. A checkpoint's name holds the digest of its content, so that one that was
damaged is noticed, and the one before it taken instead.
"""

import hashlib
import pathlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import safetensors.numpy

from algoscope.files import RunError, packed, write_bytes

_KEPT = 2


class Checkpoint(NamedTuple):
    step: int
    arrays: dict[str, np.ndarray]
    notes: tuple[str, ...]
    """What went wrong in reading later ones."""


def write(folder: pathlib.Path, step: int, arrays: Mapping[str, np.ndarray]) -> None:
    octets = packed(arrays)
    write_bytes(folder / f"checkpoint-{step:09d}-{_digest(octets)}.safetensors", octets)
    for path in _latest_first(folder)[_KEPT:]:
        path.unlink()


def read(folder: pathlib.Path) -> Checkpoint:
    """The last whole checkpoint of the folder."""
    notes = []
    for path in _latest_first(folder):
        _, step, digest = path.stem.split("-")
        octets = path.read_bytes()
        if _digest(octets) == digest:
            return Checkpoint(int(step), safetensors.numpy.load(octets), tuple(notes))
        notes.append(
            f"{path.name} is damaged (its content does not match its name); "
            "going on from the one before"
        )
    raise RunError(
        f"{folder}: found no whole checkpoint"
        + "".join(f"\n{note}" for note in notes)
        + "\nTrain anew with --force"
    )


def latest_step(folder: pathlib.Path) -> int | None:
    paths = _latest_first(folder)
    return int(paths[0].stem.split("-")[1]) if paths else None


def delete_all(folder: pathlib.Path) -> None:
    for path in _latest_first(folder):
        path.unlink()


def _latest_first(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(folder.glob("checkpoint-*-*.safetensors"), reverse=True)


def _digest(octets: bytes) -> str:
    return hashlib.blake2b(octets, digest_size=12).hexdigest()
