"""Tasks and programs as users name them: by name, or by the file that defines them.

    bfs    FILE.py    FILE.py:NAME    FILE.program

A Python file is run only because somebody named it on the command line, never because a run folder
or a file of weights did. Whatever tasks and programs it defines are then known by their names.
"""

import functools
import os
import pathlib
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from algoscope.errors import unknown_name
from algoscope.verbs.packages import advice

if TYPE_CHECKING:
    from algoscope.programs import GraphProgram
    from algoscope.tasks import Task

T = TypeVar("T")
_MOST_CHARACTERS = 300
"""Of what a user's own error says."""


def find_task(text: str) -> "Task":
    """The task of that name, or the one that the file defines."""
    from algoscope import tasks

    return _find("task", text, tasks.get)


def find_program(text: str) -> "GraphProgram":
    """The program of that name, or the one that the file holds."""
    from algoscope import programs

    return _find("program", text, programs.get)


def run_file(path: pathlib.Path) -> dict[str, Any]:
    """What a Python file defines, by name. As with `python FILE`, it can import what lies beside
    it."""
    import runpy

    _run.add(str(path))
    folder = os.path.dirname(os.path.realpath(path))
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        return runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise ValueError(f"{_place(path, error)}: {_told(error)}") from error


_run: set[str] = set()
"""Files of users that were run."""


def explained_by_users_file(error: BaseException) -> str | None:
    """Where a user's function failed, and how; None if none did."""
    files = {frame.filename for frame in traceback.extract_tb(error.__traceback__)} & _run
    return next((f"{_place(pathlib.Path(file), error)}: {_told(error)}" for file in files), None)


def is_raised_by_users_file(error: BaseException) -> bool:
    return traceback.extract_tb(error.__traceback__)[-1].filename in _run


def _told(error: BaseException) -> str:
    """In one line, with what to do where a package is missing, or another than was meant."""
    first, *others = str(error).strip().splitlines() or [""]
    text = type(error).__name__ + (f": {first[:_MOST_CHARACTERS]}" if first else "")
    if others or len(first) > _MOST_CHARACTERS:
        text += " …"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{text}; {advice(error.name)}"
    if isinstance(error, ImportError):
        return f"{text}; correct the name, or install a version of the package that has it"
    return text


def _place(path: pathlib.Path, error: BaseException) -> str:
    """The file, with the line of it that failed."""
    if isinstance(error, SyntaxError):
        return f"{path}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"{path}, line {lines[-1]}" if lines else str(path)


def _find(kind: str, text: str, get: Callable[[str], T]) -> T:
    file, _, name = text.partition(":")
    path = pathlib.Path(os.path.realpath(file))  # `resolve` fails at links that go round.
    if not path.suffix:
        return get(text)
    if not path.is_file():
        raise ValueError(f"{path}: got no such file, needed one that defines a {kind}")
    known = _definitions(path)[kind]
    if not known:
        raise ValueError(
            f"{path}: got a file without a {kind}, needed one; examples/own_algorithm.py has both "
            "a task and a program"
        )
    if name and name not in known:
        raise ValueError(f"{path}: {unknown_name(kind, name, known)}")
    if not name and len(known) > 1:
        choices = " or ".join(f"{path.name}:{each}" for each in known)
        raise ValueError(f"{path}: got {len(known)} of them, needed one {kind}: give {choices}")
    return known[name or next(iter(known))]


@functools.cache
def _definitions(path: pathlib.Path) -> dict[str, dict[str, Any]]:
    """Runs or reads the file, and registers what it defines: by kind, then by name."""
    from algoscope import programs, tasks

    values = run_file(path).values() if path.suffix == ".py" else [programs.load(path)]
    made = [value for value in values if isinstance(value, programs.GraphProgram)]
    owned = [value for value in values if isinstance(value, tasks.Task)]
    for program in made:
        programs.register(program)
    for task in owned:
        tasks.register(task)
    return {
        "task": {task.name: task for task in (*owned, *(program.task for program in made))},
        "program": {program.name: program for program in made},
    }
