"""A reasoner that learns in a process of its own while towers that do not read it learn."""

import contextlib
import multiprocessing
import os
import pathlib
import signal
import threading
import time
from multiprocessing.connection import Connection

from algoscope import runs, training
from algoscope.experiments.experiment import Report, now_and_then
from algoscope.runs.comparison import check_same
from algoscope.runs.environment import keep_compiled_programs
from algoscope.training import Stopped, TrainingConfig
from algoscope.training.model import Model
from algoscope.transnar.reasoner import from_run

_PATIENCE = 15.0
"""Seconds that a process is given to save its last steps; it may be compiling, and hear nothing."""


class PendingReasoner:
    """The reasoner of a run, which is begun or gone on with: when it is first asked for, or, once
    `start` is called, in a process of its own."""

    def __init__(self, config: TrainingConfig, path: pathlib.Path, report: Report):
        self._config, self._path, self._report = config, path, report
        self._model: Model | None = None
        self._process = None

    def start(self) -> None:
        """Begins in the background, unless the run is finished."""
        if runs.has_begun(self._path) and runs.open(self._path).finished:
            return
        spawn = multiprocessing.get_context("spawn")
        receiver, sender = spawn.Pipe(duplex=False)
        arguments = (self._config, self._path, sender, os.getpid())
        self._process = spawn.Process(target=_work, args=arguments)
        self._process.start()
        sender.close()
        self._relay = threading.Thread(target=_relay, args=(receiver, self._report), daemon=True)
        self._relay.start()

    def ready(self) -> bool:
        """Whether `get` will not have to wait for another process."""
        return self._process is None or not self._process.is_alive()

    def get(self) -> Model:
        if self._process is not None:
            while self._process.is_alive():
                self._process.join(0.5)  # Signals are heard in between.
            self._relay.join()
            if self._process.exitcode:
                raise RuntimeError(
                    f"{self._path}: the reasoner's training ended with status "
                    f"{self._process.exitcode}, needed 0; its own message stands above"
                )
        if self._model is None:
            _train(self._config, self._path, self._report)
            self._model = from_run(runs.open(self._path))
        return self._model

    def close(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.join(_PATIENCE)
            self._process.kill()


def _train(config: TrainingConfig, path: pathlib.Path, report: Report) -> None:
    report_progress = now_and_then("reasoner", report)
    if runs.has_begun(path):
        check_same(path, runs.open(path).config, config.as_json())
        training.resume(path, report=report_progress)
    else:
        training.train(config, path, report=report_progress)


def _work(config: TrainingConfig, path: pathlib.Path, sender: Connection, parent: int) -> None:
    keep_compiled_programs()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        _train(config, path, sender.send)
    except Stopped:
        raise SystemExit(130) from None


def _end_with(parent: int) -> None:
    """Ends this process if its parent is gone, however that ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def _relay(receiver: Connection, report: Report) -> None:
    with contextlib.suppress(EOFError):
        while True:
            report(receiver.recv())
