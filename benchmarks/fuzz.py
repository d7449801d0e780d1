"""Fuzzing: does anything that comes from outside crash a reader, hang it, or run code?

Cases are mutations of every kind of input, each drawn from its kind and number alone; see
tests/fuzzing. A case is read or refused, or else it is a crash, a hang over 10 s, or code that was
executed. Of the 10 s, those in which other processes had the processor do not count.

    python benchmarks/fuzz.py --cases 1000000       # goes on with benchmarks/fuzz.json
    python benchmarks/fuzz.py --case weights 4711   # one case, with its account
    python benchmarks/fuzz.py --seconds 600         # as many as ten minutes allow
    python benchmarks/fuzz.py --report              # what the file says

Cases run in a process of their own, so that one that ends the process is noticed too.
"""

import argparse
import contextlib
import json
import math
import multiprocessing
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fuzzing.trials import SECONDS, Clock, Kind, Outcome, listen, trial  # noqa: E402

FILE = ROOT / "benchmarks" / "fuzz.json"
_PREPARING = -1
"""The number of no case: seeds are drawn, and what reads them is compiled."""
_CHUNK_SECONDS = 5.0
"""After so long a worker tells what it did."""
_MOST_KEPT = 20
"""Accounts of each kind."""
_MOST_MEMORY = 8 * 2**30
"""What a worker may take; a case that needs more is a crash."""
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where files are written: a disk that others use too would take longer than the readers."""
_BAD = (Outcome.CRASHED, Outcome.HUNG, Outcome.EXECUTED)


def empty_record() -> dict[str, Any]:
    counts = {str(outcome): 0 for outcome in Outcome}
    return {"cases": 0, **counts, "seconds": 0.0, "peak_memory_mb": 0, "accounts": []}


def commit() -> str:
    """Of the code that the first cases of a kind are read by."""
    command = ("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def work(
    kind_name: str, first: int, stop: int, until: float, current: Any, sender: Connection
) -> None:
    """Reads cases of one kind until this moment, and sends counts now and then."""
    from fuzzing.inputs import KINDS

    kind = KINDS[kind_name]
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_IN_MEMORY) as folder:
        scratch = pathlib.Path(folder)
        draw = kind.prepare(scratch)
        for number in range(3):  # What is imported late is imported before anybody listens.
            trial(kind, draw, number)
        listen(scratch)
        record, told = empty_record(), time.monotonic()
        for number in range(first, stop):
            current.value = number
            outcome, account = trial(kind, draw, number)
            record["cases"] += 1
            record[outcome] += 1
            if outcome in _BAD:
                record["accounts"].append({"case": number, "outcome": outcome, "account": account})
            seconds, late = time.monotonic() - told, time.monotonic() > until
            if seconds > _CHUNK_SECONDS or number == stop - 1 or late:
                record["seconds"] = round(seconds, 3)
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                record["peak_memory_mb"] = peak // 1024
                sender.send(record)
                record, told = empty_record(), time.monotonic()
            if late:
                return


def added(record: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    summed = {name: record[name] + more[name] for name in empty_record() if name != "accounts"}
    summed["peak_memory_mb"] = max(record["peak_memory_mb"], more["peak_memory_mb"])
    summed["seconds"] = round(summed["seconds"], 1)
    accounts = (record["accounts"] + more["accounts"])[:_MOST_KEPT]
    return record | summed | {"accounts": accounts}


def fuzz(kind: Kind, cases: int, until: float, results: dict[str, Any], save: Any) -> None:
    """Has a process read the cases that are missing, as far as it comes until this moment; one that
    dies or hangs is a bad case."""
    spawn = multiprocessing.get_context("spawn")
    if kind.name not in results:
        results[kind.name] = {"commit": commit(), **empty_record()}
    while (done := results[kind.name]["cases"]) < cases:
        current = spawn.Value("q", _PREPARING)
        receiver, sender = spawn.Pipe(duplex=False)
        process = spawn.Process(target=work, args=(kind.name, done, cases, until, current, sender))
        process.start()
        sender.close()
        ended = _listened(process, receiver, current, kind, results, save)
        if process.exitcode == 0:
            return
        if results[kind.name]["cases"] < cases:
            at = max(current.value, results[kind.name]["cases"])
            bad = empty_record()
            bad |= {"cases": at + 1 - results[kind.name]["cases"], ended[0]: 1}
            bad["accounts"] = [{"case": at, "outcome": ended[0], "account": ended[1]}]
            results[kind.name] = added(results[kind.name], bad)
            save()


def _listened(
    process: Any, receiver: Connection, current: Any, kind: Kind, results: dict[str, Any], save: Any
) -> tuple[str, str]:
    """Adds what the process tells; returns what to say of its last case if it ended early."""
    before, clock = current.value, Clock(str(process.pid))
    with contextlib.suppress(EOFError):
        while True:
            if receiver.poll(1.0):
                results[kind.name] = added(results[kind.name], receiver.recv())
                save()
                continue
            if current.value != before or before == _PREPARING:
                before, clock = current.value, Clock(str(process.pid))
            if clock.seconds > 3 * SECONDS:
                process.kill()
                return Outcome.HUNG, "was killed: it heard no signal"
    process.join()
    return Outcome.CRASHED, f"the process ended with status {process.exitcode}"


def report(results: dict[str, Any]) -> str:
    total: dict[str, Any] = empty_record()
    lines = []
    for name, record in results.items():
        total = added(total, record)
        lines.append(_line(name, record))
    lines.append(_line("all", total))
    for name, record in results.items():
        for account in record["accounts"]:
            lines.append(f"\n{name} {account['case']}, {account['outcome']}:\n{account['account']}")
    return "\n".join(lines)


def _line(name: str, record: dict[str, Any]) -> str:
    bad = ", ".join(f"{record[outcome]:,} {outcome}" for outcome in _BAD)
    return (
        f"{name:16} {record['cases']:>9,} cases: {record['read']:,} read, {record['refused']:,} "
        f"refused, {bad}; {record['seconds']:,.0f} s, peak {record['peak_memory_mb']:,} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1_000_000, help="in all, the earlier included")
    parser.add_argument("--seconds", type=float, default=math.inf, help="for so long at most")
    parser.add_argument("--kinds", nargs="*", help="these alone")
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    parser.add_argument("--case", nargs=2, metavar=("KIND", "NUMBER"))
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    if arguments.report:
        print(report(results))
        return
    from fuzzing.inputs import KINDS

    if arguments.case:
        kind = KINDS[arguments.case[0]]
        with tempfile.TemporaryDirectory() as folder:
            print(
                *trial(kind, kind.prepare(pathlib.Path(folder)), int(arguments.case[1])), sep="\n"
            )
        return

    def save() -> None:
        text = json.dumps(results, indent=1) + "\n"
        temporary = arguments.out.with_suffix(".unfinished")
        temporary.write_text(text)
        temporary.replace(arguments.out)

    begun, names = time.monotonic(), arguments.kinds or list(KINDS)
    for number, name in enumerate(names):
        # Each kind gets an equal part of what those before it left.
        left = begun + arguments.seconds - time.monotonic()
        until = time.monotonic() + left / (len(names) - number)
        wanted = round(arguments.cases * KINDS[name].share)
        fuzz(KINDS[name], wanted, until, results, save)
        print(_line(name, results[name]), flush=True)
    print(report(results))


if __name__ == "__main__":
    main()
