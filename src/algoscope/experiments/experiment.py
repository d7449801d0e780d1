"""Experiment and Result: what `algoscope reproduce` runs and prints."""

import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

from algoscope.errors import unknown_name
from algoscope.table import Table

PRESETS = ("smoke", "full")
Report = Callable[[str], None]
"""Takes a line about how far an experiment is."""


@dataclasses.dataclass(frozen=True)
class Claim:
    """Something that an experiment should show, and whether it did."""

    text: str
    holds: bool | None
    """None where too little was measured to say."""
    evidence: str
    """The numbers that decide it."""

    def __str__(self) -> str:
        verdict = {True: "holds", False: "DOES NOT HOLD", None: "cannot be said"}[self.holds]
        return f"{verdict}: {self.text} ({self.evidence})"


@dataclasses.dataclass(frozen=True)
class Result:
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    numbers: dict[str, Any]
    """Everything that was measured, for JSON."""


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    summary: str
    source: str
    """The paper, and its table or figure."""
    costs: dict[str, str]
    """Of each preset: what it takes, in words."""
    reproduce: Callable[[str, pathlib.Path, Report], Result]
    """(preset, folder, report) -> result; goes on with what is in the folder."""
    shared: str | None = None
    """Experiments with the same name here share what is trained: the name of their folder."""

    def folder(self, preset: str) -> pathlib.Path:
        """Where things go that were given no place."""
        return pathlib.Path("runs") / f"{self.shared or self.name}-{preset}"

    def run(self, preset: str, out: pathlib.Path, report: Report = lambda _: None) -> Result:
        if preset not in self.costs:
            raise ValueError(unknown_name("preset", preset, self.costs))
        return self.reproduce(preset, out, report)
