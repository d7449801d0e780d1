"""The end of a command: whatever keeps a verb from going on becomes one line, with what to do.

With ALGOSCOPE_TRACEBACK=1 Python's own account is shown instead.
"""

import contextlib
import errno
import os
import signal
import sys
import traceback
import types
from collections.abc import Iterator

from algoscope import capacity
from algoscope.errors import Stopped
from algoscope.verbs.definitions import explained_by_users_file
from algoscope.verbs.usage import UsageError

NO_COMMAND = 2
"""The status of a process whose arguments are no command."""
INTERRUPTED = 130
"""The status of a process that Ctrl-C ended."""
_INTERRUPTED_LINE = "interrupted; what was finished before is safe"
_TRACEBACK = "ALGOSCOPE_TRACEBACK"
_EXTRAS = {
    "llm": ("torch", "transformers", "sklearn", "tokenizers", "gguf", "accelerate"),
    "harness": ("inspect_ai", "lm_eval"),
    "ray": ("ray",),
    "slurm": ("submitit",),
    "track": ("tensorboard", "wandb", "mlflow"),
}
"""What comes with the extras of this package, by the names of modules."""
_OUT_OF_MEMORY = (
    "RESOURCE_EXHAUSTED", "out of memory", "bad_alloc", "can't allocate memory",
    "Cannot allocate memory", "can't start new thread", "failed to map segment",
)  # fmt: skip
_CANNOT_BE_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_NO_DEVICE = "Unable to initialize backend"


class _Interrupts:
    """Whether Ctrl-C was heard. What it interrupts may be a library's own callback, and then what
    arrives is another error, or none. Modules in C that are being loaded do not survive it at all:
    then the process ends at once, as it would by kill -9."""

    heard = False

    def hear(self, _number: int, frame: types.FrameType | None) -> None:
        self.heard = True
        if _is_loading(frame):
            _end_at_once()
        raise KeyboardInterrupt

    def unraisable(self, unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _end_at_once()
        sys.__unraisablehook__(unraisable)


def _is_loading(frame: types.FrameType | None) -> bool:
    """Whether a module is being loaded."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _end_at_once() -> None:
    print(_INTERRUPTED_LINE, file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


_interrupts = _Interrupts()


def hear_interrupts() -> None:
    """Has Ctrl-C end this process in a line wherever it is heard; of a process that does not hear
    it, such as one in the background of a shell, nothing changes."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupts.hear)
        sys.unraisablehook = _interrupts.unraisable


@contextlib.contextmanager
def explained_end() -> Iterator[None]:
    """Ends the process with a message and a status where a verb cannot go on. What an earlier
    command of the process heard is over."""
    _interrupts.heard = False
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
        print(stopped, file=sys.stderr)
        sys.exit(INTERRUPTED)
    except KeyboardInterrupt:
        if _TRACEBACK in os.environ:
            raise
        print(_INTERRUPTED_LINE, file=sys.stderr)
        sys.exit(INTERRUPTED)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(NO_COMMAND)
    except SystemExit as end:
        if told := explained_by_users_file(end):
            sys.exit(f"error: {told}")
        raise
    except Exception as error:
        if _TRACEBACK in os.environ:
            raise
        if _interrupts.heard:
            print(_INTERRUPTED_LINE, file=sys.stderr)
            sys.exit(INTERRUPTED)
        sys.exit(f"error: {explanation(error)}")


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
        return _missing(error.name or text)
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


def _missing(module: str) -> str:
    package = module.partition(".")[0]
    for extra, packages in _EXTRAS.items():
        if package in packages:
            return f"{package} is not installed; it comes with pip install 'algoscope[{extra}]'"
    return f"{package} is not installed, and needed; pip install {package}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
