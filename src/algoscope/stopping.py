"""Stopping: Ctrl-C, SIGTERM and SIGHUP, for work that ends in a place from which it can go on.

with asked_to_stop() as asked:
    while steps_are_left:
        asked.or_leave(wait_for_what_a_step_needs)  # as soon as a signal comes
        if asked.is_set():
            raise asked.stopped("stopped at step 7; the same command goes on")
        take_a_step()  # not left before its end
"""

import contextlib
import signal
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from algoscope.errors import Stopped

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask work to stop."""


class Asked(threading.Event):
    """Whether the work was asked to stop."""

    def __init__(self):
        super().__init__()
        self._number: int | None = None
        self._leaves = False

    def hear(self, number: int, frame: types.FrameType | None) -> None:
        self._number = number
        self.set()
        if self._leaves and not is_loading(frame):
            self._leaves = False
            raise KeyboardInterrupt

    def or_leave(self, wait: Callable[..., None], *arguments: Any) -> None:
        """Does what may take long, leaves it when a signal comes, and does not begin it if one came
        before."""
        # A context manager could be interrupted between its last line and its end. What is
        # interrupted may be a library's own callback, and then another error arrives.
        try:
            self._leaves = True
            if not self.is_set():
                wait(*arguments)
            self._leaves = False
        except (KeyboardInterrupt, Exception):
            if not self.is_set():
                raise
        finally:
            self._leaves = False

    def stopped(self, text: str) -> Stopped:
        """What to raise in the end: it holds the signal, by which a process ends."""
        return Stopped(text, self._number)


def is_loading(frame: types.FrameType | None) -> bool:
    """Whether a module is being loaded: those in C do not survive an interrupt."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


_under_way: list[object] = []


def is_answered() -> bool:
    """Whether somebody hears signals who ends by himself, when it is safe to."""
    return bool(_under_way)


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Work that ends by itself after a signal, however long that takes: it leaves what it has."""
    work = object()
    _under_way.append(work)
    try:
        yield
    finally:
        _under_way.remove(work)


@contextlib.contextmanager
def asked_to_stop() -> Iterator[Asked]:
    """An event that is set by Ctrl-C, by SIGTERM, and by SIGHUP where it would end the process (it
    is ignored under `nohup`); a second one ends the process as ever."""
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {number: signal.getsignal(number) for number in ASKING}
    if before[signal.SIGHUP] is signal.SIG_IGN:
        del before[signal.SIGHUP]

    def hear(number: int, frame: types.FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number)])
        asked.hear(number, frame)

    _under_way.append(asked)
    for number in before:
        signal.signal(number, hear)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _under_way.remove(asked)
