"""Runs as jobs of Slurm, through submitit (extra `slurm`): an array, of which each job makes a run.

Before its time limit a job writes a checkpoint and has itself requeued. Jobs need nobody who waits
for them: a sweep whose own process was lost finds them again, by `.slurm/jobs.json`, and takes up
with those that are still there. How they ended is read from the files of their runs.

    ROOT/SWEEP/.slurm/          what submitit keeps of its jobs, and what Slurm says about them
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any

from algoscope.errors import ConfigError
from algoscope.files import RunError, explained, read_json, write_bytes
from algoscope.sweeps.engines import ATTEMPTS, Resources, as_text, attempt, from_text, lost
from algoscope.sweeps.plan import Item
from algoscope.sweeps.work import End, Outcome, is_done
from algoscope.training.plan import Room

_FOLDER, _JOBS = ".slurm", "jobs.json"
_PROGRAMS = ("sbatch", "srun", "squeue", "scancel", "scontrol")
_LOGGING = "SUBMITIT_LOG_LEVEL"
_TIMEOUTS = 10_000
"""How often a job may be requeued at its time limit: as often as it takes."""
_LARGEST_ARRAY = 1_000
"""Slurm refuses more, unless it is told."""
_FIRST_LOOK, _SLOWER, _LAST_LOOK = 1.0, 1.3, 15.0
"""Seconds between two questions to the controller, which grow while nothing happens."""
_BY_ITSELF = ("COMPLETED", "CANCELLED")
"""States of jobs that ended as somebody meant them to."""
_ENDED = (
    *_BY_ITSELF, "BOOT_FAIL", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
    "REVOKED", "SPECIAL_EXIT", "TIMEOUT",
)  # fmt: skip


class Slurm:
    def __init__(
        self,
        folder: pathlib.Path,
        resources: Resources | None = None,
        *,
        minutes: int = 60,
        grace: int = 90,
        at_most: int = _LARGEST_ARRAY,
        options: Mapping[str, Any] | None = None,
    ):
        """A job may take so many `minutes` until it is requeued, of which the last `grace` seconds
        are for its checkpoint; `at_most` so many run at once; `options` are sbatch's by name."""
        _submitit()  # Or an error before anything is made.
        self._resources = resources = resources or Resources()
        _check(resources, minutes, grace, at_most)
        self._folder = folder.absolute() / _FOLDER
        gpus = {"gpus_per_node": int(resources.gpus)} if resources.gpus else {}
        self._parameters = {
            "job_name": f"algoscope-{folder.absolute().name}",
            "time": minutes,
            "signal_delay_s": grace,
            "cpus_per_task": resources.cpus,
            # Since Slurm 22.05 a step does not take it from its job.
            "srun_args": [f"--cpus-per-task={resources.cpus}"],
            "array_parallelism": at_most,
            "additional_parameters": {"requeue": True, **(options or {})},
            **gpus,
        }

    @property
    def room(self) -> Room:
        return self._resources.room

    def run(self, items: Sequence[Item], stop: threading.Event) -> Generator[Outcome, None, None]:
        with explained(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        executor = _submitit().SlurmExecutor(self._folder, max_num_timeout=_TIMEOUTS)
        executor.update_parameters(**self._parameters)
        left = {item.name: item for item in items}
        jobs = {job: name for job, name in under_way(self._folder).items() if name in left}
        attempts, told = Counter(jobs.values()), set[str]()
        seconds = _FIRST_LOOK
        while left:
            busy = set(jobs.values())
            idle = [item for name, item in left.items() if name not in busy]
            if stop.is_set():
                _stop(jobs, told)
                for item in idle:
                    del left[item.name]
                    yield Outcome(item.name, End.STOPPED)
            elif idle:
                attempts.update(item.name for item in idle)
                jobs |= self._submit(executor, idle, jobs)
                seconds = _FIRST_LOOK
            if not left:
                break
            # A stop is heard at once, and then the end of jobs is waited for.
            time.sleep(_FIRST_LOOK) if stop.is_set() else stop.wait(seconds)
            seconds = min(_LAST_LOOK, _SLOWER * seconds)
            states = _states()
            if states is None:  # The controller is busy, or down for a while.
                continue
            for job in [job for job in jobs if states.get(job) in (None, *_ENDED)]:
                item = left[jobs.pop(job)]
                ended = states.get(job) in _BY_ITSELF or attempts[item.name] == ATTEMPTS
                if ended or stop.is_set() or is_done(item) or item.error.is_file():
                    del left[item.name]
                    yield self._outcome(item, job, states.get(job), stop.is_set())
                    seconds = _FIRST_LOOK

    def _submit(
        self, executor: Any, items: Sequence[Item], jobs: Mapping[str, str]
    ) -> dict[str, str]:
        """The names of runs by the new jobs that make them; known to who comes later, too."""
        from submitit.core.utils import FailedJobError

        known = dict(jobs)
        for start in range(0, len(items), _LARGEST_ARRAY):
            part = items[start : start + _LARGEST_ARRAY]
            for item in part:
                item.error.unlink(missing_ok=True)
            try:
                new = executor.map_array(_Making(), list(map(as_text, part)))
            except FailedJobError as error:
                raise RunError(f"Slurm takes no jobs: {error}") from None
            known |= {job.job_id: item.name for job, item in zip(new, part, strict=True)}
            write_bytes(self._folder / _JOBS, json.dumps(known, indent=1).encode())
        return known

    def _outcome(self, item: Item, job: str, state: str | None, stopped: bool) -> Outcome:
        if is_done(item):
            return Outcome(item.name, End.FINISHED)
        if item.error.is_file():
            return Outcome(item.name, End.FAILED, item.error.read_text().strip())
        if stopped or state in _BY_ITSELF:
            return Outcome(item.name, End.STOPPED)
        log = self._folder / f"{job}_0_log.err"
        return lost(item, f"the job was lost {ATTEMPTS} times, last as {job} ({state}): {log}")


class _Making:
    """What a job does; submitit writes it down with an item as text."""

    def __call__(self, text: str) -> None:
        item, limit = from_text(text), threading.Event()
        number = _signal_of_limit()
        requeue = signal.getsignal(number)
        assert callable(requeue)

        def hear(number: int, frame: FrameType | None) -> None:
            if not limit.is_set():
                limit.set()
                signal.raise_signal(signal.SIGINT)

        signal.signal(number, hear)
        try:
            stopped = attempt(item).end is End.STOPPED
        except KeyboardInterrupt:
            stopped = True
        signal.signal(number, requeue)
        if stopped and limit.is_set():
            # Now that a checkpoint is written, what submitit would have done at once.
            requeue(number, None)

    def checkpoint(self, text: str) -> Any:
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, text)


