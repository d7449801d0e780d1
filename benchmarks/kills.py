"""Is anything lost when a process is killed? Commands are killed again and again with kill -9.

A trial starts a command, kills it at a random moment, starts it or its way to go on again, kills
that too, and in the end lets it finish. What is there must then be, bit for bit, what the command
makes when nobody kills it; at every moment before, the folder must be absent, free to begin in, or
a run that says where it is.

    python benchmarks/kills.py --trials 50         # goes on with benchmarks/kills.json
    python benchmarks/kills.py --report
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
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

from algoscope import runs
from algoscope.files import write_bytes

ROOT = pathlib.Path(__file__).parents[1]
FILE = ROOT / "benchmarks" / "kills.json"
_KILLS = 2
"""Of each trial, at most."""
_EARLIEST = 0.15
"""Of the time that a command takes: before, there is nothing yet that could be lost."""
_PROGRAM = [sys.executable, "-c", "from algoscope.cli import main; main()"]
_TRAIN = "train bfs --seeds 2 --steps 300 --sizes 4 --batch 4 --network width=4 --evaluate-every 50"


class Command(NamedTuple):
    """A command that is killed, in a folder of its own."""

    name: str
    start: str
    again: str
    """What goes on with it."""
    kept: tuple[str, ...]
    """Files, by pattern, that are the same whoever was killed."""
    turns: int
    """Of ten trials, so many: the longer a command takes, the fewer."""
    before: str = ""
    """What has to be done first, once."""


_WEIGHTS = ("**/weights/*/*.safetensors", "**/metrics.safetensors", "**/results.json")
_FINDINGS = (*_WEIGHTS, "**/findings/*.safetensors", "**/findings/*/*.json")
COMMANDS = (
    Command(
        "train",
        f"{_TRAIN} --checkpoint-seconds 0 --out runs/run",
        "train --resume runs/run --checkpoint-seconds 0",
        _WEIGHTS,
        turns=4,
    ),
    Command(
        "demo",
        "demo --out runs/demo --seeds 1 --steps 20 --sizes 4 --problems 50",
        "demo --out runs/demo --seeds 1 --steps 20 --sizes 4 --problems 50",
        _FINDINGS,
        turns=1,
    ),
    Command(
        "gap",
        "judge runs/run --problems 50 --seeds 0 --json",
        "judge runs/run --problems 50 --seeds 0 --json",
        _FINDINGS,
        turns=2,
        before=f"{_TRAIN} --out runs/run",
    ),
    Command(
        "study",
        "reproduce mind-the-gap-bfs --preset smoke --out runs/study",
        "reproduce mind-the-gap-bfs --preset smoke --out runs/study",
        _WEIGHTS,
        turns=3,
    ),
)


def call(command: str, place: pathlib.Path) -> subprocess.Popen:
    (place / "log").touch()
    with (place / "log").open("ab") as log:
        return subprocess.Popen(
            [*_PROGRAM, *command.split()], cwd=place, stdout=log, stderr=log, start_new_session=True
        )


def finished(command: str, place: pathlib.Path) -> float:
    begun = time.monotonic()
    process = call(command, place)
    if process.wait():
        raise RuntimeError(f"{command}: status {process.returncode}\n{(place / 'log').read_text()}")
    return time.monotonic() - begun


def digest(command: Command, place: pathlib.Path) -> dict[str, str]:
    """Of what is kept, by path."""
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        for pattern in command.kept
        for path in sorted(place.glob(pattern))
    }


def sound(place: pathlib.Path) -> list[str]:
    """What is wrong with the run folders after a kill."""
    root = place / "runs"
    return [damaged.fault for damaged in runs.survey(root).damaged] if root.exists() else []


class Reference(NamedTuple):
    """The same without any kill."""

    digest: dict[str, str]
    seconds: float


def prepared(command: Command, place: pathlib.Path) -> None:
    if command.before:
        finished(command.before, place)


def reference(command: Command) -> Reference:
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        prepared(command, place)
        finished(command.start, place)
        known = digest(command, place)
    with tempfile.TemporaryDirectory() as folder:  # Again, with everything compiled.
        place = pathlib.Path(folder)
        prepared(command, place)
        seconds = finished(command.start, place)
        if digest(command, place) != known:
            raise RuntimeError(f"{command.name}: two calls without a kill differ")
    return Reference(known, seconds)


def trial(
    command: Command, known: Reference, number: int, template: pathlib.Path
) -> dict[str, Any]:
    chance = random.Random(f"{command.name} {number}")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "place"
        shutil.copytree(template, place)
        faults, kills = [], 0
        wanted = chance.randint(1, _KILLS)
        while kills < wanted:
            process = call(_next(command, place), place)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(_EARLIEST, 1.0) * known.seconds)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
            elif kills == 0:  # It was done before: what was killed nowhere is no trial.
                shutil.rmtree(place)
                shutil.copytree(template, place)
            else:
                break
            faults += sound(place)
        finished(_next(command, place), place)
        same = digest(command, place) == known.digest
        return {"command": command.name, "kills": kills, "same": same, "faults": faults}


def _next(command: Command, place: pathlib.Path) -> str:
    """The command itself until a run has begun, then what goes on with it."""
    begun = any(place.glob("runs/*/run.json")) or any(place.glob("runs/*/*/*/run.json"))
    return command.again if begun else command.start


def report(trials: list[dict[str, Any]]) -> str:
    lines = []
    for name in dict.fromkeys(each["command"] for each in trials):
        mine = [each for each in trials if each["command"] == name]
        lost = sum(not each["same"] or bool(each["faults"]) for each in mine)
        kills = sum(each["kills"] for each in mine)
        lines.append(f"{name}: {len(mine)} trials, {kills} kills, {lost} with something lost")
    lines += [str(each) for each in trials if not each["same"] or each["faults"]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=50, help="in all, the earlier included")
    parser.add_argument("--commands", nargs="*", default=[command.name for command in COMMANDS])
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    trials = json.loads(arguments.out.read_text()) if arguments.out.exists() else []
    if arguments.report:
        print(report(trials))
        return
    chosen = [command for command in COMMANDS if command.name in arguments.commands]
    turns = [command for command in chosen for _ in range(command.turns)]
    random.Random(0).shuffle(turns)
    known = {command.name: reference(command) for command in chosen}
    with tempfile.TemporaryDirectory() as folder:
        templates = {command.name: pathlib.Path(folder) / command.name for command in chosen}
        for command in chosen:
            templates[command.name].mkdir()
            prepared(command, templates[command.name])
        while len(trials) < arguments.trials:
            command = turns[len(trials) % len(turns)]
            name = command.name
            done = trial(command, known[name], len(trials), templates[name])
            trials.append(done)
            write_bytes(arguments.out, (json.dumps(trials, indent=1) + "\n").encode())
            print(done, flush=True)
    print(report(trials))


if __name__ == "__main__":
    main()
