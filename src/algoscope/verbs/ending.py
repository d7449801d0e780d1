"""The end of a command: whatever keeps a verb from going on becomes one line, with what to do.

Ctrl-C, SIGTERM (as `kill`, a container or a queue sends it) and SIGHUP (of a terminal that is
closed) all unwind what is under way; a second of them ends the process at once, which loses no more
than `kill -9` would. So does the first where nothing is unwound within two seconds, as while a
library compiles, computes, or waits for its threads; a training ends by itself, at a checkpoint.

With ALGOSCOPE_TRACEBACK=1 Python's own account is shown instead.
"""

import contextlib
import errno
import functools
import os
import signal
import sys
import threading
import traceback
import types
from collections.abc import Iterator

from algoscope import capacity, stopping
from algoscope.errors import Stopped, visible
from algoscope.verbs.definitions import explained_by_users_file, is_raised_by_users_file
from algoscope.verbs.packages import advice
from algoscope.verbs.usage import UsageError

NO_COMMAND = 2
"""The status of a process whose arguments are no command."""
_SAFE = "what was finished before is safe"
_WORDS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "the terminal is gone",
}
"""How the last line begins after each signal."""
STATUSES = frozenset(128 + number for number in _WORDS)
"""Of processes that such a signal ended."""
_PATIENCE = 2.0
"""Seconds in which a process has to unwind."""
_TRACEBACK = "ALGOSCOPE_TRACEBACK"
_OUT_OF_MEMORY = (
    "RESOURCE_EXHAUSTED", "out of memory", "bad_alloc", "can't allocate memory",
    "Cannot allocate memory", "can't start new thread", "failed to map segment",
)  # fmt: skip
_CANNOT_BE_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_NO_DEVICE = "Unable to initialize backend"


class _Interrupts:
    """Which signal was heard. What it interrupts may be a library's own callback, and then what
    arrives is another error, or none. Modules in C that are being loaded do not survive it at all:
    then the process ends at once, as it would by kill -9."""

    heard: signal.Signals | None = None

    def hear(self, number: int, frame: types.FrameType | None) -> None:
        again, self.heard = self.heard is not None, signal.Signals(number)
        if again or stopping.is_loading(frame):
            self._end_at_once()
        raise KeyboardInterrupt

    def unraisable(self, unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._end_at_once()
        sys.__unraisablehook__(unraisable)

    def watch(self, numbers: int, over: threading.Event) -> None:
        """Ends the process where one of the signals whose numbers are read here is not answered,
        unless it is over before."""
        while octet := os.read(numbers, 1):
            unanswered = octet[0] in _WORDS and not stopping.is_answered()
            if unanswered and not over.wait(_PATIENCE):
                self.heard = self.heard or signal.Signals(octet[0])
                self._end_at_once()
        os.close(numbers)

    @property
    def status(self) -> int:
        return 128 + (self.heard or signal.SIGINT)

    def say(self) -> None:
        _say(f"{_WORDS[self.heard or signal.SIGINT]}; {_SAFE}")

    def _end_at_once(self) -> None:
        self.say()
        os._exit(self.status)


def _say(text: object) -> None:
    """As the last line, if anybody can still read it."""
    with contextlib.suppress(OSError, ValueError):
        print(visible(str(text)), file=sys.stderr, flush=True)


_interrupts = _Interrupts()


def hear_interrupts() -> None:
    """Has these signals end this process in a line wherever they are heard; of a process that does
    not hear one, in the background of a shell or under `nohup`, nothing changes."""
    for number in _WORDS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _interrupts.hear)
    sys.unraisablehook = _interrupts.unraisable


@contextlib.contextmanager
def ended_if_unanswered() -> Iterator[None]:
    """Has a thread end this process after a signal that the main thread, in a library's own code,
    does not hear, or hears and does not get to its end."""
    numbers, written = os.pipe()
    os.set_blocking(written, False)
    before = signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    _leave_children_alone()
    over = threading.Event()
    threading.Thread(target=_interrupts.watch, args=(numbers, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(written)


@functools.cache
def _leave_children_alone() -> None:
    """A child has no such thread, and its signals are not its parent's."""
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))


