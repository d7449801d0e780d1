"""Progress: how long the device is left alone, what is reported, and when to stop."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from algoscope.runs import Metrics

_STRETCH_SECONDS = 2.0
"""How long a stretch should take at most, so that progress is seen and Ctrl-C heard."""
RECENT = 20
"""Steps over which a reported loss is averaged."""


class Report(NamedTuple):
    """How far a run is."""

    step: int
    steps: int
    loss: float
    """Mean over seeds, tasks and the last few steps."""
    score: float
    """Mean over seeds and tasks at the last validation."""
    steps_per_second: float
    seconds_left: float


class Pace:
    """How many steps a stretch may have, so that it takes about as long as it should."""

    def __init__(self, most: int, seconds: float):
        self.most = most
        self.seconds = min(_STRETCH_SECONDS, seconds)
        self.steps = 1
        self._first = True

    def took(self, steps: int, seconds: float) -> None:
        if self._first:  # It compiled.
            self._first = False
            return
        wanted = int(self.seconds * steps / max(seconds, 1e-9))
        self.steps = max(1, min(self.most, wanted, 8 * self.steps))


class Clock:
    """Measures from the end of the first stretch, which compiles."""

    def __init__(self, steps: int):
        self._steps = steps
        self._from: tuple[int, float] | None = None

    def report(self, step: int, metrics: Metrics) -> Report:
        now = time.monotonic()
        rate = float("nan")
        if self._from is None:
            self._from = (step, now)
        else:
            rate = (step - self._from[0]) / max(now - self._from[1], 1e-9)
        return Report(
            step,
            self._steps,
            float(metrics.loss[-RECENT:].mean()),
            float(metrics.validation[-1].mean()) if len(metrics.validation) else float("nan"),
            rate,
            (self._steps - step) / rate if rate > 0 else float("nan"),
        )


@contextlib.contextmanager
def asked_to_stop() -> Iterator[threading.Event]:
    """An event that is set by Ctrl-C and by SIGTERM; a second one ends the process as ever."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def hear(number: int, _frame: Any) -> None:
        asked.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, hear)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
