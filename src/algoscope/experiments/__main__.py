"""`python -m algoscope.experiments NAME`: for machines that only compute (no tyro, no DuckDB).

With `--seconds` it stops by itself, safely, and the same command goes on where it was. Several of
them, each with its own folder, can share a GPU: none takes more of its memory than it needs.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import threading
import time
from typing import Any

from algoscope import experiments
from algoscope.experiments.experiment import PRESETS
from algoscope.files import write_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=experiments.names())
    parser.add_argument("--preset", choices=PRESETS, default="smoke")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, help="stop after so long, to be gone on with")
    parser.add_argument("--results", type=pathlib.Path, help="also write the numbers to this file")
    given = parser.parse_args()
    begun = time.monotonic()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    from algoscope.runs.environment import keep_compiled_programs
    from algoscope.training import Stopped

    keep_compiled_programs()

    def say(text: str) -> None:
        print(f"{time.monotonic() - begun:7.1f} s  {text}", flush=True)

    # Where nothing is trained, too, so that processes beside this one are told.
    before = signal.signal(signal.SIGTERM, _stop)
    if given.seconds:
        timer = threading.Timer(given.seconds, os.kill, (os.getpid(), signal.SIGTERM))
        timer.daemon = True
        timer.start()
    try:
        result = experiments.get(given.name).run(given.preset, given.out, say)
    except Stopped:
        say("stopped; what was done is safe, and the same command goes on")
        raise SystemExit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    for table in result.tables:
        print(f"\n{table}")
    for claim in result.claims:
        print(f"\n{claim}")
    if given.results:
        write_bytes(given.results, json.dumps(result.numbers, indent=1).encode())


def _stop(_number: int, _frame: Any) -> None:
    from algoscope.training import Stopped

    raise Stopped


if __name__ == "__main__":
    sys.exit(main())