@contextlib.contextmanager
def explained_end() -> Iterator[None]:
    """Ends the process with a message and a status where a verb cannot go on. What an earlier
    command of the process heard is over."""
    _interrupts.heard = None
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads on, as after `| head`. Other programs end by this signal, too.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
    except Stopped as stopped:
        _say(stopped)
        sys.exit(128 + stopped.signal if stopped.signal else _interrupts.status)
    except KeyboardInterrupt:
        if _TRACEBACK in os.environ:
            raise
        _interrupts.say()
        sys.exit(_interrupts.status)
    except UsageError as error:
        _say(f"error: {error}")
        sys.exit(NO_COMMAND)
    except SystemExit as end:
        if told := explained_by_users_file(end):
            sys.exit(f"error: {visible(told)}")
        raise
    except Exception as error:
        if _TRACEBACK in os.environ:
            raise
        if _interrupts.heard:
            _interrupts.say()
            sys.exit(_interrupts.status)
        sys.exit(f"error: {visible(explanation(error))}")
    except BaseException as error:  # A user's file may raise what is no Exception.
        if _TRACEBACK in os.environ or not is_raised_by_users_file(error):
            raise
        sys.exit(f"error: {visible(explained_by_users_file(error) or str(error))}")


def explanation(error: Exception) -> str:
    """What went wrong, and what to do about it."""
    text = str(error)
    # JAX's and torch's errors are known by their words: their types come with heavy packages.
    if isinstance(error, MemoryError) or any(words in text for words in _OUT_OF_MEMORY):
        free = capacity.readable(capacity.available())
        return (
            f"the memory does not suffice ({_first_line(error)}); {free} of main memory are free: "
            "take smaller problems, fewer of them, or a smaller network"
        )
    if told := explained_by_users_file(error):
        return told
    if isinstance(error, OSError) and error.filename is not None:
        return (
            f"{os.fsdecode(error.filename)}: {error.strerror}; give a file or folder that is there "
            "and may be used, and is not moved meanwhile"
        )
    if isinstance(error, OSError) and not _is_somewhere():
        return "the folder that this was started in is gone; go to another (cd), and start again"
    if isinstance(error, OSError) and error.errno in _CANNOT_BE_WRITTEN:
        return (
            f"what is printed cannot be written ({error.strerror}); make room, or send it elsewhere"
        )
    if isinstance(error, ValueError | OSError):
        return text
    if isinstance(error, ModuleNotFoundError):
        return advice(error.name or text)
    if isinstance(error, RecursionError):
        return "got something that is nested too deeply, needed less depth"
    if _NO_DEVICE in text or not _finds_devices():
        asked = os.environ.get("JAX_PLATFORMS", "")
        return (
            f"JAX finds no such device (JAX_PLATFORMS={asked}: {_first_line(error)}); leave "
            "JAX_PLATFORMS unset, or install what the device needs, such as pip install "
            "'algoscope[cuda]'"
        )
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{type(error).__name__}: {_first_line(error)} (in {os.path.basename(place.filename)}, "
        f"line {place.lineno}). This is a fault of Algoscope: please report it with what "
        f"{_TRACEBACK}=1 shows"
    )


def _is_somewhere() -> bool:
    """Whether the folder that the process is in is still there."""
    try:
        return bool(os.getcwd())
    except FileNotFoundError:
        return False


def _finds_devices() -> bool:
    """Whether JAX, if it was loaded, finds what JAX_PLATFORMS asks for: of what is not there it
    says nothing at times."""
    jax = sys.modules.get("jax")
    try:
        return jax is None or bool(jax.devices())
    except (RuntimeError, AssertionError):
        return False


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
