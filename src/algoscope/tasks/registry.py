"""The tasks by name: every `Task` value that a module of `algorithms` defines."""

import functools
import importlib
import pkgutil

from algoscope.errors import unknown_name
from algoscope.tasks import algorithms
from algoscope.tasks.task import Task


@functools.cache
def _all() -> dict[str, Task]:
    modules = (
        importlib.import_module(f"{algorithms.__name__}.{module.name}")
        for module in pkgutil.iter_modules(algorithms.__path__)
    )
    found = (value for module in modules for value in vars(module).values())
    return {
        task.name: task
        for task in sorted({t for t in found if isinstance(t, Task)}, key=lambda t: t.name)
    }


def names(variants: bool = False) -> list[str]:
    """The names of the thirty tasks of CLRS-30 in alphabetical order, or with their variants."""
    return [name for name, task in _all().items() if variants or task.variant_of is None]


def get(name: str) -> Task:
    """The task of that name."""
    if name not in _all():
        raise ValueError(unknown_name("task", name, _all()))
    return _all()[name]
