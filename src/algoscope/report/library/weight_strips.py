"""The weights of a compiled network as small pictures, a strip a part: one pixel a weight.

All matrices of a part stand side by side, tops level, without the rows and columns in which all
weights are zero. Blue is positive, orange negative; the
strength is the logarithm of the weight, from the smallest to the largest of its matrix, since
weights differ by factors of millions. Pictures have no ground, for light and dark pages.
"""

import base64
import struct
import zlib
from typing import NamedTuple

import numpy as np

from algoscope.programs.panels import Panel

_GAP = 2
"""Columns between two matrices."""
_LEVELS = 15
_OUTSIDE, _ZERO = 0, 1
_TINT = 26
"""Opacity of weights that are zero, of 255."""
_POSITIVE, _NEGATIVE = (30, 136, 212), (226, 104, 38)
_GREY = (128, 138, 150)
_FAINTEST = 0.38


class Strip(NamedTuple):
    title: str
    address: str
    """The picture as a data address."""
    columns: int
    rows: int
    matrices: tuple[str, ...]
    """From left to right."""


def strips(pictures: dict[str, list[Panel]]) -> list[Strip]:
    """Of all parts: encoders, a round each, decoders. Matrices of zeros are left out."""
    made = []
    for name, panels in pictures.items():
        used = [panel for panel in panels if panel.values.any()]
        if not used:
            continue
        image = _image(used)
        group, _, number = name.partition(".")
        title = f"round {int(number or 0) + 1}" if group == "processor" else group
        address = "data:image/png;base64," + base64.b64encode(_png(image)).decode()
        titles = tuple(panel.title for panel in used)
        made.append(Strip(title, address, image.shape[1], image.shape[0], titles))
    return made


def _image(panels: list[Panel]) -> np.ndarray:
    """Indices of colours: uint8 [row, column]"""
    matrices = [_without_zeros(panel.values) for panel in panels]
    height = max(map(len, matrices))
    parts = []
    for values in matrices:
        levels = _levels(values)
        below = height - len(values)
        parts.append(np.pad(levels, [(0, below), (0, _GAP)], constant_values=_OUTSIDE))
    return np.concatenate(parts, 1)[:, :-_GAP]


def _without_zeros(values: np.ndarray) -> np.ndarray:
    """Without the rows and columns that are all zero."""
    return values[np.ix_(values.any(1), values.any(0))]


def _levels(values: np.ndarray) -> np.ndarray:
    """Zero, then _LEVELS of positive and of negative weights, the stronger the higher."""
    size = np.abs(values)
    logarithms = np.log(size, out=np.zeros_like(size, float), where=size > 0)
    low, high = logarithms[size > 0].min(initial=np.inf), logarithms[size > 0].max(initial=-np.inf)
    strength = (logarithms - low) / (high - low) if high > low else np.ones_like(logarithms)
    level = 2 + np.rint(np.clip(strength, 0, 1) * (_LEVELS - 1)).astype(np.uint8)
    level = np.where(values < 0, level + _LEVELS, level)
    return np.where(size > 0, level, _ZERO).astype(np.uint8)


def _png(image: np.ndarray) -> bytes:
    """An indexed PNG with a transparency for each colour."""
    alpha = [round(255 * s) for s in np.linspace(_FAINTEST, 1, _LEVELS)]
    colours = [_GREY, _GREY, *[_POSITIVE] * _LEVELS, *[_NEGATIVE] * _LEVELS]
    height, width = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(name, content)
        for name, content in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            (b"PLTE", bytes(part for colour in colours for part in colour)),
            (b"tRNS", bytes([0, _TINT, *alpha, *alpha])),
            (b"IDAT", zlib.compress(rows, 9)),
            (b"IEND", b""),
        )
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    checked = name + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
