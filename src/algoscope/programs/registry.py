"""The programs of the library, and those of one's own.

Every program of the library is a file in `library/`: comments that say what it does, `# task: NAME`
and `# role: ROLE` among them, then its text, or in what lines it differs from another (`likeness`).
"""

import functools
import pathlib
import re

from algoscope import tasks
from algoscope.errors import unknown_name
from algoscope.programs.faults import Fault
from algoscope.programs.language import GraphProgram, Role
from algoscope.programs.likeness import changed
from algoscope.programs.parser import ProgramError, parse
from algoscope.tasks import Task

_LIBRARY = pathlib.Path(__file__).parent / "library"
_SUFFIX = ".program"
_PROPERTIES = {
    "task": None,
    "role": [str(role) for role in Role],
    "fully_connected": ["true", "false"],
    "like": None,
    "positions": ["any", "even"],
    "most_nodes": None,
}
"""What the comments at the head of a file can say, with the values that there are."""
_registered: dict[str, GraphProgram] = {}


@functools.cache
def names() -> list[str]:
    """The names of all programs of the library, in alphabetical order."""
    return sorted(path.stem for path in _LIBRARY.glob(f"*{_SUFFIX}"))


def get(program: GraphProgram | str) -> GraphProgram:
    """The program of this name; a program is itself."""
    if isinstance(program, GraphProgram):
        return program
    if program in _registered:
        return _registered[program]
    if program not in names():
        raise ValueError(unknown_name("program", program, [*names(), *_registered]))
    return _read(program)


@functools.cache
def _read(name: str) -> GraphProgram:
    return load(_LIBRARY / f"{name}{_SUFFIX}")


def register(program: GraphProgram) -> GraphProgram:
    """Makes the program and its task known by their names, and the program to `of_task`, for the
    rest of this process: what runs of a task of one's own are compared with. One of that name that
    was registered before gives way; the programs of the library do not."""
    if program.name in names() and _read(program.name) is program:
        return program
    if program.name in names():
        raise ValueError(
            f"name: got {program.name!r}, which is a program of the library, needed a name of its "
            "own"
        )
    tasks.register(program.task)
    _registered[program.name] = program
    return program


def of_task(task: Task | str, role: Role) -> list[GraphProgram]:
    """All programs that have this role for the task, in alphabetical order."""
    task = tasks.get(task)
    likely = [name for name in names() if _stated(name) == (task.name, role)]
    programs = (get(name) for name in sorted([*likely, *_registered]))
    return [program for program in programs if program.task is task and program.role is role]


def tasks_with_references() -> list[str]:
    """The names of all tasks that have an exact program."""
    stated = map(_stated, names())
    return sorted({task for task, role in stated if role is Role.REFERENCE})


@functools.cache
def _stated(name: str) -> tuple[str, Role]:
    """The task's name and the role that the comments of a program of the library state: a hundred
    of them are read in the time in which a few programs are parsed."""
    properties, _ = _properties(_text(_LIBRARY / f"{name}{_SUFFIX}"))
    if "like" in properties:
        base, _ = _properties(_text(_LIBRARY / f"{properties['like']}{_SUFFIX}"))
        properties = base | properties
    return properties["task"], Role(properties.get("role", Role.REFERENCE))


def load(path: pathlib.Path | str) -> GraphProgram:
    """The program in a file: a text that starts with comments as those of the library do."""
    path = pathlib.Path(path)
    text = _text(path)
    properties, faults = _properties(text)
    if "task" not in properties:
        faults.append(Fault(1, 1, "no comment `# task: NAME` before the first line"))
    if "like" in properties and not faults:
        text, properties, faults = _like(path, text, properties)
    if faults:
        raise ProgramError(path.stem, faults)
    return parse(
        path.stem,
        properties["task"],
        text,
        role=Role(properties.get("role", Role.REFERENCE)),
        fully_connected=properties.get("fully_connected") == "true",
    )


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ProgramError(path.stem, [Fault(1, 1, f"not a text in UTF-8 ({error})")]) from None


def _properties(text: str) -> tuple[dict[str, str], list[Fault]]:
    """What the comments at the head say."""
    properties, faults = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#"):
            break
        if stated := re.fullmatch(r"# (\w+): (\S+)", line.rstrip()):
            key, value = stated.groups()
            properties[key] = value
            faults += _faults_of(number, key, value)
    return properties, faults


def _like(
    path: pathlib.Path, text: str, properties: dict[str, str]
) -> tuple[str, dict[str, str], list[Fault]]:
    """The whole text of a program that says in what it differs from another: one beside it, or of
    the library."""
    name = properties["like"]
    files = [folder / f"{name}{_SUFFIX}" for folder in (path.parent, _LIBRARY)]
    base = next((file for file in files if file.is_file()), None)
    if base is None or not name.isidentifier():
        return text, properties, [Fault(1, 1, unknown_name("program", name, names()))]
    base_text = _text(base)
    of_base, faults = _properties(base_text)
    if "like" in of_base:
        faults.append(
            Fault(1, 1, f"like: got {name}, which is like another itself, needed the other")
        )
    if of_base.get("task") != properties["task"]:
        got = f"{properties['task']}, and like: {name}, a program of {of_base.get('task')}"
        faults.append(Fault(1, 1, f"task: got {got}, needed one task"))
    kept = {key: value for key, value in of_base.items() if key not in properties}
    stated = "".join(f"\n# {key}: {value}" for key, value in kept.items())
    whole, more = changed(text + stated, base_text)
    return whole, kept | properties, faults + more


def _faults_of(line: int, key: str, value: str) -> list[Fault]:
    if key not in _PROPERTIES:
        return [Fault(line, 3, unknown_name("property of a program", key, _PROPERTIES))]
    values = _PROPERTIES[key]
    if values and value not in values:
        return [Fault(line, len(key) + 5, unknown_name(key, value, values))]
    if key == "most_nodes" and not re.fullmatch("[1-9][0-9]{0,6}", value):
        return [Fault(line, len(key) + 5, f"{key}: got {value}, needed a number of nodes")]
    return []
