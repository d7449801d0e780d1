"""The tasks by name: every `Task` value that a module of `algorithms` defines, and users' own."""

import copyreg
import functools
import hashlib
import importlib
import pkgutil

from algoscope.errors import unknown_name
from algoscope.tasks import algorithms
from algoscope.tasks.task import Task

_registered: dict[str, Task] = {}


@functools.cache
def _built_in() -> dict[str, Task]:
    modules = (
        importlib.import_module(f"{algorithms.__name__}.{module.name}")
        for module in pkgutil.iter_modules(algorithms.__path__)
    )
    values = (value for module in modules for value in vars(module).values())
    tasks = {value for value in values if isinstance(value, Task)}
    return {task.name: task for task in sorted(tasks, key=lambda task: task.name)}


def names(variants: bool = False) -> list[str]:
    """The names of the thirty tasks of CLRS-30 in alphabetical order, or with their variants."""
    return [name for name, task in _built_in().items() if variants or task.variant_of is None]


def get(task: Task | str) -> Task:
    """The task of that name; a Task is itself."""
    if isinstance(task, Task):
        return task
    known = _registered | _built_in()
    if task not in known:
        raise ValueError(
            f"{unknown_name('task', task, known)} (a task of your own: give the file that defines "
            "it, --task FILE.py, or in Python call tasks.register(task) first)"
        )
    return known[task]


def register(task: Task) -> Task:
    """Makes the task known by its name for the rest of this process.

    Run folders and files of weights name their tasks. One of the same name that was registered
    before gives way; the tasks of CLRS-30 and their variants do not.
    """
    if _built_in().get(task.name, task) is not task:
        raise ValueError(
            f"name: got {task.name!r}, which is a task of CLRS-30, needed a name of its own"
        )
    if task.name not in _built_in():
        _registered[task.name] = task
    return task


def seed_word(task: Task | str) -> int:
    """A number that tells the random streams of tasks apart: the place among the thirty, or a
    digest of the name."""
    name = get(task).name
    if name in names():
        return names().index(name)
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


# Tasks hold functions: between processes they travel by name.
copyreg.pickle(Task, lambda task: (get, (task.name,)))
