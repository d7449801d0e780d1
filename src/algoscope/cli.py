"""The command line: a table of verbs, each a typed dataclass whose docstrings are its help.

Everything heavy is imported when a verb runs, so that `algoscope --help` answers at once.
"""

import io
import os
import shutil
import sys
from typing import Any

import tyro

from algoscope import __version__
from algoscope.errors import unknown_name
from algoscope.verbs.completion import Completion
from algoscope.verbs.decompile import Decompile
from algoscope.verbs.demo import Demo
from algoscope.verbs.ending import STATUSES, ended_if_unanswered, explained_end, hear_interrupts
from algoscope.verbs.judge import Falsify, Judge
from algoscope.verbs.llm import Llm
from algoscope.verbs.programs import Compile, Draw, Programs, Verify
from algoscope.verbs.report import Report, Serve
from algoscope.verbs.reproduce import Reproduce
from algoscope.verbs.runs import Runs
from algoscope.verbs.sweep import SWEEP_VERBS, Sweep
from algoscope.verbs.tasks import Sample, Tasks
from algoscope.verbs.train import Train
from algoscope.verbs.transnar import Transnar
from algoscope.verbs.usage import UsageError, parsed

_KINDS = (Tasks, Sample, Programs, Compile, Verify, Draw, Demo, Train, Judge, Falsify)
_KINDS += (Decompile, Report, Serve, Runs, Sweep, Llm, Transnar, Reproduce, Completion)
VERBS = {kind.__name__.lower(): kind for kind in _KINDS}
_ALIASES = {"gap": "judge", "view": "serve"}
_FIRST_VERBS = {"sweep": "run"}
"""What `algoscope sweep FILE` means: the verb within, where none is named."""
_LEAST_COLUMNS = 20
"""In fewer, help is written for ever."""


def main() -> None:
    """The program: `run`, without Python's own end after a signal, which would wait for threads
    that compile, or crash in them."""
    _prepare_streams()
    hear_interrupts()
    with ended_if_unanswered():
        try:
            run()
        except SystemExit as end:
            if isinstance(end.code, int) and end.code in STATUSES:
                os._exit(end.code)
            raise


def _prepare_streams() -> None:
    """Has all three streams be there and take any text, in a terminal of any width."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # A file that is opened later would get its number.
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # Names of files may be no text.
    if shutil.get_terminal_size().columns < _LEAST_COLUMNS:
        os.environ["COLUMNS"] = str(_LEAST_COLUMNS)


def run() -> None:
    """Does what the arguments of the process say; a SystemExit if it cannot."""
    first, *others = sys.argv[1:] or ["--help"]
    with explained_end():
        if first == "--version":
            print(f"algoscope {__version__}")
            return
        verb = parsed(_with_verbs(first, others), _parse)
        if isinstance(verb, Completion):
            verb = _parse(["--tyro-print-completion", verb.shell])  # Prints the script and exits.
        status = verb.main()
        if status:
            sys.exit(status)


def _with_verbs(first: str, others: list[str]) -> list[str]:
    """The arguments by the names that verbs have now."""
    if first not in (*VERBS, *_ALIASES) and not first.startswith("-"):
        raise UsageError(unknown_name("verb", first, VERBS), "algoscope")
    inner = _FIRST_VERBS.get(first)
    if inner and others and others[0] not in (*SWEEP_VERBS, "--help", "-h"):
        others = [inner, *others]
    return [_ALIASES.get(first, first), *others]


def _parse(arguments: list[str]) -> Any:
    return tyro.extras.subcommand_cli_from_dict(
        VERBS,
        prog="algoscope",
        description="Does this model run the algorithm, or a shortcut? (Version: --version.)",
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.PositionalMetavarFromFieldName),
    )
