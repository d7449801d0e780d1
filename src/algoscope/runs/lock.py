"""Locks: one process writes to a run, and everybody can see whether one does.

The system forgets a lock when the process that holds it ends, however it ends.
"""

import contextlib
import fcntl
import os
import pathlib
import time
from collections.abc import Iterator
from typing import IO

from algoscope.files import RunError, explained

FILE = ".lock"
_APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_PATIENCE = 0.5
"""Seconds: whoever asks holds the lock for an instant."""


@contextlib.contextmanager
def hold(
    folder: pathlib.Path, holds: str = "a run that another process is training"
) -> Iterator[None]:
    """Keeps other processes from writing to the folder; `holds` says to them what it has."""
    path = folder / FILE
    with explained(folder):
        lock = os.fdopen(_without_waiting(str(path), _APPENDING), "a")
    with lock:
        if not take(lock):
            raise RunError(
                f"{folder}: got {holds}, needed one that nobody is; wait for it to end, or "
                "give another name"
            )
        if not path.exists() or not os.path.samestat(os.fstat(lock.fileno()), path.stat()):
            raise RunError(f"{folder}: another process has just replaced this run")
        yield


def take(file: IO[str]) -> bool:
    """Locks an open file until it is closed; whether it could."""
    until = time.monotonic() + _PATIENCE
    while not _taken(file.fileno(), fcntl.LOCK_EX):
        if time.monotonic() > until:
            return False
        time.sleep(_PATIENCE / 20)
    return True


def is_held(folder: pathlib.Path) -> bool:
    """Whether a process, this one included, writes to the folder."""
    return is_taken(folder / FILE)


def is_taken(path: pathlib.Path) -> bool:
    """Whether a process, this one included, has locked the file."""
    try:
        with open(path, opener=_without_waiting) as lock:
            return not _taken(lock.fileno(), fcntl.LOCK_SH)
    except OSError:
        return False


def _without_waiting(path: str, flags: int) -> int:
    """Opens what may be no file: a pipe of that name would be waited for until somebody used it."""
    return os.open(path, flags | os.O_NONBLOCK, 0o666)


def _taken(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
