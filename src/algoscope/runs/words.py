"""The words of the verdicts on a run's networks, without what they rest on.

verdicts.json        `problems`, `words` by task, one a seed, and `basis` by task: what judged
"""

import dataclasses
import json
import pathlib

from algoscope.files import read_json, write_bytes
from algoscope.serialise import to_json

FILE = "verdicts.json"


@dataclasses.dataclass(frozen=True)
class Words:
    problems: int
    """About so many the falsifier tried on each network."""
    words: dict[str, list[str]]
    """By task, a word a seed."""
    basis: dict[str, str] = dataclasses.field(default_factory=dict)
    """By task, the digest of what judged, see `measures.basis`; empty of an earlier version."""

    def write(self, folder: pathlib.Path) -> None:
        write_bytes(folder / FILE, json.dumps(to_json(self), indent=1).encode())

    @classmethod
    def read(cls, folder: pathlib.Path) -> "Words | None":
        """Those in a run folder; None if there are none."""
        path = folder / FILE
        return read_json(path, cls) if path.is_file() else None
