"""Tasks and programs as users name them: by name, or by the file that defines them.

    bfs    FILE.py    FILE.py:NAME    FILE.program

A Python file is run only because somebody named it on the command line, never because a run folder
or a file of weights did. Whatever tasks and programs it defines are then known by their names.
"""

import functools
import pathlib
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from algoscope.programs import GraphProgram
    from algoscope.tasks import Task

T = TypeVar("T")


def find_task(text: str) -> "Task":
    """The task of that name, or the one that the file defines."""
    from algoscope import tasks

    path, name = _split(text)
    if path is None:
        return tasks.get(text)
    return _choose("task", path, name, _definitions(path).tasks)


def find_program(text: str) -> "GraphProgram":
    """The program of that name, or the one that the file holds."""
    from algoscope import programs

    path, name = _split(text)
    if path is None:
        return programs.get(text)
    return _choose("program", path, name, _definitions(path).programs)


class _Definitions(NamedTuple):
    tasks: "dict[str, Task]"
    programs: "dict[str, GraphProgram]"


def _split(text: str) -> tuple[pathlib.Path | None, str]:
    """The file and the name in it; no file, where the text is a name alone."""
    path, _, name = text.partition(":")
    if pathlib.Path(path).suffix:
        return pathlib.Path(path).resolve(), name
    return None, text


@functools.cache
def _definitions(path: pathlib.Path) -> _Definitions:
    """Runs or reads the file, and registers what it defines."""
    import runpy

    from algoscope import programs, tasks

    runs = path.suffix == ".py"
    values = list(runpy.run_path(str(path)).values()) if runs else [programs.load(path)]
    made = [value for value in values if isinstance(value, programs.GraphProgram)]
    owned = [value for value in values if isinstance(value, tasks.Task)]
    for program in made:
        programs.register(program)
    for task in owned:
        tasks.register(task)
    every = {task.name: task for task in (*owned, *(program.task for program in made))}
    return _Definitions(every, {program.name: program for program in made})


def _choose(kind: str, path: pathlib.Path, name: str, known: dict[str, T]) -> T:
    if not known:
        raise ValueError(
            f"{path}: got a file without a {kind}, needed one; examples/own_algorithm.py has both "
            "a task and a program"
        )
    if name and name not in known:
        from algoscope.errors import unknown_name

        raise ValueError(f"{path}: {unknown_name(kind, name, known)}")
    if not name and len(known) > 1:
        choices = " or ".join(f"{path.name}:{each}" for each in known)
        raise ValueError(f"{path}: got {len(known)} of them, needed one {kind}: give {choices}")
    return known[name] if name else next(iter(known.values()))
