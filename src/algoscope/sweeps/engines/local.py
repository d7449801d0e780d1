"""Runs on this machine: a few processes, each of which takes one item after the other.

A process that is lost takes its run with it, and nothing else: another goes on with that run from
its last checkpoint. When the sweep's own process is lost, its workers stop at a checkpoint.
"""

import contextlib
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence

from algoscope import capacity
from algoscope.files import explained
from algoscope.serialise import from_json
from algoscope.sweeps.engines import ATTEMPTS, POLL, Resources, as_text, lost
from algoscope.sweeps.plan import Item
from algoscope.sweeps.work import End, Outcome
from algoscope.training.plan import Room

_PROGRAM = (sys.executable, "-m", "algoscope.sweeps.engines.worker")
_GPUS = pathlib.Path("/proc/driver/nvidia/gpus")
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class Local:
    """As many processes side by side as there are `workers`; GPUs are shared out among them."""

    def __init__(self, folder: pathlib.Path, workers: int = 1):
        if workers < 1:
            raise ValueError(f"workers: got {workers}, needed at least 1")
        self._folder, self._count = folder / ".workers", workers

    @property
    def room(self) -> Room:
        """GPUs are counted without JAX, which would take their memory for this process."""
        gpus = _gpus()
        devices = (len(gpus) if self._count == 1 else 1) if gpus else None
        return Room(devices, float(capacity.available()))

    def run(self, items: Sequence[Item], stop: threading.Event) -> Generator[Outcome, None, None]:
        waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
        for item in items:
            waiting.put(item)
        with explained(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        workers = [_Worker(k, self._count, self._folder) for k in range(self._count)][: len(items)]
        threads = [threading.Thread(target=w.work, args=(waiting, outcomes, stop)) for w in workers]
        for thread in threads:
            thread.start()
        try:
            for _ in items:
                while True:
                    if stop.is_set():
                        for worker in workers:
                            worker.stop()
                    with contextlib.suppress(queue.Empty):
                        yield outcomes.get(timeout=POLL)
                        break
        finally:
            stop.set()
            for worker in workers:
                worker.stop()
            for thread in threads:
                thread.join()


class _Worker:
    """A process, which is started anew when it is lost, and the thread that waits for it."""

    def __init__(self, number: int, count: int, folder: pathlib.Path):
        self._environment = os.environ | _share_of_gpus(number, count)
        self._log = folder / f"worker-{number}.log"
        self._process: subprocess.Popen[str] | None = None
        self._told = False

    def work(
        self,
        waiting: queue.SimpleQueue[Item],
        outcomes: queue.SimpleQueue[Outcome],
        stop: threading.Event,
    ) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                item = waiting.get_nowait()
                outcomes.put(self._ended(item, stop))
        self._close()

    def stop(self) -> None:
        """Asks the process, once, to end in a checkpoint."""
        if self._process is not None and not self._told:
            self._told = True
            self._process.send_signal(signal.SIGTERM)

    def _ended(self, item: Item, stop: threading.Event) -> Outcome:
        status = 0
        for _ in range(ATTEMPTS):
            if stop.is_set():
                return Outcome(item.name, End.STOPPED)
            answer = self._answer(item)
            if answer:
                return from_json(Outcome, json.loads(answer), where="outcome")
            status = self._close()
        if stop.is_set():
            return Outcome(item.name, End.STOPPED)
        return lost(
            item,
            f"the process was lost {ATTEMPTS} times, last with status {status}: {item.log}",
        )

    def _answer(self, item: Item) -> str:
        """A line; empty if the process is lost."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{as_text(item)}\n")
            process.stdin.flush()
            return process.stdout.readline()
        except BrokenPipeError:
            return ""

    def _start(self) -> subprocess.Popen[str]:
        # Of a session of its own: Ctrl-C reaches the sweep alone, which tells its workers.
        with self._log.open("a") as log:
            return subprocess.Popen(
                _PROGRAM,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def _close(self) -> int:
        """Ends the process; returns its status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        return process.wait()


def _share_of_gpus(number: int, count: int) -> dict[str, str]:
    """Settings of one of so many workers; none where there is no GPU."""
    gpus = _gpus()
    if count == 1 or not gpus:
        return {}
    sharing = -(-count // len(gpus))
    share = Resources(gpus=1 / sharing).environment
    return {_VISIBLE: gpus[number % len(gpus)], **share}


def _gpus() -> list[str]:
    """Those that this process may use, as CUDA names them."""
    named = os.environ.get(_VISIBLE)
    if named is not None:
        return [name for name in named.split(",") if name]
    return [str(k) for k in range(len(os.listdir(_GPUS)))] if _GPUS.is_dir() else []
