"""Trials: a case is drawn, read, and what came of it is noted.

A case may be read or refused: by a ValueError, which is one sentence, or an OSError, which is the
system's. Everything else is a crash. While a case is read, an audit hook of Python's tells of
programs that are started, code of the case's own that is executed, code that Algoscope executes,
and files written elsewhere than in the scratch folder and in caches of compiled code. Every kind is
listened to; one may name events that it cannot do without, such as libraries that are loaded.
"""

import contextlib
import enum
import os
import pathlib
import random
import runpy
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numba

import algoscope

SECONDS = 10
"""A case that computes or waits longer hangs."""
_FORBIDDEN = (
    "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile",
    "subprocess.Popen",
    "socket.connect", "ctypes.dlopen", "shutil.rmtree", "webbrowser.open", "pty.spawn", "exec",
    "pickle.find_class",
)  # fmt: skip
_EXECUTING = (str(pathlib.Path(algoscope.__file__).parent), runpy.__file__)
"""Whoever has no reason to execute anything that a case holds."""
_COMPILING = str(pathlib.Path(numba.__file__).parent)
"""Unpickles what it compiled before, from a folder of its own, when a function meets a new type."""
_FETCHED = str(pathlib.Path.home() / ".cache" / "huggingface")
"""Where transformers copies a model's own code to before it would run it."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Kind(NamedTuple):
    """A kind of input."""

    name: str
    prepare: Callable[[pathlib.Path], Callable[[random.Random], Callable[[], object]]]
    """Given a scratch folder: how a case is drawn, which is what reads it."""
    share: float
    """Of all cases."""
    permits: tuple[str, ...] = ()
    """Events that belong to reading it."""


class Outcome(enum.StrEnum):
    READ = "read"
    REFUSED = "refused"
    CRASHED = "crashed"
    HUNG = "hung"
    EXECUTED = "executed"


class Result(NamedTuple):
    outcome: Outcome
    account: str = ""
    """Of a crash, the traceback; of code that was run, the event."""


class Clock:
    """How long a process computed or waited since the clock was made: wall time, without that in
    which it could have gone on and others had the processor."""

    def __init__(self, process: str = "self"):
        self._path = pathlib.Path("/proc", process, "schedstat")
        self._begun, self._taken = time.monotonic(), self._taken_away()

    @property
    def seconds(self) -> float:
        taken = self._taken_away() - self._taken
        return time.monotonic() - self._begun - taken

    def _taken_away(self) -> float:
        try:
            return int(self._path.read_text().split()[1]) / 1e9
        except OSError:  # Of Linux alone.
            return 0.0


class HangError(BaseException):
    """A case took too long; no reader catches it."""


def trial(kind: Kind, draw: Callable, number: int) -> Result:
    """The case of that number, read."""
    chance = random.Random(f"{kind.name} {number}")
    try:
        read = draw(chance)
    except Exception:
        return Result(Outcome.CRASHED, f"while drawn:\n{traceback.format_exc()}")
    with _watched() as events, _limited():
        try:
            read()
            result = Result(Outcome.READ)
        except (ValueError, OSError):
            result = Result(Outcome.REFUSED)
        except HangError:
            result = Result(Outcome.HUNG, f"took more than {SECONDS} s")
        except BaseException:
            result = Result(Outcome.CRASHED, traceback.format_exc())
    if heard := [event for event in events if not event.startswith(kind.permits)]:
        return Result(Outcome.EXECUTED, "; ".join(heard))
    return result


_listening: list[list[str]] = []
_scratch = [""]


def listen(scratch: pathlib.Path) -> None:
    """Begins to hear what Python does; there is no way to end that."""
    _scratch[0] = str(scratch)
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listening:
        return
    if event == "exec":
        origin = getattr(arguments[0], "co_filename", "")
        if origin.startswith((_scratch[0], _FETCHED)):
            event = "exec of the case's own"
        elif not _caller().startswith(_EXECUTING):
            return  # A module that is imported late, or what a package makes for itself.
    elif event == "pickle.find_class" and _caller().startswith(_COMPILING):
        return
    clears_up = event == "shutil.rmtree" and str(arguments[0]).startswith(_scratch[0])
    if event.startswith(_FORBIDDEN) and not clears_up:
        _listening[-1].append(f"{event} {arguments!r}"[:200])
    elif event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        path = os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else ""
        if not path.startswith((_scratch[0], "/dev/")) and "__pycache__" not in path:
            _listening[-1].append(f"writes {path}"[:200])


def _caller() -> str:
    """The file of whoever raised the event that is heard."""
    return sys._getframe(2).f_code.co_filename


@contextlib.contextmanager
def _watched() -> Iterator[list[str]]:
    events: list[str] = []
    _listening.append(events)
    try:
        yield events
    finally:
        _listening.pop()


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    clock = Clock()

    def end(_number: int, _frame: Any) -> None:
        left = SECONDS - clock.seconds
        if left <= 0:
            raise HangError
        signal.setitimer(signal.ITIMER_REAL, left)

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
