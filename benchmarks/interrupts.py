"""Do Ctrl-C and SIGTERM end every long verb in one line, with status 130 or 143, wherever they are
heard, and how soon?

A verb is started as a user starts it, and interrupted after a part of a second or some seconds,
drawn from its name and number: while modules load, while programs are compiled, while it trains,
judges or draws. Odd numbers get SIGTERM. The file says the commit, and of each trial how long the
verb took to end.

    python benchmarks/interrupts.py                    # goes on with benchmarks/interrupts.json
    python benchmarks/interrupts.py --verbs train      # this one alone
    python benchmarks/interrupts.py --report
"""

import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from algoscope import networks, programs
from algoscope.files import write_bytes
from algoscope.programs.compiler import compile_program

FILE = pathlib.Path(__file__).with_suffix(".json")
VERBS = {
    "demo": "demo --seeds 1 --steps 50 --sizes 4",
    "judge": "judge FILE.safetensors",
    "report": "report FILE.safetensors",
    "verify": "verify bellman_ford --size 64",
    "train": "train bfs --steps 2000 --sizes 4 --network width=8",
    "compile": "train insertion_sort --steps 200",
    "sweep": "sweep sweep.toml",
    "transnar": "transnar train bfs --steps 200 --out runs/tower",
    "llm": "llm navigate --model navigator",
}
_SWEEP = '[base]\ntasks = "bfs"\nsteps = 2000\nrecipe.sizes = [4]\n[axes]\nclip = [1.0, 2.0]\n'
_LATEST = 25.0
"""Seconds after which a verb is interrupted, at most."""
_PATIENCE = 120.0
_START = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from algoscope.__main__ import main; main()"
)
"""As the installed program does; in the background of a shell Ctrl-C would not be heard."""


def trial(verb: str, number: int) -> dict[str, Any]:
    chance = random.Random(f"{verb} {number}")
    moment = chance.uniform(0.3, 1.0) * _LATEST ** chance.choice((0.0, 0.5, 1.0))
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "sweep.toml").write_text(_SWEEP)
        if "FILE" in VERBS[verb]:
            compiled = compile_program(programs.get("bfs"))
            networks.save(compiled.network, place / "FILE.safetensors", "bfs", compiled.source)
        process = subprocess.Popen(
            [sys.executable, "-c", _START, *VERBS[verb].split()],
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        asked = signal.SIGTERM if number % 2 else signal.SIGINT
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(asked)
        begun = time.monotonic()
        try:
            _, errors = process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
    lines = errors.strip().splitlines()
    return {
        "verb": verb,
        "number": number,
        "signal": int(asked),
        "seconds": round(moment, 2),
        "ended_after": round(time.monotonic() - begun, 2),
        "status": process.returncode,
        "traceback": "Traceback" in errors,
        "last": lines[-1] if lines else "",
    }


def commit() -> str:
    command = ("git", "-C", str(FILE.parent), "rev-parse", "--short", "HEAD")
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def is_fine(trial: dict[str, Any]) -> bool:
    """It was interrupted and said so, or it was done before."""
    return not trial["traceback"] and (trial["status"] == 0 or _was_interrupted(trial))


def _was_interrupted(trial: dict[str, Any]) -> bool:
    words = ("interrupted", "terminated", "stopped")
    if trial["status"] == -signal.SIGTERM and not trial["last"]:
        return True  # Python itself was starting, and knew no signals yet.
    return trial["status"] == 128 + trial["signal"] and trial["last"].startswith(words)


def report(trials: list[dict[str, Any]]) -> str:
    lines = []
    for verb in VERBS:
        mine = [each for each in trials if each["verb"] == verb]
        bad = [each for each in mine if not is_fine(each)]
        latest = max((each["ended_after"] for each in mine), default=0.0)
        lines.append(
            f"{verb}: {len(mine)} interrupts, {len(bad)} that did not end in one line; at most "
            f"{latest:.1f} s until the end"
        )
        lines += map(str, bad)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=4, help="of each verb, the earlier included")
    parser.add_argument("--verbs", nargs="*", default=list(VERBS))
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    record = {"commit": commit(), "trials": []}
    if arguments.out.exists():
        record = json.loads(arguments.out.read_text())
    trials = record["trials"]
    done = {(each["verb"], each["number"]) for each in trials}
    for number in range(0 if arguments.report else arguments.trials):
        for verb in arguments.verbs:
            if (verb, number) not in done:
                trials.append(trial(verb, number))
                write_bytes(arguments.out, (json.dumps(record, indent=1) + "\n").encode())
                print(trials[-1], flush=True)
    print(report(trials))


if __name__ == "__main__":
    main()
