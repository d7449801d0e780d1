"""The program `algoscope`, also as `python -m algoscope`: the command line, whose import takes long
enough for somebody to press Ctrl-C."""

import os
import sys

_INTERRUPTED = 130


def main() -> None:
    try:
        from algoscope import cli
    except KeyboardInterrupt:
        print("interrupted; nothing was begun", file=sys.stderr, flush=True)
        os._exit(_INTERRUPTED)
    cli.main()


if __name__ == "__main__":
    main()
