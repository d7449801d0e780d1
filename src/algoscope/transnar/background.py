"""Beside: a reasoner that learns in a process of its own while towers that do not read it learn."""

import contextlib
import multiprocessing
import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

from algoscope import runs, training
from algoscope.runs.environment import keep_compiled_programs
from algoscope.training import Stopped, TrainingConfig
from algoscope.training.model import Model
from algoscope.transnar import reasoner as reasoners

Say = Callable[[str], None]
_PATIENCE = 15.0
"""Seconds that a process is given to save its last steps; it may be compiling, and hear nothing."""


class Coming:
    """A reasoner that may not be there yet."""

    def __init__(self, config: TrainingConfig, path: pathlib.Path, say: Say):
        self._config, self._path, self._say = config, path, say
        self._model: Model | None = None

    def ready(self) -> bool:
        """Whether `get` will not have to wait for another process."""
        return True

    def get(self) -> Model:
        if self._model is None:
            _learn(self._config, self._path, self._say)
            self._model = reasoners.of_run(runs.open(self._path))
        return self._model


class _Beside(Coming):
    def __init__(self, config: TrainingConfig, path: pathlib.Path, say: Say):
        super().__init__(config, path, say)
        spawn = multiprocessing.get_context("spawn")
        hearing, saying = spawn.Pipe(duplex=False)
        self._process = spawn.Process(
            target=_learn_beside, args=(config, path, saying, os.getpid())
        )
        self._process.start()
        saying.close()
        self._relay = threading.Thread(target=_relay, args=(hearing, say), daemon=True)
        self._relay.start()

    def ready(self) -> bool:
        return not self._process.is_alive()

    def get(self) -> Model:
        while self._process.is_alive():
            self._process.join(0.5)  # Signals are heard in between.
        self._relay.join()
        if self._process.exitcode:
            raise RuntimeError(
                f"{self._path}: the reasoner's training ended with status "
                f"{self._process.exitcode}, needed 0; its own message stands above"
            )
        return super().get()

    def close(self) -> None:
        self._process.terminate()
        self._process.join(_PATIENCE)
        self._process.kill()


@contextlib.contextmanager
def coming(config: TrainingConfig, path: pathlib.Path, beside: bool, say: Say) -> Iterator[Coming]:
    """The reasoner of that run, which is made or gone on with: in a process of its own, or when it
    is first asked for."""
    if not beside or (path.exists() and runs.open(path).finished):
        yield Coming(config, path, say)
        return
    learning = _Beside(config, path, say)
    try:
        yield learning
    finally:
        learning.close()


def _learn(config: TrainingConfig, path: pathlib.Path, say: Say) -> None:
    last = 0.0

    def report(progress: training.Report) -> None:
        nonlocal last
        if time.monotonic() - last >= 10 or progress.step == progress.steps:
            last = time.monotonic()
            say(f"reasoner: step {progress.step} of {progress.steps}, score {progress.score:.3f}")

    if path.exists():
        training.resume(path, report=report)
    else:
        training.train(config, path, report=report)


def _learn_beside(
    config: TrainingConfig, path: pathlib.Path, saying: Connection, parent: int
) -> None:
    keep_compiled_programs()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        _learn(config, path, saying.send)
    except Stopped:
        raise SystemExit(130) from None


def _end_with(parent: int) -> None:
    """Ends this process if its parent is gone, however that ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def _relay(hearing: Connection, say: Say) -> None:
    with contextlib.suppress(EOFError):
        while True:
            say(hearing.recv())
