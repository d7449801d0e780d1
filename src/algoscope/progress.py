"""Progress: what is being done, for whoever waits for it, on one line of stderr.

    with progress.job("compiling", total=5) as job:
        job.advance()  # compiling: 1 of 5, 12 s, 48 s left

A job is shown once it has taken two seconds. In a terminal and in a notebook the line is rewritten
every second, and gone when the job is done; elsewhere, as in a log, lines come at long intervals.
Jobs within jobs are shown one after the other, the innermost last.
"""

import contextlib
import datetime
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

from algoscope.errors import visible

_SHOWN_AFTER, _EVERY = 2.0, 1.0
"""Seconds of a job before it is shown, and from one rewriting of the line to the next."""
_LOGGED_AFTER, _LOGGED_EVERY = 5.0, 30.0
"""The same of lines that stay."""
_SEPARATOR = " · "
Item = TypeVar("Item")


class ProgressLine:
    """The steps of a long job: one line that is rewritten in a terminal or a notebook, elsewhere a
    line for every tenth of the job."""

    def __init__(self, stream: TextIO | None):
        self.stream = None if stream is None or stream.closed else stream
        self._terminal = self.stream is not None and self.stream.isatty()
        self.rewrites = self._terminal or type(stream).__module__.startswith("ipykernel")
        """Whether a line can be written over."""
        self._next = 0.0
        self._written = 0
        """Characters of the line that is open."""
        self._passing = False
        """Whether that line is to leave no trace."""
        self.told = False
        """Whether any line was written that stays."""

    def report(self, text: str) -> None:
        """A line that stays."""
        self.told = True
        self.close()
        self._print(f"{visible(text)}\n")

    def step(self, step: int, steps: int, text: str) -> None:
        self.told = True
        line = visible(f"step {step:,} of {steps:,}  {text}")
        if self.rewrites:
            self._rewrite(line)
            self._passing = False
        elif step / steps >= self._next or step == steps:
            self._next = math.floor(step / steps * 10 + 1) / 10
            self.report(line)

    def show(self, text: str) -> None:
        """A line that is written over by whatever comes next; not after a line of steps."""
        if self._written and not self._passing:
            self.close()
        self._rewrite(visible(text)[: shutil.get_terminal_size().columns - 1])
        self._passing = True

    def wipe(self) -> None:
        """Takes away a line that `show` wrote."""
        if self._written and self._passing:
            self._rewrite("")
            self._print("\r")
            self._passing = False

    def close(self) -> None:
        self.wipe()
        if self._written:
            self._print("\n")
        self._written = 0

    def _rewrite(self, line: str) -> None:
        start = "\r\x1b[K" if self._terminal else "\r"
        rest = "" if self._terminal else " " * (self._written - len(line))
        self._print(f"{start}{line}{rest}")
        self._written = len(line)

    def _print(self, text: str) -> None:
        """What cannot be shown, as on a disk that is full, is no reason for work to end; that
        nobody reads on is."""
        if self.stream is None:
            return
        try:
            print(text, end="", file=self.stream, flush=True)
        except BrokenPipeError:
            raise
        except (OSError, ValueError):  # Of a stream that is closed.
            self.stream = None


class Job:
    """Something that somebody waits for."""

    def __init__(self, title: str, total: int | None = None, until_told: bool = False):
        self.title, self.total, self.done = title, total, 0
        self.until_told = until_told
        """Whether it is shown only as long as nothing else is."""
        self.detail = ""
        self._begun = time.monotonic()
        self.logged_next = _LOGGED_AFTER
        """Seconds after the beginning at which it is to be logged."""

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def advance(self, count: int = 1, detail: str = "") -> None:
        self.reach(self.done + count, detail)

    def reach(self, done: int, detail: str = "") -> None:
        self.done, self.detail = done, detail

    def __str__(self) -> str:
        seconds, parts = self.seconds, [self.detail] if self.detail else []
        if self.total is not None:
            parts.insert(0, f"{self.done:,} of {self.total:,}")
        parts.append(f"{seconds:.0f} s")
        if self.total is not None and 0 < self.done < self.total:
            left = seconds / self.done * (self.total - self.done)
            parts.append(f"{datetime.timedelta(seconds=round(left))} left")
        return f"{self.title}: {', '.join(parts)}"


class _Board:
    """The jobs that are under way, and where they are shown."""

    def __init__(self):
        self._lock = threading.Lock()
        self._jobs: list[Job] = []
        self._lines: list[ProgressLine] = []
        self._default: ProgressLine | None = None
        self._stream: TextIO | None = None
        """Of the default."""
        self._watched = False
        """Whether a thread shows the jobs."""

    def begin(self, job: Job) -> None:
        with self._lock:
            self._jobs.append(job)
            if not self._watched:
                self._watched = True
                threading.Thread(target=self._watch, daemon=True).start()

    def end(self, job: Job) -> None:
        with self._lock:
            self._jobs.remove(job)
            if self._line.rewrites:
                self._line.wipe()

    def note(self, text: str) -> None:
        with self._lock:
            self._line.report(text)

    @contextlib.contextmanager
    def on(self, line: ProgressLine) -> Iterator[None]:
        self._lines.append(line)
        try:
            yield
        finally:
            self._lines.remove(line)

    @property
    def _line(self) -> ProgressLine:
        if self._lines:
            return self._lines[-1]
        if self._default is None or self._stream is not sys.stderr:
            self._default, self._stream = ProgressLine(sys.stderr), sys.stderr
        return self._default

    def _watch(self) -> None:
        """Until no job is left."""
        while True:
            time.sleep(_EVERY)
            with self._lock:
                if not self._jobs:
                    self._watched = False
                    return
                self._show()

    def _show(self) -> None:
        line = self._line
        jobs = [job for job in self._jobs if not job.until_told]
        if not jobs and not line.told:
            jobs = self._jobs
        if not jobs:
            return
        innermost = jobs[-1]
        if innermost.seconds < (_SHOWN_AFTER if line.rewrites else innermost.logged_next):
            return
        text = _SEPARATOR.join(map(str, jobs))
        if line.rewrites:
            line.show(text)
        else:
            innermost.logged_next = innermost.seconds + _LOGGED_EVERY
            told = line.told
            line.report(text)
            line.told = told or not innermost.until_told


_board = _Board()
# A child has no thread that watches, and may have been made while the lock was held.
os.register_at_fork(after_in_child=_board.__init__)


@contextlib.contextmanager
def job(title: str, total: int | None = None, *, until_told: bool = False) -> Iterator[Job]:
    """Shows that something is under way; whoever does it says how far it is. `until_told` is for
    what is not known yet: it is shown until anything else is."""
    begun = Job(title, total, until_told)
    _board.begin(begun)
    try:
        yield begun
    finally:
        _board.end(begun)


def over(items: Iterable[Item], title: str, total: int | None = None) -> Iterator[Item]:
    """The items, each of which is a part of a job."""
    items = list(items) if total is None else items
    with job(title, len(items) if isinstance(items, list) else total) as counted:
        for item in items:
            yield item
            counted.advance()


def note(text: str) -> None:
    """A line that stays, where jobs are shown: what whoever waits for an answer should know."""
    _board.note(text)


def shown_on(line: ProgressLine) -> contextlib.AbstractContextManager[None]:
    """Jobs are shown there."""
    return _board.on(line)
