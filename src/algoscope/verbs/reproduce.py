"""`algoscope reproduce`: the tables and figures of papers."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from algoscope import progress, stopping
from algoscope.errors import Stopped
from algoscope.table import Table
from algoscope.verbs.output import Answer, Verb

if TYPE_CHECKING:
    from algoscope.experiments import Result


_AGAIN = 15.0
"""Seconds after which work that has not stopped is asked once more; a checkpoint takes a few."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reproduce(Verb):
    """Reproduce a table or figure of a paper; what was stopped goes on where it was."""

    name: tyro.conf.Positional[str | None] = None
    """The experiment, as --list lists it."""
    preset: Literal["smoke", "full"] = "smoke"
    """Small enough for a laptop, or as the paper does it."""
    out: pathlib.Path | None = None
    """The folder for all that is made; runs/NAME-PRESET if not given, or one that
    the experiments of a paper share."""
    results: Annotated[pathlib.Path | None, tyro.conf.arg(name="from")] = None
    """Train nothing: print all tables and claims of the results in this folder, pack or file."""
    only: tuple[str, ...] = ()
    """Make these parts alone, such as single ensembles or towers; NAME --list lists them."""
    pack: pathlib.Path | None = None
    """For a borrowed machine: begin with what is finished in this file, if it is there, and leave
    there all that is finished in the end."""
    seconds: float | None = None
    """Stop after so long; the same command goes on."""
    markdown: bool = False
    """Print tables in Markdown."""
    list: bool = False
    """List the experiments."""

    def run(self) -> Answer:
        from algoscope import experiments

        if self.list:
            return _listed() if self.name is None else _parts(self.name, self.preset)
        if self.results is not None:
            return self._answer(experiments.from_results(self.results))
        if self.name is None:
            raise ValueError("reproduce: got no name, needed one that --list lists")
        experiment = experiments.get(self.name)
        out = self.out or experiment.folder(self.preset)
        # Several of them, each with its own folder, can share a GPU.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        from algoscope.runs.environment import device_name, keep_compiled_programs

        keep_compiled_programs()
        begun = time.monotonic()

        def report(text: str) -> None:
            self.output.report(f"{time.monotonic() - begun:7.1f} s  {text}")

        report(f"{self.name} ({self.preset}) on {device_name()} into {out}")
        try:
            with (
                _kept(self.pack, out, report),
                _stopped_after(self.seconds),
                progress.job(self.name),
            ):
                result = experiment.run(self.preset, out, report, self.only)
        except Stopped as stopped:
            text = "stopped; what was done is safe, and the same command goes on"
            raise Stopped(text, stopped.signal) from None
        return self._answer(result, f"all of it: {out}")

    def _answer(self, result: "Result", *ending: str) -> Answer:
        claims = (f"- {claim}" if self.markdown else str(claim) for claim in result.claims)
        tables = (f"{t.markdown()}\n" if self.markdown else t for t in result.tables)
        return Answer(result.numbers, (*tables, *claims, *ending))


def _listed() -> Answer:
    from algoscope import experiments

    columns = ["name", "what", "source", "smoke", "full"]
    listed = [experiments.get(name) for name in experiments.names()]
    rows = [[e.name, e.summary, e.source, e.costs["smoke"], e.costs["full"]] for e in listed]
    data = [
        dict(zip(columns, row, strict=True)) | {"shows": list(e.shows)}
        for row, e in zip(rows, listed, strict=True)
    ]
    places = [(item, e) for e in listed for item in e.shows]
    places.sort(key=lambda place: _order(place[0]))
    shown = [[e.source, item, e.name] for item, e in places]
    return Answer(
        data,
        (
            Table("experiments", columns, rows),
            Table("what shows it", ["source", "table or figure", "experiment"], shown),
        ),
    )


def _parts(name: str, preset: str) -> Answer:
    from algoscope import experiments

    parts = list(experiments.get(name).parts(preset))
    rows = [[part] for part in parts]
    return Answer(parts, (Table(f"parts of {name}, {preset}, for --only", ["part"], rows),))


@contextlib.contextmanager
def _kept(
    path: pathlib.Path | None, out: pathlib.Path, report: Callable[[str], None]
) -> Iterator[None]:
    """Begins with a pack, and leaves one, however the work ends."""
    if path is None:
        yield
        return
    from algoscope.experiments import pack
    from algoscope.files import make_room

    make_room(path)
    if path.exists():
        report(f"{path}: {pack.unpack(path, out)} files were not in {out} yet")
    with stopping.answering():
        try:
            yield
        finally:
            pack.write(out, path)
            report(f"{path}: {path.stat().st_size / 2**20:.1f} MiB, with all that is finished")


def _order(shown: str) -> tuple[str, int]:
    """Of `table 2`: by kind, then by number."""
    kind, _, number = shown.rpartition(" ")
    return kind, int(number)


@contextlib.contextmanager
def _stopped_after(seconds: float | None) -> Iterator[None]:
    """Raises Stopped on SIGTERM, which comes by itself after so many seconds, and again and again
    until the work has ended: what it interrupts may be a library's own callback, which goes on."""
    over = threading.Event()

    def ask_after(wait: float) -> None:
        while not over.wait(wait):
            wait = _AGAIN
            os.kill(os.getpid(), signal.SIGTERM)

    def stop(_number: int, _frame: Any) -> None:
        raise Stopped

    # Also where nothing is trained: the exception ends child processes on its way.
    before = signal.signal(signal.SIGTERM, stop)
    if seconds:
        threading.Thread(target=ask_after, args=(seconds,), daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.signal(signal.SIGTERM, before)
