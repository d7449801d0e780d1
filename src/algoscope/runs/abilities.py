"""The registry of abilities: what language models were found to do, with which heads, and on what
evidence. Each run folder of a study has those that it found.

abilities.json        `found`, a row for each
"""

import dataclasses
import json
import pathlib
from typing import Literal

from algoscope.files import read_json, write_bytes
from algoscope.serialise import to_json

FILE = "abilities.json"


@dataclasses.dataclass(frozen=True)
class Found:
    model: str
    kind: Literal["algorithm", "primitive", "composition"]
    ability: str
    """Such as backward search, edge lookup, or edge lookup -> goal match."""
    word: str
    """Of an algorithm the verdict's; of heads `used` if the exchange of what they write shows it,
    else `looks only`."""
    heads: list[str]
    """layer.head, from 0; of an algorithm the tokens that carry its steps."""
    share: float
    """Of the answer that goes through them; NaN where none was measured."""
    low: float
    high: float
    """A 95 % interval."""
    p: float
    """Corrected; NaN where none was measured."""
    evidence: str
    """What was done, in words."""

    @property
    def row(self) -> tuple[object, ...]:
        """As a table has it."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return tuple({**values, "heads": ", ".join(self.heads)}.values())


def shown(found: Found) -> bool:
    """Whether the evidence shows it: an algorithm that is run, heads that are used."""
    return found.word.startswith(("runs", "used"))


@dataclasses.dataclass(frozen=True)
class Abilities:
    found: list[Found]

    def write(self, folder: pathlib.Path) -> None:
        write_bytes(folder / FILE, json.dumps(to_json(self), indent=1).encode())

    @classmethod
    def read(cls, folder: pathlib.Path) -> "Abilities | None":
        """Those in a run folder; None if there are none."""
        path = folder / FILE
        return read_json(path, cls) if path.is_file() else None
