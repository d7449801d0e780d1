"""What a judgement rests on besides a network and its problems: the code that judges, the task, and
the exact programs of the task. Another version of any of them may judge otherwise."""

import functools
import hashlib
import inspect
import pathlib

from algoscope import programs, tasks
from algoscope.programs import Role
from algoscope.tasks.compilation import in_python

_PACKAGE = pathlib.Path(__file__).parents[1]
_JUDGING = (
    "falsify", "measures", "networks", "programs", "recording.py", "regression.py", "statistics.py",
    "tasks", "verdict.py",
)  # fmt: skip
_SOURCES = (".py", ".program")


def basis(task: str) -> str:
    """Its SHA-256 digest; the same on all machines."""
    digest = hashlib.sha256(_code().encode())
    digest.update(_source_of(tasks.get(task).algorithm))
    for program in programs.of_task(task, Role.REFERENCE):
        digest.update(f"{program.name}\n{program.text}\n".encode())
    return digest.hexdigest()


@functools.cache
def _code() -> str:
    digest = hashlib.sha256()
    for part in _JUDGING:
        place = _PACKAGE / part
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in _SOURCES:
                digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _source_of(algorithm: object) -> bytes:
    """The file that an algorithm is defined in, or where there is none, as in a notebook, its
    instructions."""
    code = getattr(inspect.unwrap(in_python(algorithm)), "__code__", None)  # type: ignore[arg-type]
    if code is None:
        return b""
    path = pathlib.Path(code.co_filename)
    return path.read_bytes() if path.is_file() else code.co_code
