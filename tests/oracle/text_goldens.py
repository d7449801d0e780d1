"""The form of the CLRS-Text goldens: which texts are stored, and how."""

import hashlib
import json
import lzma
import pathlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from oracle.task_goldens import CPU_DEPENDENT

from algoscope import tasks

PATH = pathlib.Path(__file__).parent / "text" / "goldens.json.xz"
COUNT = 8
"""Texts in a case."""


class Case(NamedTuple):
    task: str
    size: int
    seed: int
    traces: bool
    decimals: int | None

    @property
    def cpu_dependent(self) -> bool:
        """Does the text hold last bits that differ between CPUs? If so, all texts are stored whole,
        else one text of a small case is, and of the others a digest."""
        return self.decimals is None and self.task in CPU_DEPENDENT

    @property
    def whole_texts(self) -> int:
        return COUNT if self.cpu_dependent else int(self.size <= _SMALL)


_SMALL = 5


def cases() -> list[Case]:
    return [
        Case(name, size, seed, traces, decimals)
        for name in tasks.names()
        for size, seed in _sizes_and_seeds(tasks.get(name).smallest)
        for decimals in (None, 3)
        for traces in (False, True)
    ]


def _sizes_and_seeds(smallest: int) -> list[tuple[int, int]]:
    """No size of 1: dm-clrs cannot write most of those."""
    sizes = sorted({max(smallest, 2), max(smallest, _SMALL), 9, 16})
    return list(zip(sizes, (0, 1, 2**31, 2**32 - 1), strict=False))


class Mixture(NamedTuple):
    """Arguments of `rows`."""

    sizes: dict[str, list[int]]
    count: int
    traces: bool
    seed: int
    decimals: int | None


MIXTURES = [
    Mixture({"bfs": [4, 9], "quicksort": [5], "lcs_length": [6, 3]}, 80, False, 0, 3),
    Mixture({"heapsort": [4], "segments_intersect": [4, 16], "dfs": [5]}, 60, True, 7, None),
]

WHOLE_SPLITS = [("bridges", "train"), ("bridges", "val"), ("optimal_bst", "val")]
"""Canonical splits of which there is a digest."""


def digest(texts: Iterable[str]) -> str:
    content = hashlib.sha256()
    for text in texts:
        content.update(f"{len(text)} {text}".encode())
    return content.hexdigest()[:16]


def load() -> dict[str, Any]:
    """`cases`: a list of texts, digests, or None where the text depends on how ties are broken, in
    the order of `cases()`; `mixtures` and `splits`: digests; `sizes`: of the canonical splits."""
    return json.loads(lzma.decompress(PATH.read_bytes()))


def save(goldens: dict[str, Any]) -> None:
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_bytes(lzma.compress(json.dumps(goldens).encode(), preset=9))
