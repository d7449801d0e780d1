"""Is anything lost when a process is killed? Commands are killed again and again with kill -9.

A trial starts a command, kills it at a random moment, starts it or its way to go on again, kills
that too, and in the end lets it finish. What is there must then be, bit for bit, what the command
makes when nobody kills it; at every moment before, the folder must be absent, free to begin in, or
a run that says where it is.

    python benchmarks/kills.py --trials 50                 # goes on with benchmarks/kills.json
    python benchmarks/kills.py --trials 50 --seconds 600   # and begins no trial after ten minutes
    python benchmarks/kills.py --report

What a command makes without a kill is computed anew in each call; where it is not what the file
says, the trials of that command were of other code (or of another machine), and are made again.

Moments are counted in time of the processor, so that a busy machine changes none of them. Commands
are forked from this process, which has imported what they need. Workers of a sweep are processes of
their own: they are killed alone, with the sweep, or left behind by it.
"""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

# What is computed is tiny, and compiled often: fast rather than well, and kept.
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_cpu_max_isa=AVX"
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"

import duckdb  # noqa: F401
import matplotlib.pyplot  # noqa: F401

from algoscope import cli, networks, report, runs, sweeps, tasks, training  # noqa: F401
from algoscope.configuration import TowerConfig, TransnarConfig
from algoscope.experiments import transnar_study
from algoscope.files import write_bytes

ROOT = pathlib.Path(__file__).parents[1]
FILE = ROOT / "benchmarks" / "kills.json"
_MOST_KILLS = 3
"""Of each trial."""
_SHARE = (0.05, 0.95)
"""Of what a command takes: where the first kill is drawn from."""
_TICK = os.sysconf("SC_CLK_TCK")
_POLL = 0.02
_LOG_LINES = 15

Start = Callable[[], None]
"""What a forked process does, in the folder of the trial."""
_TRAIN = (
    "train bfs --seeds 2 --steps 120 --sizes 4 --batch 4 --network width=4 --evaluate-every 40 "
    "--scored-on test"
)
_SWEEP = """
after = "score"
[base]
tasks = "bfs"
steps = 60
evaluate_every = 20
scored_on = ["test"]
recipe.sizes = [4]
recipe.count = 4
network.width = 4
[axes]
learning_rate = [1e-3, 1e-2]
"""


def verb(words: str) -> Start:
    """A command line."""

    def start() -> None:
        sys.argv = ["algoscope", *words.split()]
        cli.main()

    return start


def study() -> None:
    """A study in miniature: a reasoner, a base, a hybrid that reads it, and a rival."""
    rows = [row for row in transnar_study.ROWS if row.name in ("base", "hybrid", "solver")]
    transnar_study.run_study(
        transnar_study.Study(
            training.TrainingConfig(
                ("bfs",),
                steps=40,
                scored_on=(),
                recipe=tasks.Recipe(sizes=(4,), count=2),
                network=networks.NetworkConfig(width=4),
            ),
            TransnarConfig(
                ("bfs",),
                sizes=(4,),
                samples=8,
                steps=40,
                batch=2,
                warmup=1,
                tower=TowerConfig(width=8, layers=1, heads=1, context=128, reads="final"),
            ),
            seeds=(0,),
            test_sizes=(4,),
            unseen_sizes=(4,),
            problems=2,
            mechanism=("bfs", 4),
            rows=tuple(rows),
        ),
        pathlib.Path("runs/study"),
        print,
    )


class Command(NamedTuple):
    """A command that is killed, in a folder of its own."""

    name: str
    start: Start
    kept: tuple[str, ...]
    """Files, by pattern, that are the same whoever was killed."""
    turns: int
    """Of fifty trials, so many."""
    again: Start | None = None
    """What goes on with a run that has begun, where it is not the command itself."""
    before: Start | None = None
    """What has to be done first, once."""
    there: tuple[str, ...] = ()
    """Files that have to be there in the end, whatever they hold: dates, and how long it took."""


