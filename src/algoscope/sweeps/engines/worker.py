"""The process of a worker of `local`: items as lines of JSON come in, outcomes go out.

When nobody is left who would send items, it stops at a checkpoint.
"""

import json
import os
import queue
import signal
import sys
import threading
from typing import TextIO

from algoscope.serialise import to_json
from algoscope.sweeps.engines import attempt, from_text


def _read(stream: TextIO, items: "queue.SimpleQueue[str | None]") -> None:
    for line in stream:
        items.put(line)
    items.put(None)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    # Whatever a library prints goes to the log, not among the outcomes.
    outcomes = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    items: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin, items), daemon=True).start()
    while (line := items.get()) is not None:
        outcome = attempt(from_text(line))
        print(json.dumps(to_json(outcome)), file=outcomes)
    outcomes.flush()
    # Python's own end would wait for threads that compile what nobody needs any more.
    os._exit(0)


if __name__ == "__main__":
    main()