def under_way(folder: pathlib.Path) -> dict[str, str]:
    """The names of runs by the jobs of earlier calls that are not over."""
    path = folder / _JOBS
    known = read_json(path, dict[str, str]) if path.is_file() else {}
    states = _states() if known else {}
    if states is None:
        raise RunError(
            "Slurm: squeue does not say which jobs there are; is its controller up, and this a "
            "machine that submits jobs?"
        )
    return {job: name for job, name in known.items() if states.get(job) not in (None, *_ENDED)}


def cancel(folder: pathlib.Path) -> list[str]:
    """Stops the jobs of a sweep that nobody waits for; returns the names of their runs."""
    jobs = under_way(folder / _FOLDER) if (folder / _FOLDER / _JOBS).is_file() else {}
    _stop(jobs, set())
    return list(jobs.values())


def _stop(jobs: Mapping[str, str], told: set[str]) -> None:
    """Jobs that have not begun do not, and others are told, once, to end in a checkpoint."""
    states = _states() or {}
    waiting = [job for job in jobs if states.get(job) == "PENDING"]
    if waiting:
        subprocess.run(["scancel", "--state=PENDING", *waiting], check=False)
    running = [job for job in jobs if states.get(job) == "RUNNING" and job not in told]
    if running:
        subprocess.run(["scancel", "--signal=INT", *running], check=False)
        told.update(running)


def _states() -> dict[str, str] | None:
    """Of this user's jobs, by their ids; None if Slurm does not say."""
    command = ["squeue", "--me", "--noheader", "--array", "--states=all", "--format=%i %T"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    if told.returncode:
        return None
    return dict(line.split() for line in told.stdout.splitlines())


def _signal_of_limit() -> signal.Signals:
    """What submitit has Slurm send before the time limit."""
    from submitit.core.job_environment import JobEnvironment

    return signal.Signals[f"SIG{JobEnvironment.USR_SIG}"]


def _submitit() -> ModuleType:
    """The package, without its own settings of logging: they would close all handlers that the
    process has, and with them files that are not ours."""
    before = os.environ.get(_LOGGING)
    os.environ[_LOGGING] = "NOCONFIG"
    try:
        import submitit
    finally:
        if before is None:
            del os.environ[_LOGGING]
        else:
            os.environ[_LOGGING] = before
    return submitit


def _check(resources: Resources, minutes: int, grace: int, at_most: int) -> None:
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    faults = []
    if missing:
        faults.append(
            f"Slurm: found no {', '.join(missing)}, needed a machine that can submit jobs"
        )
    if resources.gpus != int(resources.gpus):
        faults.append(f"gpus: got {resources.gpus}, needed whole GPUs for a job of Slurm")
    if minutes < 1:
        faults.append(f"minutes: got {minutes}, needed at least 1")
    elif not 0 < grace < 60 * minutes:
        faults.append(f"grace: got {grace}, needed less than the {60 * minutes} seconds of a job")
    if at_most < 1:
        faults.append(f"workers: got {at_most}, needed at least 1")
    if faults:
        raise ConfigError("\n".join(faults))