_WEIGHTS = ("**/weights/*/*.safetensors", "**/metrics.safetensors", "runs/*/results.json")
_FINDINGS = (*_WEIGHTS, "**/findings/*.safetensors", "**/findings/*/*.json", "**/findings/*.json")
COMMANDS = (
    Command(
        "train",
        verb(f"{_TRAIN} --checkpoint-seconds 0 --out runs/run"),
        _WEIGHTS,
        turns=16,
        again=verb("train --resume runs/run --checkpoint-seconds 0"),
        there=("runs/run/*.parquet",),
    ),
    Command(
        "demo",
        verb("demo --out runs/demo --seeds 1 --steps 20 --sizes 4 --problems 50"),
        _FINDINGS,
        turns=5,
        there=("runs/demo/*.parquet", "runs/demo/report.html", "runs/demo/figures/*"),
    ),
    Command(
        "gap",
        verb("judge runs/run --problems 30 --seeds 0 --json"),
        _FINDINGS,
        turns=12,
        before=verb(f"{_TRAIN} --out runs/run"),
    ),
    Command(
        "sweep",
        verb("sweep sweep.toml --checkpoint-seconds 0"),
        ("**/weights/*/*.safetensors", "**/metrics.safetensors", "runs/*/*/results.json"),
        turns=7,
        there=("runs/*/*/*.parquet",),
    ),
    Command(
        "study",
        study,
        ("**/*.safetensors", "runs/study/scores/*.json", "runs/study/mechanism.json"),
        turns=10,
        there=("runs/study/results.json",),
    ),
)


class Process:
    """A forked process that does what a user's would, and those that it starts."""

    def __init__(self, start: Start, place: pathlib.Path):
        self._place = place
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            self._work(start)
        self.status: int | None = None

    def _work(self, start: Start) -> None:
        status = 1
        try:
            os.setsid()
            os.chdir(self._place)
            log = os.open("log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
            os.dup2(log, 1)
            os.dup2(log, 2)
            start()
            status = 0
        except SystemExit as end:
            print(end.code, flush=True)
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)

    def ended(self, seconds: float | None = None) -> bool:
        """Whether it ends before it and its children took so long, of the processor."""
        begun = self.processor_seconds()
        while self.status is None:
            pid, status, _ = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif seconds is not None and self.processor_seconds() - begun > seconds:
                return False
            else:
                time.sleep(_POLL)
        return True

    def processor_seconds(self) -> float:
        return sum(ticks for _, ticks in family(self.pid).values()) / _TICK

    def kill(self, chance: random.Random) -> str:
        """Kills the command, its children, or both; returns which."""
        children = [pid for pid in family(self.pid) if pid != self.pid]
        victims = chance.choice(("command", "children", "all")) if children else "command"
        pids = {"command": [self.pid], "children": children, "all": [self.pid, *children]}[victims]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return victims


