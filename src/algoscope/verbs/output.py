"""What every verb prints, in one place: results on stdout as tables or JSON, progress on stderr."""

import dataclasses
import functools
import io
import json
import sys
from typing import Annotated, Any, ClassVar, NamedTuple

import tyro

from algoscope import capacity, progress
from algoscope.errors import visible
from algoscope.progress import ProgressLine
from algoscope.table import Table

_MOST_DRAWN = 1_000
"""Rows of a table with rules and wrapped cells, which take rich a millisecond each; longer ones are
plain text."""


class Answer(NamedTuple):
    """The result of a verb, which `Output.show` prints."""

    data: Any
    """For --json; may hold typed values, arrays and paths."""
    parts: tuple[Table | str, ...]
    """For readers."""
    status: int = 0
    """Exit status of the process."""


@dataclasses.dataclass(frozen=True)
class Output:
    json: bool = False
    """Print JSON instead of tables and text."""
    quiet: bool = False
    """Print neither progress nor tables: errors alone, and what --json asks for."""

    def show(self, answer: Answer) -> None:
        if self.json:
            from algoscope.serialise import to_json

            print(json.dumps(to_json(answer.data), default=str))
        elif not self.quiet:
            for part in answer.parts:
                _show(part)

    @functools.cached_property
    def progress(self) -> ProgressLine:
        return ProgressLine(io.StringIO() if self.quiet else sys.stderr)

    def report(self, text: str | Table) -> None:
        """A line of progress."""
        self.progress.report(str(text))

    def step(self, step: int, steps: int, text: str) -> None:
        """How far a training is."""
        self.progress.step(step, steps, text)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verb:
    """One intent of a user: its fields are the options, `run` computes the answer."""

    output: Annotated[Output, tyro.conf.arg(name="")] = Output()
    least_memory: ClassVar[int] = 3 * 10**9
    """Bytes of address space that the process has to be allowed: what JAX and torch map."""

    def run(self) -> Answer:
        raise NotImplementedError

    def main(self) -> int:
        """Runs the verb, prints its answer, and returns the exit status."""
        capacity.check_limits(self.least_memory)
        try:
            starting = progress.job(f"starting {type(self).__name__.lower()}", until_told=True)
            with progress.shown_on(self.output.progress), starting:
                answer = self.run()
        finally:
            self.output.progress.close()
        self.output.show(answer)
        return answer.status


WITHOUT_JAX = 10**9
"""`Verb.least_memory` of a verb that only reads and draws."""


def number(value: Any, digits: int = 4) -> str:
    """A cell of a table."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def named_values(option: str, texts: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE arguments; a value is JSON, or else a text."""
    from algoscope.serialise import FormatError, parse_json

    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{option}: got {text!r}, needed NAME=VALUE, such as p=[0.1,0.5]")
        try:
            values[name] = parse_json(value)
        except FormatError:
            values[name] = value
    return values


def _show(part: Table | str) -> None:
    if isinstance(part, str) or len(part.rows) > _MOST_DRAWN:
        print(visible(str(part)))
        return
    import rich.box
    import rich.console
    import rich.table

    rendered = rich.table.Table(
        title=visible(part.title), box=rich.box.SIMPLE, title_justify="left"
    )
    for column in part.columns:
        rendered.add_column(visible(column))
    for row in part.rows:
        rendered.add_row(*map(visible, row))
    # Captured, because rich has an end of its own for a pipe that is closed.
    console = rich.console.Console(width=None if sys.stdout.isatty() else 160, markup=False)
    with console.capture() as capture:
        console.print(rendered)
    print(capture.get(), end="")
