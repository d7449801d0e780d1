"""Graph programs: write an algorithm, interpret it, and compile it into the weights of a network.

from algoscope import programs, tasks
from algoscope.programs.verification import verify

verify(programs.get("bfs"), tasks.sample("bfs")).network.exact_traces
"""

import enum
import functools
import importlib
import pkgutil
from types import ModuleType

from algoscope.errors import unknown_name
from algoscope.programs import library
from algoscope.programs.language import GraphProgram

__all__ = ["GraphProgram", "Role", "get", "names", "of_task"]


class Role(enum.StrEnum):
    """What a program of the library is to its task; the module it stands in decides."""

    REFERENCE = "reference"
    """The algorithm, exactly: what networks are compared with."""
    VARIANT = "variant"
    """The algorithm, exactly, in an unusual form; held back from the references."""
    WRONG = "wrong"
    """Another algorithm, known to be another."""


_ROLES = {"variants": Role.VARIANT, "wrong": Role.WRONG, "shortcuts": Role.WRONG}
"""By module; programs of all others are references."""


@functools.cache
def _all() -> dict[str, GraphProgram]:
    """Every program that stands at the top of a module of the library, by name."""
    found = [value for module in _modules() for value in vars(module).values()]
    programs = [value for value in found if isinstance(value, GraphProgram)]
    return {program.name: program for program in sorted(programs, key=lambda p: p.name)}


def _modules() -> list[ModuleType]:
    inside = pkgutil.iter_modules(getattr(library, "__path__", []))
    return [library, *(importlib.import_module(f"{library.__name__}.{m.name}") for m in inside)]


def names() -> list[str]:
    """The names of all programs of the library, in alphabetical order."""
    return list(_all())


def get(name: str) -> GraphProgram:
    """The program of that name."""
    if name not in _all():
        raise ValueError(unknown_name("program", name, _all()))
    return _all()[name]


def of_task(task: str, role: Role) -> list[GraphProgram]:
    """All programs of the library that have this role for the task, in alphabetical order."""
    modules = [module for module in _modules() if _role(module) is role]
    here = {id(value) for module in modules for value in vars(module).values()}
    return [program for program in _all().values() if program.task == task and id(program) in here]


def _role(module: ModuleType) -> Role:
    return _ROLES.get(module.__name__.rpartition(".")[2], Role.REFERENCE)