def family(ancestor: int) -> dict[int, tuple[int, int]]:
    """A process and its descendants: of each its parent, and what it and its dead took."""
    all_of_them = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                line = pathlib.Path(entry.path, "stat").read_text()
            except OSError:
                continue
            fields = line.rpartition(")")[2].split()
            all_of_them[int(entry.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    members = [ancestor]
    for member in members:
        members += [pid for pid, (parent, _) in all_of_them.items() if parent == member]
    return {pid: all_of_them[pid] for pid in members if pid in all_of_them}


def finished(start: Start, place: pathlib.Path) -> float:
    """Seconds of the processor that it took."""
    before = os.times()
    process = Process(start, place)
    process.ended()
    if process.status:
        raise RuntimeError(f"status {process.status}\n{_last_lines(place)}")
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def _last_lines(place: pathlib.Path) -> str:
    return "\n".join((place / "log").read_text(errors="replace").splitlines()[-_LOG_LINES:])


def digest(command: Command, place: pathlib.Path) -> dict[str, str]:
    """Of what is kept, by path."""
    found = {
        str(path.relative_to(place)): hashlib.sha256(_bits(path)).hexdigest()[:16]
        for pattern in command.kept
        for path in sorted(place.glob(pattern))
    }
    present = {
        str(path.relative_to(place)): "there"
        for pattern in command.there
        for path in sorted(place.glob(pattern))
    }
    return found | present


def _bits(path: pathlib.Path) -> bytes:
    """What has to be the same: of findings everything but how long the examination took, and by
    which code."""
    if "findings" not in path.parts or path.suffix != ".json":
        return path.read_bytes()
    content = json.loads(path.read_text())
    content.pop("seconds", None)
    del content["basis"]
    return json.dumps(content).encode()


def sound(place: pathlib.Path) -> list[str]:
    """What is wrong with the run folders after a kill."""
    root = place / "runs"
    return [damaged.fault for damaged in runs.survey(root).damaged] if root.exists() else []


def prepared(command: Command, place: pathlib.Path) -> None:
    place.mkdir()
    (place / "sweep.toml").write_text(_SWEEP)
    if command.before:
        finished(command.before, place)


def reference(command: Command, template: pathlib.Path) -> dict[str, Any]:
    """What the command makes without any kill, and what it takes once everything is compiled."""
    digests, seconds = [], 0.0
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "place"
            shutil.copytree(template, place)
            seconds = finished(command.start, place)
            digests.append(digest(command, place))
    if digests[0] != digests[1]:
        differing = {name for name, _ in digests[0].items() ^ digests[1].items()}
        raise RuntimeError(f"{command.name}: two calls without a kill differ in {differing}")
    return {"processor_seconds": round(seconds, 2), "digest": digests[0]}


def refer(record: dict[str, Any], command: Command, template: pathlib.Path) -> None:
    """Computes the reference; trials that were compared with another one are forgotten."""
    known, now = record["references"].get(command.name), reference(command, template)
    if known is None or known["digest"] != now["digest"]:
        record["trials"] = [each for each in record["trials"] if each["command"] != command.name]
    record["references"][command.name] = now


def trial(
    command: Command, known: dict[str, Any], number: int, template: pathlib.Path
) -> dict[str, Any]:
    chance = random.Random(f"{command.name} {number}")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "place"
        shutil.copytree(template, place)
        faults, moments, process = [], [], None
        wanted = chance.randint(1, _MOST_KILLS)
        while len(moments) < wanted:
            process = process or Process(_next(command, place), place)
            share = chance.uniform(*_SHARE)
            if process.ended(share * known["processor_seconds"]):
                if moments:
                    break
                # What was killed nowhere is no trial.
                process = None
                shutil.rmtree(place)
                shutil.copytree(template, place)
                continue
            victims = process.kill(chance)
            moments.append(f"{victims} at {share:.2f}")
            if victims != "children":
                process.ended()
                process = None
            faults += sound(place)
        if process is None or (process.ended() and process.status):
            process = Process(_next(command, place), place)
            process.ended()
        if process.status:
            faults.append(f"status {process.status}: {_last_lines(place)}")
        found = digest(command, place)
        differing = sorted({name for name, _ in found.items() ^ known["digest"].items()})
        return {
            "command": command.name,
            "number": number,
            "kills": moments,
            "differing": differing,
            "faults": faults,
        }


def _next(command: Command, place: pathlib.Path) -> Start:
    """The command itself until a run has begun, then what goes on with it."""
    begun = command.again and any(place.glob("runs/*/run.json"))
    return command.again if begun and command.again else command.start


def report_of(trials: list[dict[str, Any]]) -> str:
    lines = []
    for name in (command.name for command in COMMANDS):
        mine = [each for each in trials if each["command"] == name]
        lost = [each for each in mine if each["differing"] or each["faults"]]
        kills = sum(len(each["kills"]) for each in mine)
        lines.append(f"{name}: {len(mine)} trials, {kills} kills, {len(lost)} with something lost")
        lines += map(str, lost)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=50, help="in all, the earlier included")
    parser.add_argument("--seconds", type=float, help="begin no trial after so long")
    parser.add_argument("--commands", nargs="*", default=[command.name for command in COMMANDS])
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    begun = time.monotonic()
    record = {"references": {}, "trials": []}
    if arguments.out.exists():
        record = json.loads(arguments.out.read_text())
    if arguments.report:
        print(report_of(record["trials"]))
        return
    turns = [command for command in COMMANDS for _ in range(command.turns)]
    random.Random(0).shuffle(turns)
    wanted = [(number, turns[number % len(turns)]) for number in range(arguments.trials)]
    with tempfile.TemporaryDirectory() as folder:
        templates: dict[str, pathlib.Path] = {}
        for number, command in wanted:
            late = arguments.seconds and time.monotonic() - begun > arguments.seconds
            if command.name not in arguments.commands or late:
                continue
            if command.name not in templates:
                templates[command.name] = pathlib.Path(folder) / command.name
                prepared(command, templates[command.name])
                refer(record, command, templates[command.name])
            if number in {each["number"] for each in record["trials"]}:
                continue
            known = record["references"][command.name]
            record["trials"].append(trial(command, known, number, templates[command.name]))
            write_bytes(arguments.out, (json.dumps(record, indent=1) + "\n").encode())
            print(record["trials"][-1], flush=True)
    print(report_of(record["trials"]))


if __name__ == "__main__":
    main()
