"""Experiment and Result: what `algoscope reproduce` runs and prints."""

import contextlib
import dataclasses
import math
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from algoscope.errors import unknown_name
from algoscope.files import RunError
from algoscope.table import Table

if TYPE_CHECKING:
    from algoscope import training

_QUIET_SECONDS = 10
_UNREADABLE = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, StopIteration, OSError,
    RuntimeError,  # StopIteration within a generator
)  # fmt: skip
"""What comes of results that were changed by somebody else."""
PRESETS = ("smoke", "full")
Report = Callable[[str], None]
"""Takes a line about how far an experiment is."""


@contextlib.contextmanager
def understood(place: pathlib.Path) -> Iterator[None]:
    """Has results whose parts are missing, or do not belong together, refused by their place."""
    try:
        yield
    except RunError:
        raise  # It names the file.
    except _UNREADABLE as error:
        first, *_ = str(error).splitlines() or [""]
        raise RunError(
            f"{place}: got results that lack something ({type(error).__name__}: {first}), needed "
            "them as `algoscope reproduce` writes them"
        ) from error


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
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    numbers: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Everything that was measured, for JSON."""

    def with_numbers(self, numbers: dict[str, Any]) -> "Result":
        return dataclasses.replace(self, numbers=self.numbers | numbers)

    @classmethod
    def joined(cls, results: "Iterable[Result]") -> "Result":
        """The tables, claims and numbers of all of them, one after the other."""
        results = list(results)
        return cls(
            [table for result in results for table in result.tables],
            [claim for result in results for claim in result.claims],
            {name: value for result in results for name, value in result.numbers.items()},
        )


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    summary: str
    source: str
    """The paper, or what else it is about."""
    costs: dict[str, str]
    """Of each preset: what it takes, in words."""
    reproduce: Callable[[str, pathlib.Path, Report, Sequence[str]], Result]
    """(preset, folder, report, parts) -> result; makes these parts, as far as they are not in the
    folder, and shows all that are there."""
    shared: str | None = None
    """Experiments with the same name here share what is trained: the name of their folder."""
    shows: tuple[str, ...] = ()
    """Which of the source's tables and figures."""
    parts: Callable[[str], Sequence[str]] = lambda _: ()
    """Of a preset: the names of what can be made alone; none where nothing takes long."""

    def folder(self, preset: str) -> pathlib.Path:
        """Where things go that were given no place."""
        return pathlib.Path("runs") / f"{self.shared or self.name}-{preset}"

    def run(
        self,
        preset: str,
        out: pathlib.Path,
        report: Report = lambda _: None,
        only: Sequence[str] = (),
    ) -> Result:
        """Makes the parts that are named, all if none is."""
        if preset not in self.costs:
            raise ValueError(unknown_name("preset", preset, self.costs))
        parts = self.parts(preset)
        for part in only:
            if part not in parts:
                raise ValueError(f"--only: {unknown_name(f'part of {self.name}', part, parts)}")
        return self.reproduce(preset, out, report, tuple(only) or tuple(parts))


def now_and_then(name: str, report: Report) -> "Callable[[training.Report], None]":
    """Reports a training's progress every ten seconds, and its end."""
    last = -math.inf

    def report_progress(progress: "training.Report") -> None:
        nonlocal last
        if time.monotonic() - last >= _QUIET_SECONDS or progress.step == progress.steps:
            last = time.monotonic()
            report(f"{name}: step {progress.step} of {progress.steps}, loss {progress.loss:.4f}")

    return report_progress
