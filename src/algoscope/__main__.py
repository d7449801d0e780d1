"""The program `algoscope`, also as `python -m algoscope`: the command line, whose import takes long
enough for somebody to press Ctrl-C, or for a queue to end it."""

import os
import signal
import sys
from types import FrameType

_WORDS = {signal.SIGTERM: "terminated", signal.SIGHUP: "the terminal is gone"}


def main() -> None:
    unheard = [number for number in _WORDS if signal.getsignal(number) is signal.SIG_DFL]
    for number in unheard:
        signal.signal(number, _end)
    try:
        from algoscope import cli
    except KeyboardInterrupt:
        _end(signal.SIGINT, None)
        raise
    for number in unheard:
        signal.signal(number, signal.SIG_DFL)
    cli.main()


def _end(number: int, _frame: FrameType | None) -> None:
    word = _WORDS.get(signal.Signals(number), "interrupted")
    print(f"{word}; nothing was begun", file=sys.stderr, flush=True)
    os._exit(128 + number)


if __name__ == "__main__":
    main()
